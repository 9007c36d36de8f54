package backtest

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// CauseSeconds is the time for which positions had no exit for one cause.
type CauseSeconds struct {
	Cause string  `json:"cause"`
	Time  Seconds `json:"seconds"`
}

// bareKind is the key by which positions without an exit are counted.
type bareKind struct {
	strategy market.StrategyID
	cause    strategy.Cause
}

// bareCount is how often a strategy was left without an exit for one cause.
type bareCount struct {
	bareKind
	times int
	first strategy.Unprotected
	at    market.Time
}

// Unprotected counts a position without an exit: an engine.Guard.
func (d *driver) Unprotected(u *strategy.Unprotected) {
	kind := bareKind{u.Strategy, u.Cause}
	for i := range d.bare {
		if d.bare[i].bareKind == kind {
			d.bare[i].times++
			return
		}
	}
	d.bare = append(d.bare, bareCount{bareKind: kind, times: 1, first: *u, at: d.engine.Now()})
}

// bareWarnings are a line for each strategy and cause.
func (d *driver) bareWarnings() (lines []string) {
	for i := range d.bare {
		b := &d.bare[i]
		m := d.plan.Catalog.Market(b.first.Market)
		times := "once"
		if b.times > 1 {
			times = fmt.Sprintf("%d times", b.times)
		}
		lines = append(lines, fmt.Sprintf("strategy %s was left without an exit %s (%s), first at %s over %s of %s: %s",
			d.plan.Strategies[b.strategy-1].Name, times, b.cause, b.at, m.FormatQty(b.first.Amount), m.Name,
			b.first.Why))
	}
	return lines
}

// causes are the times without an exit by cause.
func (d *driver) causes() []CauseSeconds {
	list := []CauseSeconds{}
	for _, c := range d.engine.Brackets().UnprotectedBy() {
		list = append(list, CauseSeconds{Cause: c.Cause.String(), Time: Seconds(time.Duration(c.Time))})
	}
	return list
}

// unprotectedRows are the time without exits, and its causes. There are none if no time was: a
// strategy without exits would seem protected.
func (res *Result) unprotectedRows() []figureRow {
	if res.Unprotected == 0 {
		return nil
	}
	rows := []figureRow{{"unprotected", res.Unprotected.String(), ""}}
	for _, c := range res.UnprotectedBy {
		rows = append(rows, figureRow{"  " + c.Cause, c.Time.String(), ""})
	}
	return rows
}
