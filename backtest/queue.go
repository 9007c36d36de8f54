package backtest

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange/sim"
)

// queueText says how orders meet recorded books; empty: they do not.
func queueText(v sim.Config) string {
	if v.LimitFill != sim.Queue {
		return ""
	}
	return "Where a book is recorded, a resting limit order stands behind everything displayed at its price when it " +
		"arrives; trades at the price move it forward, trades through it fill it. Takers take the recorded levels, " +
		"without the assumed spread and slippage. Every recorded amount is spent once."
}

// queueWarnings say how far the fills in recorded books can be believed.
func (d *driver) queueWarnings() (lines []string) {
	if d.plan.Venue.LimitFill != sim.Queue {
		return nil
	}
	c := d.venue.Counts()
	if c.Orders == 0 {
		return []string{"no order met a recorded book: limit_fill = \"queue\" had the effect of \"through\""}
	}
	if c.Large > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d orders were larger than a tenth of the displayed depth that they "+
			"took from or joined: what the market would have done because of them is not known", c.Large, c.Orders))
	}
	if c.Short > 0 {
		lines = append(lines, fmt.Sprintf("%d orders wanted more than the recorded levels offered: record books to a "+
			"greater depth, or order less", c.Short))
	}
	if c.Blind > 0 {
		lines = append(lines, fmt.Sprintf("%d orders met no recorded book, beside the %d that did: they filled when "+
			"the price went through them, and paid the assumed spread", c.Blind, c.Orders))
	}
	return lines
}

// queueCounts are the counts of the orders that met recorded books; nil: the run had none to meet.
func (d *driver) queueCounts() *sim.QueueCounts {
	if d.plan.Venue.LimitFill != sim.Queue {
		return nil
	}
	c := d.venue.Counts()
	return &c
}

// queueRows are the counts for a person, each with its name; nil: the run had no recorded books to
// meet.
func queueRows(c *sim.QueueCounts) (rows [][]string) {
	if c == nil {
		return nil
	}
	for _, one := range [...]struct {
		name  string
		count int64
	}{
		{"took from a book, or rested in one", c.Orders},
		{"larger than a tenth of the depth", c.Large},
		{"wanted more than the book had", c.Short},
		{"met no book", c.Blind},
		{"fills: their turn came", c.Queued},
		{"fills: a trade went through the price", c.Through},
		{"fills: an offer reached the price", c.Crossed},
		{"fills: a last price went through", c.Ticked},
	} {
		rows = append(rows, []string{one.name, numbered(one.count)})
	}
	return rows
}
