package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Breached journals an answer that breaks a rule and was not booked, and saves it for the next run.
func (j *botJournal) Breached(at market.Time, b *live.Breach, all []live.Breach) {
	if all == nil {
		return // a repeated breach
	}
	j.batch.Journal(at, &journal.Difference{Discrepancy: state.Discrepancy{What: "answer: " + b.Rule, Ours: b.Wanted,
		Theirs: b.Seen, Conclusion: "not booked", Order: b.Order}})
	text, err := statedir.AppendBreaches(nil, all)
	if err == nil { // names and numbers
		j.batch.Blob(statedir.BreachesBlob, text)
	}
}

// ChangedByOthers saves the orders that someone else has changed, for the next run.
func (j *botJournal) ChangedByOthers(orders map[market.OrderID]string) {
	if text, err := statedir.AppendChanged(nil, orders); err == nil { // numbers and words
		j.batch.Blob(statedir.ChangedBlob, text)
	}
}

// Breached counts an answer that was not booked, and raises an alert for its first occurrence.
func (f *watchedLog) Breached(at market.Time, b *live.Breach, all []live.Breach) {
	f.ReconcileLog.Breached(at, b, all)
	f.watch.count("invalid_answers_total", 1, b.Rule)
	if all != nil {
		f.watch.raise(alert.Difference, "order %d: an answer of the exchange cannot be true: %s: want %s, got %s",
			b.Order, b.Rule, b.Wanted, b.Seen)
	}
}

// maxFillAge is how far back the loop knows the ids of booked fills.
const maxFillAge = 7 * 24 * time.Hour

// configureAudit sets the loop's references for checking answers: earlier breaches, fees, booked
// fills and orders.
func (r *runner) configureAudit(ctx context.Context, c *live.Config) (err error) {
	if c.Breaches, err = statedir.ReadBreaches(r.store); err != nil {
		return err
	}
	if c.ChangedByOthers, err = statedir.ReadChanged(r.store); err != nil {
		return err
	}
	fees := r.highestFees(ctx)
	c.Fees = func(m *market.Market) exchange.Fees { return fees[m.ID] }
	var booked []market.Fill
	now := r.trading.Now()
	err = r.store.Fills(now.Add(-maxFillAge), now.Add(time.Hour), func(f *journal.FillRow) error {
		booked = append(booked, f.Fill)
		return nil
	})
	if err != nil {
		return err
	}
	c.BookedFills = func(visit func(*market.Fill)) {
		for i := range booked {
			visit(&booked[i])
		}
	}
	c.FillsOf, c.OrderOf, c.Asked = r.fillsOf, r.orderOf, r.changed
	return nil
}

func (r *runner) fillsOf(id market.OrderID) (fills []market.Fill) {
	rows, err := r.store.FillsOf(id)
	if err != nil {
		r.log.Warn().Err(err).Int64("order", int64(id)).Msg("the fills of an order in the state file")
	}
	for i := range rows {
		fills = append(fills, rows[i].Fill)
	}
	return fills
}

// orderOf is the number of the own order with an exchange id in a market; 0: there is none.
func (r *runner) orderOf(m market.ID, name uuid.UUID) market.OrderID {
	row, err := r.store.FindOrder(name.String())
	if err != nil || row.Market != m || row.ExchangeID != name {
		return 0
	}
	return row.ID
}

// changed is an order as it is after the update that was in flight when the last process died, from
// the journal.
func (r *runner) changed(id market.OrderID) (order market.Order, known bool) {
	story, err := r.store.Story(id)
	if err != nil {
		return order, false
	}
	for _, e := range slices.Backward(story) {
		if intent, is := e.Record.(*journal.Intent); is && intent.Command.Kind == market.CommandUpdate {
			return intent.Command.Order, true
		}
	}
	return order, false
}

// The bounds of believable fees: rates beyond them are clamped.
const (
	maxFee      = market.Rate(2_000_000) // 2 %
	minFee      = market.Rate(-500_000)
	feesTimeout = 5 * time.Second
)

// highestFees are the highest rates that the account can be charged, by market: of the config, of
// the exchange's highest tier (venue-facts 3.5), and of the exchange's answers within maxFee.
func (r *runner) highestFees(ctx context.Context) []exchange.Fees {
	fees := make([]exchange.Fees, len(r.plan.Catalog.Markets())+1)
	ctx, cancel := context.WithTimeout(ctx, feesTimeout)
	defer cancel()
	var queried exchange.Fees
	var failed error
	for i := range r.plan.Strategies {
		for _, m := range r.plan.Strategies[i].Markets {
			if r.paper != nil || failed != nil {
				break
			}
			one, err := r.accountFees(ctx, m)
			failed = errors.Join(failed, err)
			queried = exchange.Fees{Maker: max(queried.Maker, one.Maker), Taker: max(queried.Taker, one.Taker)}
			fees[m.ID] = one
		}
	}
	if failed != nil {
		r.log.Warn().Err(failed).
			Msg("the exchange does not tell its fees: fills are held against those of the config and of its highest " +
				"tier")
	}
	for _, m := range r.plan.Catalog.Markets() {
		own := r.plan.FeesOf(m)
		top := max(live.HighestFees.Taker, own.Maker, own.Taker, queried.Maker, queried.Taker)
		low := min(0, own.Maker, fees[m.ID].Maker)
		fees[m.ID] = exchange.Fees{Maker: low, Taker: top}
	}
	return fees
}

// accountFees are the account's rates in a market by the exchange, clamped to minFee … maxFee.
func (r *runner) accountFees(ctx context.Context, m *market.Market) (fees exchange.Fees, err error) {
	rates, err := r.client.Fees(ctx, m.Name, "")
	if err != nil {
		return fees, err
	}
	for _, queried := range [...]struct {
		text rest.Number
		into *market.Rate
	}{{rates.Maker, &fees.Maker}, {rates.Taker, &fees.Taker}} {
		n, err := market.ParseFixed(string(queried.text), market.RateDigits)
		if err != nil {
			return fees, fmt.Errorf("fees of %s: %w", m.Name, err)
		}
		*queried.into = min(max(market.Rate(n), minFee), maxFee)
	}
	return fees, nil
}
