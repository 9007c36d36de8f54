package backtest

import (
	"slices"
	"sort"

	"github.com/tidemark-trading/tidemark/market"
)

// CoarseSpan is a candle of a market whose finer candles show other prices than it does: the market
// moves by it in its time, not by them.
type CoarseSpan struct {
	From, To market.Time // start and end of the candle
	Interval market.Interval
}

// coarse is what a run keeps of the plan's coarse spans. Commands that are decided on candles
// inside such a span wait for its end: its candle's path begins before them.
type coarse struct {
	until   []market.Time // by market: end of the span in which it stands; 0: it stands in none
	waiting []market.Command
	walking bool // the venue walks the paths of a group
}

// walks reports whether a candle is the path of its market. A coarse candle is where the finer
// series has a hole, and where it hides prices.
func (d *driver) walks(c *market.Candle, drives bool) bool {
	if len(d.plan.Coarse) > 0 {
		if s := d.plan.coarseAt(c.Market, c.Start); s != nil && s.Interval > c.Interval {
			d.noteSpan(c.Market, s.To)
			return false
		}
	}
	return drives || c.Start >= d.drivenTo[c.Market]
}

// coarseAt is the span in which a market is at a time; nil: there is none.
func (p *Plan) coarseAt(m market.ID, at market.Time) *CoarseSpan {
	list := p.Coarse[m]
	i := sort.Search(len(list), func(i int) bool { return list[i].To > at })
	if i == len(list) || list[i].From > at {
		return nil
	}
	return &list[i]
}

// noteSpan notes that a market stands in a coarse span that ends at to.
func (d *driver) noteSpan(m market.ID, to market.Time) {
	if d.coarse.until == nil {
		d.coarse.until = make([]market.Time, len(d.drivenTo))
	}
	d.coarse.until[m] = to
}

// waits keeps a command of a market that stands in a span, and reports whether it does. What an
// order of the span's path leads to does not wait.
func (d *driver) waits(c *market.Command) bool {
	if d.coarse.until == nil || d.coarse.until[c.Order.Market] == 0 || d.coarse.walking {
		return false
	}
	d.coarse.waiting = append(d.coarse.waiting, *c)
	return true
}

// leave gives the commands of the spans that have ended to the venue.
func (d *driver) leave(now market.Time) {
	for m, to := range d.coarse.until {
		if to == 0 || to > now {
			continue
		}
		d.coarse.until[m] = 0
		d.coarse.waiting = slices.DeleteFunc(d.coarse.waiting, func(c market.Command) bool {
			if c.Order.Market != market.ID(m) {
				return false
			}
			d.venue.Do(&c)
			return true
		})
	}
}
