package runner

import (
	"context"

	"github.com/tidemark-trading/tidemark/bot/books"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// trades answers `bot trades`. Questions of the books are read transactions of the goroutine that
// answers: the loop takes no part in them.
func (c *control) trades(_ context.Context, ask *operator.Request) (any, error) {
	q, err := queryOf(ask)
	if err != nil {
		return nil, err
	}
	list, err := books.Trades(c.r.store, q, c.r.trading.Now())
	if err != nil {
		return nil, err
	}
	list.Running = true
	return list, nil
}

// profit answers `bot profit`.
func (c *control) profit(_ context.Context, ask *operator.Request) (any, error) {
	q, err := queryOf(ask)
	if err != nil {
		return nil, err
	}
	report, err := operator.ProfitOf(c.r.store, q, c.r.trading.Now())
	if err != nil {
		return nil, err
	}
	report.Running = true
	return report, nil
}

// equity answers `bot equity`.
func (c *control) equity(_ context.Context, ask *operator.Request) (any, error) {
	q, err := queryOf(ask)
	if err != nil {
		return nil, err
	}
	curve, err := books.Equity(c.r.store, q, c.r.trading.Now())
	if err != nil {
		return nil, err
	}
	curve.Running = true
	return curve, nil
}

// queryOf is the query of a request, checked.
func queryOf(ask *operator.Request) (*books.Query, error) {
	q := ask.Books
	if q == nil {
		q = &books.Query{}
	}
	if err := q.Check(); err != nil {
		return nil, config.Usagef("%w", err)
	}
	return q, nil
}

// saveCurves adds samples to the curves: the account's equity, and what each strategy has earned,
// where that has changed.
func (j *botJournal) saveCurves(at market.Time) error {
	equity, err := j.account.Equity(j.currency)
	if err != nil {
		return err
	}
	exposure, err := j.account.Exposure(j.currency)
	if err != nil {
		return err
	}
	j.batch.Equity(journal.EquitySample{At: at, Equity: equity, Exposure: exposure})
	for i, name := range j.names {
		earned, err := j.account.Profit(strategyID(i+1), j.currency)
		if err != nil {
			return err
		}
		if last, saved := j.earned[name]; saved && last == earned {
			continue
		}
		if j.earned == nil {
			j.earned = map[string]market.Money{}
		}
		j.earned[name] = earned
		j.batch.Equity(journal.EquitySample{Strategy: name, At: at, Equity: earned})
	}
	return nil
}

// transfer journals a transfer with what it was worth when it was booked.
func (j *botJournal) transfer(ev *market.Event) {
	worth := journal.Worth{Known: true, Value: ev.Money}
	equity, err := j.account.Equity(j.currency)
	if worth.Equity = equity; err == nil && ev.Asset != j.currency {
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
		if m.Base != ev.Asset || m.Quote != j.currency {
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
