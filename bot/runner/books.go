package runner

import (
	"context"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// trades answers `bot trades`. Questions of the books are read transactions of the goroutine that
// answers. The loop takes no part in them but for a look at the present.
func (c *control) trades(_ context.Context, ask *operator.Request) (any, error) {
	q, err := queryOf(ask)
	if err != nil {
		return nil, err
	}
	return profit.Trades(c.r.store, q, c.r.trading.Now())
}

// profit answers `bot profit`.
func (c *control) profit(ctx context.Context, ask *operator.Request) (any, error) {
	q, err := queryOf(ask)
	if err != nil {
		return nil, err
	}
	return c.present(ctx).profit(q, c.r.trading.Now())
}

// equity answers `bot equity`.
func (c *control) equity(ctx context.Context, ask *operator.Request) (any, error) {
	q, err := queryOf(ask)
	if err != nil {
		return nil, err
	}
	return profit.Equity(c.present(ctx), q, c.r.trading.Now())
}

// present is the state file of a running bot with the present behind it: a sample of each curve and
// the latest prices. Without these it is the state file alone, which is up to a minute old.
type present struct {
	*journal.Store
	samples []journal.EquitySample
	prices  map[market.ID]market.Price
}

// presentWithin is how long a question of the books waits for the loop.
const presentWithin = 250 * time.Millisecond

// present looks at the loop. A loop that does not answer, as while it reconciles or a strategy
// blocks it, has no present.
func (c *control) present(ctx context.Context) *present {
	ctx, cancel := context.WithTimeout(ctx, presentWithin)
	defer cancel()
	var p present
	var failed error
	err := c.query(ctx, func(at market.Time) {
		p.prices = c.prices()
		p.samples, failed = c.r.journal.curves(at)
	})
	if err != nil || failed != nil {
		return &present{Store: c.r.store} // p may still be written
	}
	p.Store = c.r.store
	return &p
}

// Equity adds the present to the samples of a curve.
func (p *present) Equity(strategy string, from, to market.Time) ([]journal.EquitySample, error) {
	list, err := p.Store.Equity(strategy, from, to)
	for i := range p.samples {
		s := &p.samples[i]
		newer := len(list) == 0 || list[len(list)-1].At < s.At
		if s.Strategy == strategy && s.At >= from && (to == 0 || s.At < to) && newer {
			list = append(list, *s)
		}
	}
	return list, err
}

func (p *present) profit(q *profit.Query, now market.Time) (*profit.ProfitReport, error) {
	if p.prices == nil {
		return operator.ProfitOf(p.Store, q, now)
	}
	return profit.Profit(p, q, func(id market.ID) market.Price { return p.prices[id] }, now)
}

// queryOf is the query of a request, checked.
func queryOf(ask *operator.Request) (*profit.Query, error) {
	q := ask.Books
	if q == nil {
		q = &profit.Query{}
	}
	if err := q.Check(); err != nil {
		return nil, config.Usagef("%w", err)
	}
	return q, nil
}

// curves are the curves' samples of now: the account's equity, and what each strategy has earned.
func (j *botJournal) curves(at market.Time) ([]journal.EquitySample, error) {
	equity, err := j.account.Equity(j.plan.Currency.ID)
	if err != nil {
		return nil, err
	}
	exposure, err := j.account.Exposure(j.plan.Currency.ID)
	if err != nil {
		return nil, err
	}
	samples := []journal.EquitySample{{At: at, Equity: equity, Low: equity, High: equity, Exposure: exposure}}
	for i, name := range j.names {
		earned, err := j.account.Profit(strategyID(i+1), j.plan.Currency.ID)
		if err != nil {
			return nil, err
		}
		samples = append(samples, journal.EquitySample{Strategy: name, At: at, Equity: earned, Low: earned,
			High: earned})
	}
	return samples, nil
}

// saveCurves adds samples to the curves, for a strategy where it has changed.
func (j *botJournal) saveCurves(at market.Time) error {
	samples, err := j.curves(at)
	if err != nil {
		return err
	}
	for _, s := range samples {
		if s.Strategy != "" {
			if last, saved := j.earned[s.Strategy]; saved && last == s.Equity {
				continue
			}
			if j.earned == nil {
				j.earned = map[string]market.Money{}
			}
			j.earned[s.Strategy] = s.Equity
		}
		j.batch.Equity(s)
	}
	return nil
}

// transfer journals a transfer with what it was worth when it was booked.
func (j *botJournal) transfer(ev *market.Event) {
	worth := journal.Worth{Known: true, Value: ev.Money}
	equity, err := j.account.Equity(j.plan.Currency.ID)
	if worth.Equity = equity; err == nil && ev.Asset != j.plan.Currency.ID {
		worth.Value, err = j.valueOf(ev)
	}
	if err != nil {
		worth = journal.Worth{}
	}
	j.batch.Transfer(ev, worth)
}

// valueOf is what an asset that came or left is worth in the account's currency: 0 for one without
// a market or a price, as in the equity.
func (j *botJournal) valueOf(ev *market.Event) (value market.Money, err error) {
	for _, m := range j.account.Catalog().Markets() {
		if m.Base != ev.Asset || m.Quote != j.plan.Currency.ID {
			continue
		}
		part, err := m.Notional(j.account.Last(m.ID), market.Qty(max(ev.Money, -ev.Money)))
		if err != nil {
			return 0, err
		}
		value += part
	}
	if ev.Money < 0 {
		value = -value
	}
	return value, nil
}

// entries answers `bot journal`. It is a read transaction of the goroutine that answers: the loop
// takes no part in it.
func (c *control) entries(_ context.Context, ask *operator.Request) (any, error) {
	q := ask.Journal
	if q == nil {
		q = &operator.JournalQuery{}
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	return operator.JournalOf(c.r.store, q, c.r.trading.Now())
}

// system answers the question for the bot's files. The loop takes no part in it.
func (c *control) system(context.Context, *operator.Request) (any, error) {
	s, err := operator.SystemOf(c.r.store)
	if err != nil {
		return nil, err
	}
	s.AddLog(c.r.config().Bot.LogFile)
	return s, nil
}
