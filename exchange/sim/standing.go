package sim

import "github.com/tidemark-trading/tidemark/market"

// NextArrival is the earliest time at which a waiting command can arrive without another movement:
// its market has moved by a ticker or a trade, whose price stands until the next one. Without such
// a command it returns false.
func (in *inbox) NextArrival() (at market.Time, any bool) {
	for _, a := range in.waiting {
		if a.book.stands && (!any || a.at < at) {
			at, any = a.at, true
		}
	}
	return at, any
}

// Arrive lets the commands that are due at a time arrive at the prices that stand: see NextArrival.
// The error is the first arithmetic one.
func (v *Venue) Arrive(at market.Time) error {
	v.movement++
	v.orders.recycle()
	v.active = v.active[:0]
	for _, a := range v.waiting {
		b := a.book
		if !b.stands || b.movement == v.movement || a.at > at {
			continue
		}
		b.times[0], b.time, b.volume = at, max(b.time, at), noCap
		v.activate(b)
	}
	v.arrive(0)
	for _, b := range v.active {
		v.match(b)
		b.setQuietRange()
	}
	return v.err
}

// skipQuote moves a market that nothing waits for to a ticker, and reports whether it did.
func (v *Venue) skipQuote(b *book, t *market.Ticker, at market.Time) bool {
	if t.Last == 0 || b.bids != nil || len(b.takers) > 0 || !b.idle() {
		return false
	}
	b.last, b.time, b.stands = t.Last, at, true
	return true
}

// drawnAt is the time by which touches of a movement are drawn.
func (b *book) drawnAt() market.Time {
	at, span := b.times[0], market.Time(b.missing.every)
	if span > 0 && b.stands {
		at -= at % span
	}
	return at
}

// fillQuoted fills, at their limits, the resting orders that a ticker's bid or ask has reached, as
// a price that is traded there does.
func (v *matching) fillQuoted(b *book) {
	if b.bids != nil || b.shown != nil || b.bid <= 0 || b.ask < b.bid || b.market.Status != market.Trading {
		return
	}
	v.fillQuotedSide(b, &b.below, b.ask)
	v.fillQuotedSide(b, &b.above, b.bid)
}

func (v *matching) fillQuotedSide(b *book, l *ladder, quoted market.Price) {
	for v.err == nil {
		e := l.within(l.limits.next(), quoted)
		if e == nil {
			return
		}
		if b.missing.chance == 0 || !b.misses(e.order) {
			v.execute(b, e.order, false)
		}
	}
}

// DoAt is Do for a command whose arrival is known. One that would act inside a path does not: it
// arrives at the first point of a path, or at the price that stands, at that time or later.
func (v *Venue) DoAt(c *market.Command, at market.Time) {
	v.Do(c)
	a := v.waiting[len(v.waiting)-1]
	a.at, a.attached = at, false
}
