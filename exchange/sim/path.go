package sim

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// candles moves the markets of a group of candles that close at one instant. A candle is four points, at 0, ⅓, ⅔ and 1 of
// its interval; all markets of the group reach a point before any goes on to the next.
func (v *Venue) candles(group []market.Candle) {
	v.active = v.active[:0]
	for i := range group {
		c := &group[i]
		b := &v.books[c.Market]
		if b.quiet(c) {
			b.last = c.Close
			continue
		}
		v.begin(b, c)
		v.active = append(v.active, b)
	}
	if len(v.active) == 0 {
		return
	}
	v.point(0)
	if v.stirred() {
		for point := 1; point < 4; point++ {
			v.point(point)
		}
	}
	for _, b := range v.active {
		b.last = b.candle.Close
		if b.lowHit && b.topHit {
			v.ambiguous++
		}
		b.calm()
	}
}

// stirred reports whether any of the active markets still waits for something that the rest of its candle does.
func (v *Venue) stirred() bool {
	for _, b := range v.active {
		if !b.quiet(&b.candle) {
			return true
		}
	}
	return false
}

// Calm returns the prices between which a candle of a market does nothing to anybody: one with low < Low and High < high
// needs no Advance, only Pass. An order in flight leaves no such candle.
func (v *Venue) Calm(id market.ID) (low, high market.Price) {
	b := &v.books[id]
	if *b.watch != (market.Watch{}) {
		return math.MaxInt64, math.MinInt64
	}
	return b.calmLow, b.calmHigh
}

// Pass moves a market to the close of the last of some calm candles.
func (v *Venue) Pass(c *market.Candle) { v.books[c.Market].last = c.Close }

// quiet reports whether nobody waits for anything that a candle does.
func (b *book) quiet(c *market.Candle) bool {
	return b.waiting == 0 && !b.below.reached(c.Low) && !b.above.reached(c.High) && !b.watched(c)
}

// calm works out between which prices a candle is quiet, for Pass.
func (b *book) calm() {
	b.calmLow, b.calmHigh = math.MinInt64, math.MaxInt64
	if b.waiting > 0 {
		b.calmLow = math.MaxInt64
	}
	if len(b.below.entries) > 0 {
		b.calmLow = max(b.calmLow, b.below.next().level)
	}
	if len(b.above.entries) > 0 {
		b.calmHigh = b.above.next().level
	}
}

// begin lays out a candle's points; the two in the middle are chosen once the open has been matched.
func (v *Venue) begin(b *book, c *market.Candle) {
	b.candle = *c
	b.bid, b.ask = 0, 0
	end := c.End()
	third := (end - c.Start) / 3
	b.times = [4]market.Time{c.Start, c.Start + third, c.Start + 2*third, end}
	b.points[0], b.points[3] = c.Open, c.Close
	b.told = 0
	b.volume = v.volumeCap(b.market, c.Volume)
}

// volumeCap is what own orders may take of a candle.
func (v *Venue) volumeCap(m *market.Market, volume market.Volume) market.Qty {
	if v.config.VolumeShare == 0 {
		return noCap
	}
	exact, err := market.ValueOf(int64(volume)).MulRate(v.config.VolumeShare)
	if err != nil {
		return noCap
	}
	amount, err := exact.ScaleUp(m.AmountDigits)
	if err != nil {
		return noCap
	}
	floor, err := amount.FloorMoney(market.RateDigits + m.VolumeDigits)
	if err != nil {
		return noCap
	}
	return market.FloorDigits(market.Qty(floor), m.AmountDigits, m.QuantityDecimals)
}

// noCap is more than any order's amount.
const noCap = market.Qty(1<<63 - 1)

// point brings all active books to the next point: what the price meets on the way happens first, then arrive the commands
// that are due, cancels before updates before new orders, then the new orders match. At the open the arrivals come first,
// then matching: so a cancel in time prevents a fill at the open.
func (v *Venue) point(point int) {
	for _, b := range v.active {
		if point > 0 {
			v.walk(b, point)
			continue
		}
		b.last, b.time = b.points[0], b.times[0]
	}
	v.arrive(point)
	for _, b := range v.active {
		if point > 0 {
			v.match(b)
			continue
		}
		v.open(b)
		v.match(b)
		b.middle(v.config.Path, v.balances[b.market.Base].Total > 0)
		b.lowHit = b.below.reached(b.candle.Low) || b.watchedBelow(b.candle.Low)
		b.topHit = b.above.reached(b.candle.High) || b.watchedAbove(b.candle.High)
	}
}

// middle sets the candle's second and third point.
func (b *book) middle(path Path, long bool) {
	c := &b.candle
	lowFirst := false
	switch path {
	case Adaptive:
		up, down := c.High-c.Open, c.Open-c.Low
		lowFirst = down < up || (down == up && c.Close >= c.Open)
	case OLHC:
		lowFirst = true
	case Pessimistic:
		lowFirst = long
	case Optimistic:
		lowFirst = !long
	}
	b.points[1], b.points[2] = c.High, c.Low
	if lowFirst {
		b.points[1], b.points[2] = c.Low, c.High
	}
}

// open does what the first price of a candle does to orders that rest: those it has reached fill there, at the open where
// that is better than their limit; triggers it has reached fire there.
func (v *Venue) open(b *book) {
	v.tellHere(b)
	v.reach(b, true)
}

// reach lets happen what waits at the price where the path stands, or has been passed by a gap.
func (v *Venue) reach(b *book, gap bool) {
	for _, l := range [...]*ladder{&b.below, &b.above} {
		for v.err == nil {
			at := b.reachedEntry(l, b.last)
			if at < 0 {
				break
			}
			v.happen(b, l, at, gap)
		}
	}
}

// walk goes from one point to the next and stops at every entry and every watched price on the way.
func (v *Venue) walk(b *book, point int) {
	b.leg = point
	from, to := b.points[point-1], b.points[point]
	l := &b.above
	switch {
	case to < from:
		l = &b.below
	case to == from:
		b.time = b.times[point]
		v.tellHere(b)
		return
	}
	for v.err == nil {
		at, stop := b.reachedEntry(l, to), to
		if at >= 0 {
			stop = between(l.entries[at].level, b.last, to)
		}
		if v.tellHere(b) || v.tellOnTheWay(b, stop) {
			continue
		}
		if at < 0 {
			break
		}
		b.stand(stop)
		v.happen(b, l, at, false)
	}
	b.last, b.time = to, b.times[point]
	v.tellHere(b)
}

// stand moves the path to a price of the leg it is on.
func (b *book) stand(price market.Price) {
	from, to := b.points[b.leg-1], b.points[b.leg]
	b.last = price
	b.time = b.times[b.leg-1] + interpolate(b.times[b.leg]-b.times[b.leg-1], price-from, to-from)
}

// watched reports whether a candle reaches a price that the engine watches.
func (b *book) watched(c *market.Candle) bool {
	return b.watchedBelow(c.Low) || b.watchedAbove(c.High)
}

func (b *book) watchedBelow(p market.Price) bool { return b.watch.Below != 0 && p <= b.watch.Below }

func (b *book) watchedAbove(p market.Price) bool { return b.watch.Above != 0 && p >= b.watch.Above }

// reachedEntry returns the place of the next entry that a price at p has reached, or -1. Limit orders are passed over once
// the candle's volume is used up. In a market that is not trading the price reaches nothing (specification 3.2).
func (b *book) reachedEntry(l *ladder, p market.Price) int {
	if b.market.Status != market.Trading {
		return -1
	}
	for at := len(l.entries) - 1; at >= 0; at-- {
		e := &l.entries[at]
		if (l.down && p > e.level) || (!l.down && p < e.level) {
			return -1
		}
		if b.volume > 0 || e.action != actFill {
			return at
		}
	}
	return -1
}

// happen lets one entry happen where the path stands; gap says that the price jumped there, so that a limit order fills at
// the price itself where that is better than its limit.
func (v *Venue) happen(b *book, l *ladder, at int, gap bool) {
	o := l.entries[at].order
	switch l.entries[at].action {
	case actFill:
		price := o.Price
		if gap {
			price = better(o.Side, b.last, price)
		}
		v.trade(b, o, price, min(o.AmountRemaining, b.volume), false)
	case actFire:
		v.fire(b, o, b.last)
	}
	v.arriveAttached(b)
}

// better returns the price more to the liking of a resting order's side: a gap through its limit fills at the open.
func better(side market.Side, a, b market.Price) market.Price {
	if side == market.Buy {
		return min(a, b)
	}
	return max(a, b)
}

// tellHere tells the engine where the path stands if that is at or beyond a price it watches, and reports whether it did.
// Each watched price is told once in a row.
func (v *Venue) tellHere(b *book) bool {
	switch {
	case b.watch.Below != 0 && b.last <= b.watch.Below && b.told != b.watch.Below:
		b.told = b.watch.Below
	case b.watch.Above != 0 && b.last >= b.watch.Above && b.told != b.watch.Above:
		b.told = b.watch.Above
	default:
		return false
	}
	v.tellPrice(b)
	return true
}

// tellOnTheWay walks to the watched price that comes before stop, if there is one, and tells the engine. It reports whether
// it did: the engine may have changed what waits on the way.
func (v *Venue) tellOnTheWay(b *book, stop market.Price) bool {
	level := b.watch.Above
	if stop < b.last {
		level = b.watch.Below
	}
	if level == 0 || level != between(level, b.last, stop) || level == stop {
		return false
	}
	b.stand(level)
	return v.tellHere(b)
}

// tellPrice tells the engine of the price that the path has reached.
func (v *Venue) tellPrice(b *book) {
	v.now = max(v.now, b.time)
	v.public = market.Trade{Market: b.market.ID, Price: b.last, Time: b.time}
	v.heard = market.Event{At: v.now, Kind: market.KindTrade, Market: b.market.ID, Trade: &v.public}
	v.sink(&v.heard)
	v.arriveAttached(b)
}

// jump moves one market to a price seen on a ticker or in a trade: what the price passes happens at its level. A price that
// stays reaches what waits there only if somebody traded at it.
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
	b.volume = noCap
	b.told = 0
	v.active = append(v.active[:0], b)
	v.walk(b, 1)
	if traded && price == b.points[0] {
		v.reach(b, false)
	}
	v.arrive(1)
	v.match(b)
	b.calm()
}

// between moves level into the span of from and to.
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

// priceAt is the path's price at a moment between two points, rounded to the unit against the order's side.
func (b *book) priceAt(at market.Time, point int, side market.Side) market.Price {
	if point == 0 || at <= b.times[point-1] || at >= b.times[point] {
		return b.points[point]
	}
	from, to := b.points[point-1], b.points[point]
	whole := market.Price(b.times[point] - b.times[point-1])
	if (to > from) == (side == market.Buy) { // seen from the end: there, rounding towards zero goes against the side
		return to - towards(to-from, market.Price(b.times[point]-at), whole)
	}
	return from + towards(to-from, market.Price(at-b.times[point-1]), whole)
}

// towards returns way·part/whole, rounded towards zero; way may be negative.
func towards(way, part, whole market.Price) market.Price {
	if way < 0 {
		return -towards(-way, part, whole)
	}
	return market.Price(interpolate(market.Time(way), part, whole))
}

// arrive takes in the commands that are due at a point, in the order cancel, update, place, and by sequence among equals.
func (v *Venue) arrive(point int) {
	if len(v.waiting) == 0 {
		return
	}
	v.due = v.due[:0]
	keep := v.waiting[:0]
	for _, a := range v.waiting {
		b := &v.books[a.command.Order.Market]
		if v.isDue(a, b, point) {
			v.due = append(v.due, a)
			b.waiting--
			continue
		}
		keep = append(keep, a)
	}
	v.waiting = keep
	if len(v.due) > 1 {
		slices.SortFunc(v.due, inArrivalOrder)
	}
	for _, a := range v.due {
		v.perform(&v.books[a.command.Order.Market], a, point)
		v.arrived = append(v.arrived, a)
	}
}

// isDue reports whether a command arrives at a point of the candles under way. What was decided during their own path, other
// than by a bracket, waits for the next.
func (v *Venue) isDue(a *arrival, b *book, point int) bool {
	if a.movement == v.movement && !a.command.Attached {
		return false
	}
	return a.at <= b.times[point] && slices.Contains(v.active, b)
}

// inArrivalOrder sorts by kind, then by sequence.
func inArrivalOrder(a, b *arrival) int {
	if a.command.Kind != b.command.Kind {
		return int(a.command.Kind) - int(b.command.Kind)
	}
	return int(a.sequence - b.sequence)
}

// arriveAttached takes in the commands of brackets at once, where there is no latency; with latency they arrive at the next
// point that is late enough.
func (v *Venue) arriveAttached(b *book) {
	for b.attached && v.config.Latency == 0 && v.err == nil {
		b.attached = false
		for i := 0; i < len(v.waiting); i++ {
			a := v.waiting[i]
			if !a.command.Attached || a.command.Order.Market != b.market.ID {
				continue
			}
			v.waiting = slices.Delete(v.waiting, i, i+1)
			b.waiting--
			v.perform(b, a, -1)
			v.arrived = append(v.arrived, a)
			v.match(b)
			i = -1 // what it caused may have brought more
		}
	}
}

// Points returns the moments and prices of a candle's path as the venue walks it; call it after Advance has moved the candle.
// For Pessimistic and Optimistic the choice is that for the base held at the end of the candle, unless orders made the venue
// walk it.
func (v *Venue) Points(c *market.Candle) (times [4]market.Time, prices [4]market.Price) {
	b := &v.books[c.Market]
	if b.candle.Start == c.Start && b.candle.Interval == c.Interval {
		return b.times, b.points
	}
	v.begin(b, c)
	b.middle(v.config.Path, v.balances[b.market.Base].Total > 0)
	return b.times, b.points
}

// HalfSpread returns half the distance between bid and ask at a price, rounded up.
func (v *Venue) HalfSpread(p market.Price) market.Price { return v.half(p) }
