package sim

import "github.com/tidemark-trading/tidemark/market"

// meetOpen reports whether the commands on their way are orders at market that meet the open of a
// candle, the only one of its instant, in a market where nothing else waits: nothing can come
// between their arrival and their fills.
func (v *Venue) meetOpen(b *book, c *market.Candle) bool {
	if b.waiting != len(v.waiting) || b.market.Status != market.Trading ||
		!b.empty() || b.watch.Any() || b.shown != nil || len(b.takers) > 0 ||
		v.rings || v.across || v.config.LimitFill == Queue || v.follows(b) {
		return false
	}
	for _, a := range v.waiting {
		if a.kind != market.CommandPlace || a.placed.Type != market.TypeMarket || a.at > c.Start || a.attached ||
			a.movement == v.movement {
			return false
		}
	}
	return true
}

// openAlone walks a candle whose open the commands meet: see meetOpen. It does what pathFrom does
// from the first point on, without looking for anything else that waits there. An order that the
// open fills whole is not among the open ones before.
func (v *Venue) openAlone(b *book, c *market.Candle) {
	v.begin(b, c)
	v.activate(b)
	b.last, b.time = c.Open, c.Start
	v.waiting, v.due, b.waiting = v.due[:0], v.waiting, 0
	for _, a := range v.due {
		var admitted bool
		if a.paid, admitted = v.admit(b, a.placed, &a.origin, 0); !admitted {
			a.placed = nil
		}
	}
	for _, a := range v.due {
		o := a.placed
		switch {
		case o == nil:
		case !o.ByQuote() && v.fillWhole(b, o, a.paid):
			v.report.Describe(&o.Order, market.ExecTrade)
			v.deliver(b, 1)
			v.orders.done = append(v.orders.done, o)
		default:
			o.exec = market.ExecNew
			v.orders.Put(o.ID, o)
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
