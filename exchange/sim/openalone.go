package sim

import "github.com/tidemark-trading/tidemark/market"

// meetsOpen reports whether a command, the only one on its way, is an order at market that meets
// the open of a candle, the only one of its instant, in a market where nothing else waits: nothing
// can come between its arrival and its fill.
func (v *Venue) meetsOpen(a *arrival, c *market.Candle) bool {
	b := a.book
	return a.kind == market.CommandPlace && a.placed.Type == market.TypeMarket && b.market.ID == c.Market &&
		a.at <= c.Start && !a.attached && a.movement < v.movement && b.market.Status == market.Trading &&
		b.empty() && !b.watch.Any() && b.shown == nil && len(b.takers) == 0 &&
		!v.rings && !v.across && v.config.LimitFill != Queue && !v.follows(b)
}

// openAlone walks a candle whose open a command meets: see meetsOpen. It does what pathFrom does
// from the first point on, without looking for anything else that waits there.
func (v *Venue) openAlone(a *arrival, c *market.Candle) {
	b, o, from := a.book, a.placed, a.origin
	v.begin(b, c)
	v.activate(b)
	b.last, b.time = c.Open, c.Start
	v.waiting, b.waiting = v.waiting[:0], 0
	if paid, admitted := v.place(b, o, &from, 0); admitted {
		if o.exec = market.ExecNew; o.ByQuote() || !v.fillWhole(b, o, paid) {
			v.take(b, o, b.last)
		}
	}
	v.arriveAttached(b)
	if b.idle() && !v.across {
		b.last = c.Close
		b.setQuietRange()
		return
	}
	v.leaveOpen(b)
	if v.across {
		v.arriveAcross(0)
	}
	v.pathFrom(1)
}
