package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// orderRetention is how long an exchange surely keeps an order that has ended.
const orderRetention = 30 * 24 * time.Hour

// checkAccount refuses a state file of another exchange or, as far as the key shows, of another
// account: the exchange would know none of its orders, and its positions would belong to that
// account.
func (r *runner) checkAccount(ctx context.Context, began bool) error {
	if !began {
		return nil
	}
	before, err := statedir.OtherExchange(r.store, r.plan.Config.Exchange.Origin(), r.plan.Config.Exchange.MovedFrom)
	if err != nil {
		return err
	}
	if before != "" {
		return r.plan.Config.Source.Place(config.Keyf([]string{"exchange", "base_url"},
			"is at %s, and the orders and money in %s are at %s; name another bot.state or, where the "+
				"exchange has moved, the old address in exchange.moved_from",
			r.plan.Config.Exchange.Origin(), r.plan.Config.Bot.State, before))
	}
	other, err := statedir.KeyChanged(r.store, r.plan.Key)
	switch {
	case err != nil:
		return err
	case other:
		return r.checkKey(ctx)
	}
	return r.checkLastOrder(ctx)
}

// checkLastOrder warns of an exchange that has begun anew, as bot exchange without --state does at
// each start: it knows nothing of the run. In mode sandbox the bot does not start. The reconcile
// settles everything else about orders.
func (r *runner) checkLastOrder(ctx context.Context) error {
	last, err := r.lastTaken()
	if err != nil || last == nil {
		return err
	}
	if r.knows(ctx, last, last.State.Terminal()) {
		return nil
	}
	if r.plan.Config.Bot.Mode == config.ModeSandbox {
		return r.plan.Config.Source.Place(config.Keyf([]string{"bot", "state"}, "the exchange has begun anew: "+
			"it does not know the last order that it took; begin anew too: remove the folder %s (bot exchange "+
			"--state FILE keeps an exchange over restarts)", r.plan.Config.Bot.State))
	}
	r.log.Warn().Stringer("order", last.ClientOrderID).
		Msgf("the exchange has begun anew: it does not know the last order that it took; stop the bot and begin "+
			"anew too: remove the state folder %s, or name another by bot.state", r.plan.Config.Bot.State)
	return nil
}

// knows reports whether the exchange may know something of the run: the latest order that it took,
// or one of the latest trades, or its balances. It forgets orders that have ended: untraded is the
// answer for a run of which nothing has filled.
func (r *runner) knows(ctx context.Context, last *journal.OrderRow, untraded bool) bool {
	_, err := r.client.Order(ctx, last.Market, last.ClientOrderID, last.ExchangeID)
	if !errors.Is(err, exchange.ErrCode(exchange.CodeNotFound)) {
		return true
	}
	fills, err := r.latestFills()
	if err != nil || len(fills) == 0 {
		return err != nil || untraded
	}
	for i := range fills {
		f := &fills[i]
		trades, _, err := r.client.Trades(ctx, f.Market, f.Time)
		if err != nil || slices.ContainsFunc(trades, func(t exchange.Trade) bool { return t.ID == f.ID }) {
			return true
		}
	}
	return r.balancesFit(ctx)
}

// balancesFit reports whether the balances of a run that has traded are, to the unit, what the
// books have and what was beyond them at the last comparison: another exchange or account has
// others.
func (r *runner) balancesFit(ctx context.Context) bool {
	parts, _, err := statedir.Parts(r.store)
	if err != nil {
		return false
	}
	books, err := state.SavedTotals(r.plan.Catalog, parts[engine.PartAccount])
	if err != nil {
		return false
	}
	beyond, err := statedir.ReadCheckpoints(r.store)
	if err != nil {
		return false
	}
	held, err := r.client.Holdings(ctx)
	if err != nil {
		return true // nothing is known
	}
	there := map[market.AssetID]market.Money{}
	for _, h := range held {
		there[h.Asset] = h.Available + h.Orders
	}
	for _, asset := range r.plan.Catalog.Assets() {
		if there[asset.ID] != books[asset.ID]+beyond[asset.Symbol].Surplus {
			return false
		}
	}
	return true
}

// latestFills are the latest fills at the exchange in the traded markets, one of each.
func (r *runner) latestFills() (fills []journal.FillRow, err error) {
	traded, left := r.tradedMarkets(), maxReportsBack
	err = r.store.FillsBack(func(f *journal.FillRow) bool {
		if traded[f.Market] {
			fills = append(fills, *f)
			delete(traded, f.Market)
		}
		left--
		return left > 0 && len(traded) > 0
	})
	return fills, err
}

// tradedMarkets are the markets of the strategies: the client knows no others.
func (r *runner) tradedMarkets() map[market.ID]bool {
	traded := map[market.ID]bool{}
	for i := range r.plan.Strategies {
		for _, m := range r.plan.Strategies[i].Markets {
			traded[m.ID] = true
		}
	}
	return traded
}

// errFound ends a walk that has found its entry.
var errFound = errors.New("found")

// lastTaken is the latest order in these markets that the exchange has accepted; nil: there is
// none.
func (r *runner) lastTaken() (last *journal.OrderRow, err error) {
	traded := r.tradedMarkets()
	var ids []market.OrderID // the latest first
	err = r.store.EntriesBack(0, func(e *journal.Entry) error {
		if ids = append(ids, e.Record.(*journal.ReportEntry).Order); len(ids) == maxReportsBack {
			return errFound
		}
		return nil
	}, journal.EntryReport)
	if err != nil && !errors.Is(err, errFound) {
		return nil, err
	}
	for _, id := range slices.Compact(ids) {
		// an order that was compacted away has no row
		row, err := r.store.Order(id)
		taken := row.Reported && row.State != state.Rejected && row.ExchangeID != uuid.Nil
		if err == nil && traded[row.Market] && taken {
			return &row, nil
		}
	}
	return nil, nil
}

// maxReportsBack is how many reports are searched for the latest order of a market that is still
// traded.
const maxReportsBack = 1000

// checkKey asks with a new key for the latest order that the exchange accepted.
func (r *runner) checkKey(ctx context.Context) error {
	r.log.Warn().Msg("the key is another than in the last run: it has to be of the same account")
	last, err := r.lastTaken()
	if err != nil || last == nil {
		return err
	}
	err = live.RetryUntilReached(ctx, r.log, func() error {
		_, err := r.client.Order(ctx, last.Market, last.ClientOrderID, last.ExchangeID)
		return err
	})
	if !errors.Is(err, exchange.ErrCode(exchange.CodeNotFound)) ||
		r.knows(ctx, last, last.Done() && r.client.Now().Sub(last.Updated) > orderRetention) {
		return nil // what else is wrong with the key will show
	}
	return r.plan.Config.Source.Place(config.Keyf([]string{"exchange", "key"},
		"is another than in the last run, and the exchange knows nothing of order %s by it: it is of "+
			"another account; name another bot.state", last.ClientOrderID))
}
