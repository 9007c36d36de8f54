package backtest

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// failedClose is how often Closes of a strategy did not sell all, with the first of them.
type failedClose struct {
	first strategy.CloseFailed
	at    market.Time
	times int
}

// CloseFailed counts a Close that has not sold all: an engine.CloseGuard.
func (d *driver) CloseFailed(f *strategy.CloseFailed) {
	for i := range d.unsold {
		if d.unsold[i].first.Strategy == f.Strategy {
			d.unsold[i].times++
			return
		}
	}
	d.unsold = append(d.unsold, failedClose{first: *f, at: d.engine.Now(), times: 1})
}

// closeWarnings are a line for each strategy.
func (d *driver) closeWarnings() (lines []string) {
	for i := range d.unsold {
		c := &d.unsold[i]
		m := d.plan.Catalog.Market(c.first.Market)
		times := "once"
		if c.times > 1 {
			times = fmt.Sprintf("%d times", c.times)
		}
		lines = append(lines, fmt.Sprintf("strategy %s: a close failed %s, first at %s over %s of %s: %s",
			d.plan.Strategies[c.first.Strategy-1].Name, times, c.at, m.FormatQty(c.first.Amount), m.Name, c.first.Why))
	}
	return lines
}
