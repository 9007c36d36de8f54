package sim

import (
	"math/bits"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// walk goes from one point to the next and stops at every entry and every watched price on the way.
func (v *Venue) walk(b *book, point int) {
	b.leg = point
	from, to := b.points[point-1], b.points[point]
	if to == from {
		for v.notifyHere(b) {
		}
		if !v.interrupted() {
			b.time = b.times[point]
		}
		return
	}
	if !v.walkTo(b, to) {
		return
	}
	b.last, b.time = to, b.times[point]
	if b.watch.Any() {
		v.notifyHere(b)
		v.notifyPeak(b)
	}
}

// walkTo goes to a price of the leg that the path is on. It reports whether it came there, and no
// timer rings before.
func (v *Venue) walkTo(b *book, to market.Price) bool {
	l := &b.above
	if to < b.last || to == b.last && b.points[b.leg] < b.points[b.leg-1] {
		l = &b.below
	}
	for v.err == nil {
		next, stop := b.reachedNext(l, to), to
		if next != nil {
			stop = between(next.level, b.last, to)
		}
		if v.notifyHere(b) || b.watch.Tactic && v.notifyTactic(b, stop, next != nil) || v.notifyOnTheWay(b, stop) {
			if v.interrupted() {
				return false
			}
			continue
		}
		if next == nil {
			break
		}
		b.stand(stop)
		if v.execute(b, next, false); v.interrupted() {
			return false
		}
	}
	return true
}

// stand moves the path to a price of the leg it is on.
func (p *path) stand(price market.Price) {
	from, to := p.points[p.leg-1], p.points[p.leg]
	p.last = price
	at := p.times[p.leg-1] + interpolate(p.times[p.leg]-p.times[p.leg-1], price-from, to-from)
	p.time = max(p.time, at) // a command of a timer may have acted since the point before
}

// watched reports whether a candle reaches a watched price.
func (w *watcher) watched(c *market.Candle) bool {
	return w.watchedBelow(c.Low) || w.watchedAbove(c.High)
}

func (w *watcher) watchedBelow(p market.Price) bool {
	return w.watch.Below != 0 && p <= w.watch.Below || w.watch.Fall != 0 && p <= w.watch.Fall
}

func (w *watcher) watchedAbove(p market.Price) bool {
	return w.watch.Above != 0 && p >= w.watch.Above || w.watch.Peak != 0 && p > w.watch.Peak ||
		w.watch.Rise != 0 && p >= w.watch.Rise
}

// reachedNext is reachedEntry without the orders that a touch misses: they are drawn before the
// path goes on, and a miss is no event at which a watched price comes first.
func (b *book) reachedNext(l *ladder, p market.Price) *order {
	o := b.reachedEntry(l, p)
	for b.missing.chance != 0 && o != nil && !waitsForTrigger(&o.Order) && b.misses(o) {
		o = b.reachedEntry(l, p)
	}
	return o
}

// reachedEntry returns the order whose entry a price at p reaches next, or nil. It skips limit
// orders once the candle's volume is used up, and triggers whose reference comes from a ticker. In
// a market that is not trading the price reaches nothing (specification 3.2).
func (b *book) reachedEntry(l *ladder, p market.Price) *order {
	if b.market.Status != market.Trading {
		return nil
	}
	if !l.reached(p) {
		return b.sooner(l, nil, p)
	}
	limit, trigger := l.within(l.limits.next(), p), b.reachedTrigger(l, p)
	if b.volume <= 0 || b.shown != nil {
		limit = nil
	}
	switch {
	case limit == nil && trigger == nil:
		return b.sooner(l, nil, p)
	case limit == nil, trigger != nil && limit.behind(trigger, l.down) &&
		// one on bid, ask or their middle comes after the trades at its level, as in a Book
		!(trigger.level == limit.level && trigger.order.TriggerReference > market.LastTrade):
		return b.sooner(l, trigger.order, p)
	}
	return b.sooner(l, limit.order, p)
}

// reachedTrigger returns the trigger that a price at p reaches next, or nil.
func (b *book) reachedTrigger(l *ladder, p market.Price) *entry {
	if next := l.triggers.next(); next == nil || !b.quotes(next.order) {
		return l.within(next, p)
	}
	for e := range l.triggers.nearest {
		if !l.passes(e.level, p) {
			break
		}
		if !b.quotes(e.order) {
			return e
		}
	}
	return nil
}

// execute executes one entry where the path stands. gap says that the price jumped there: with
// GapOpen a limit order then fills at the price where that is better than its limit. In a Book the
// house takes it at its limit in any case.
func (v *matching) execute(b *book, o *order, gap bool) {
	if waitsForTrigger(&o.Order) {
		v.moveHouse(b, b.last)
		v.fire(b, o, b.last)
	} else if b.bids != nil {
		v.tradeOrEnd(b, o, o.Price, o.AmountRemaining)
	} else {
		price := o.Price
		if gap && v.config.LimitGap == GapOpen {
			price = better(o.Side, b.last, price)
		}
		b.filled++
		v.trade(b, o, price, min(o.AmountRemaining, b.volume), o.met) // a wider spread makes no maker of a taker
	}
	v.arriveAttached(b)
}

// better returns the better price for an order of that side.
func better(side market.Side, a, b market.Price) market.Price {
	if side == market.Buy {
		return min(a, b)
	}
	return max(a, b)
}

// notifyHere sends the engine the path's price if it is at or beyond a watched price, and reports
// whether it did. It sends each watched price once in a row; both, where the price is beyond both.
func (v *Venue) notifyHere(b *book) bool {
	told := b.watch.Any() && b.note(b.last)
	if told {
		v.notifyPrice(b)
	}
	return told
}

// note notes the watched price that a price is at or beyond as notified, and reports whether it was
// not yet.
func (w *watcher) note(price market.Price) bool {
	below, above := w.watch.Below, w.watch.Above
	isBelow, isAbove := below != 0 && price <= below, above != 0 && price >= above
	switch {
	case isBelow && !slices.Contains(w.notified[:], below):
		w.notified = [...]market.Price{below, w.notifiedIf(isAbove, above)}
	case isAbove && !slices.Contains(w.notified[:], above):
		w.notified = [...]market.Price{above, w.notifiedIf(isBelow, below)}
	default:
		return false
	}
	return true
}

// notifiedIf is level if it still counts as notified, else 0.
func (w *watcher) notifiedIf(reached bool, level market.Price) market.Price {
	if reached && slices.Contains(w.notified[:], level) {
		return level
	}
	return 0
}

// notifyOnTheWay walks to the watched price before stop, if there is one, and notifies the engine.
// It reports whether it did: the engine may have changed the entries on the way.
func (v *Venue) notifyOnTheWay(b *book, stop market.Price) bool {
	level := b.watchedBefore(stop)
	if level == stop {
		return false
	}
	b.stand(level)
	return v.notifyHere(b)
}

// watchedBefore is the watched price between the path's price and stop, or stop where there is
// none.
func (b *book) watchedBefore(stop market.Price) market.Price {
	level := b.watch.Above
	if stop < b.last {
		level = b.watch.Below
	}
	if level == 0 || level != between(level, b.last, stop) || slices.Contains(b.notified[:], level) {
		return stop
	}
	return level
}

// notifyPeak sends the engine the price of a point of the path if it is above all prices that a
// stop has followed so far.
func (v *Venue) notifyPeak(b *book) {
	if p := b.watch.Peak; p != 0 && b.last > p {
		v.notifyPrice(b)
	}
}

// notifyPrice sends the engine the path's price as a trade.
func (v *Venue) notifyPrice(b *book) {
	v.tellPrice(b)
	v.arriveAttached(b)
}

// tellPrice sends the price of a market as a trade.
func (t *teller) tellPrice(b *book) {
	t.now = max(t.now, b.time)
	t.public = market.Trade{Market: b.market.ID, Price: b.last, Time: b.time}
	t.priceEvent = market.Event{At: t.now, Kind: market.KindTrade, Market: b.market.ID, Trade: &t.public}
	t.sink(&t.priceEvent)
}

// jump moves one market to the price of a ticker or a trade; entries on the way execute at their
// level. An unchanged price executes entries at it only if it was traded.
func (v *Venue) jump(id market.ID, price market.Price, at market.Time, traded bool) {
	b := &v.books[id]
	if price == 0 {
		return
	}
	if b.last == 0 {
		b.last = price
	}
	b.candle = market.Candle{Low: min(price, b.last), High: max(price, b.last)}
	b.points[0], b.points[1] = b.last, price
	b.times[0], b.times[1] = at, at
	b.stands = true
	b.volume = noCap
	clear(b.notified[:])
	v.active = v.active[:0]
	v.activate(b)
	v.walk(b, 1)
	v.moveHouse(b, price)
	v.fillCrossed(b)
	v.fillQuoted(b)
	if traded && price == b.points[0] {
		v.reach(b, false)
	}
	v.fireQuoted(b)
	v.arrive(1)
	v.match(b)
	b.setQuietRange()
}

// between clamps level to the span of from and to.
func between(level, from, to market.Price) market.Price {
	return min(max(level, min(from, to)), max(from, to))
}

// interpolate returns span·part/whole; part and whole have the same sign and part is not larger.
func interpolate(span market.Time, part, whole market.Price) market.Time {
	if whole == 0 {
		return span
	}
	if whole < 0 {
		part, whole = -part, -whole
	}
	hi, lo := bits.Mul64(uint64(span), uint64(part))
	quotient, _ := bits.Div64(hi, lo, uint64(whole))
	return market.Time(quotient)
}

// priceAt is the path's price at a moment between two points, rounded to the tick against the
// order's side, but not beyond the two.
func (p *path) priceAt(at market.Time, point int, side market.Side, tick market.Price) market.Price {
	if point == 0 || at <= p.times[point-1] || at >= p.times[point] {
		return p.points[point]
	}
	from, to := p.points[point-1], p.points[point]
	whole := market.Price(p.times[point] - p.times[point-1])
	exact := from + towards(to-from, market.Price(at-p.times[point-1]), whole)
	if (to > from) == (side == market.Buy) { // counted from the end, rounding towards zero goes against the side
		exact = to - towards(to-from, market.Price(p.times[point]-at), whole)
	}
	if side == market.Buy {
		return between(market.CeilTo(exact, tick), from, to)
	}
	return between(market.FloorTo(exact, tick), from, to)
}

// towards returns way·part/whole, rounded towards zero; way may be negative.
func towards(way, part, whole market.Price) market.Price {
	if way < 0 {
		return -towards(-way, part, whole)
	}
	return market.Price(interpolate(market.Time(way), part, whole))
}
