package sim

import "github.com/tidemark-trading/tidemark/market"

// candles moves the markets of a group of candles that close at one instant. A candle is four
// points, at 0, ⅓, ⅔ and 1 of its interval; all markets of the group reach a point before any goes
// on to the next.
func (v *Venue) candles(group []market.Candle) {
	v.active = v.active[:0]
	v.rings = v.tactics()
	if len(group) == 1 && len(v.waiting) > 0 {
		if b := &v.books[group[0].Market]; v.meetOpen(b, &group[0]) {
			v.openAlone(b, &group[0])
			return
		}
	}
	calm := !v.rings
	for i := range group {
		c := &group[i]
		b := &v.books[c.Market]
		quiet := b.inQuietRange(c) || b.waiting == 0 && b.quiet(c) && !b.watch.Open && b.shown == nil
		if quiet && !v.follows(b) && !v.rings {
			if b.last = c.Close; b.stands { // the quote is older than the candle
				b.bid, b.ask, b.stands = 0, 0, false
			}
			continue
		}
		calm = calm && quiet
		v.begin(b, c)
		v.activate(b)
	}
	if len(v.active) == 0 {
		return
	}
	point := 0
	if calm {
		point, v.pathUsed = v.showPaths(), true
		if v.across {
			v.arriveAcross(point - 1)
		}
	}
	v.pathFrom(point)
}

// pathFrom brings the active books to the points of their candles from one on, and ends the
// candles.
func (v *Venue) pathFrom(point int) {
	for ; point < 4 && (point != 1 || v.rings || v.anyWaiting()); point++ {
		v.pathUsed = v.pathUsed || point > 0
		v.point(point)
	}
	v.rings = false
	for _, b := range v.active {
		b.last = b.candle.Close
		if b.lowHit && b.topHit {
			v.ambiguous++
		}
		b.setQuietRange()
	}
}

// activate notes that a book moves in this movement.
func (v *Venue) activate(b *book) {
	b.movement = v.movement
	v.active = append(v.active, b)
}

// anyWaiting reports whether the rest of the candle can have an effect in any active market.
func (v *Venue) anyWaiting() bool {
	for _, b := range v.active {
		if !b.idle() && !b.quiet(&b.candle) || v.follows(b) {
			return true
		}
	}
	return false
}

// follows reports whether Config.Point gets the points of a market's paths.
func (v *Venue) follows(b *book) bool {
	return v.config.Followed != nil && v.config.Followed[b.market.ID]
}

// begin sets a candle's first and last point. beginPath chooses the two in the middle, once the
// open has been matched.
func (v *Venue) begin(b *book, c *market.Candle) {
	b.candle = *c
	b.bid, b.ask, b.stands = 0, 0, false
	if b.shown != nil {
		b.hide()
	}
	end := c.End()
	third := (end - c.Start) / 3
	b.times[0], b.times[1], b.times[2], b.times[3] = c.Start, c.Start+third, c.Start+2*third, end
	b.points[0], b.points[3] = c.Open, c.Close
	clear(b.notified[:])
	b.volume = noCap
	if v.config.VolumeShare != 0 && !v.config.Book {
		b.volume = v.config.volumeCap(b.market, c.Volume)
	}
}

// volumeCap is the amount that own orders may take of a candle.
func (c *Config) volumeCap(m *market.Market, volume market.Volume) market.Qty {
	exact, err := market.ValueOf(int64(volume)).MulRate(c.VolumeShare)
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

// point brings all active books to the next point: first the entries on the way, then the commands
// that are due (cancels, updates, new orders), then the new orders match. At the open the commands
// come first: a cancel in time prevents a fill at the open.
func (v *Venue) point(point int) {
	if v.rings && point > 0 {
		v.ringsTo(point)
	}
	for _, b := range v.active {
		switch {
		case point == 0:
			b.last, b.time = b.points[0], b.times[0]
		case !v.rings:
			v.walk(b, point)
		}
	}
	for _, b := range v.active {
		v.moveHouse(b, b.last)
	}
	v.arrive(point)
	for _, b := range v.active {
		v.reachPoint(b, point)
	}
	if v.across {
		v.arriveAcross(point)
	}
}

// arriveAcross carries out the attached buys that a fill in one market led to in the others, where
// their paths stand: at the same point.
//
//go:noinline
func (v *Venue) arriveAcross(point int) {
	for v.across && v.err == nil {
		v.across = false
		for _, b := range v.active {
			if !b.attached {
				continue
			}
			v.arriveAttached(b)
			if point == 0 {
				v.choosePath(b) // which may depend on what is held
			}
		}
	}
}

// reachPoint matches the orders that have arrived at a point.
func (v *Venue) reachPoint(b *book, point int) {
	if point == 0 {
		v.beginPath(b)
	} else {
		v.match(b)
		if b.watch.Peak != 0 { // of an entry that has just filled
			v.notifyPeak(b)
		}
	}
	if v.follows(b) && v.err == nil {
		v.shown = append(v.shown[:0], PathPoint{&b.candle, b.times[point], b.points[point]})
		v.config.Point(v.shown)
	}
}

// beginPath matches at the open and then leaves it.
func (v *Venue) beginPath(b *book) {
	if !b.idle() {
		v.open(b)
	}
	v.match(b)
	v.leaveOpen(b)
}

// leaveOpen chooses the rest of the path, once the open has been matched.
func (v *Venue) leaveOpen(b *book) {
	if b.watch.Any() { // the price may be past the target of an entry that has just filled
		v.notifyHere(b)
		v.notifyPeak(b)
		v.notifyTactic(b, b.last, false)
	}
	if len(v.active) == 1 && b.idle() && !v.across && !v.follows(b) { // the path ends here: see candles
		b.lowHit, b.topHit = false, false
		return
	}
	v.choosePath(b)
}

// choosePath chooses the order of low and high.
func (v *Venue) choosePath(b *book) {
	low, high := b.candle.Low, b.candle.High
	if b.missing.chance != 0 {
		b.reachedNext(&b.below, low)
		b.reachedNext(&b.above, high)
	}
	b.lowHit = low <= b.below.level || b.watchedBelow(low)
	b.topHit = high >= b.above.level || b.watchedAbove(high)
	if b.bids != nil {
		b.lowHit, b.topHit = b.lowHit || b.reachedInBook(&b.below, low), b.topHit || b.reachedInBook(&b.above, high)
	}
	// A stop that follows prices falls behind a new high: where the low alone reaches nothing, the
	// high before it is the worse order. Who holds on has a stop that is no lower.
	follows := b.watch.Peak != 0 && high > b.watch.Peak && !b.lowHit
	long := v.solo.balances[b.market.Base].Total > 0
	b.points[1], b.points[2] = v.config.Path.extremes(&b.candle, long && !follows)
}

// Points returns the four prices of a candle in the order in which the path visits them. long says
// whether base is held; Pessimistic and Optimistic depend on it.
func (p Path) Points(c *market.Candle, long bool) [4]market.Price {
	first, second := p.extremes(c, long)
	return [4]market.Price{c.Open, first, second, c.Close}
}

// extremes returns low and high in the order in which the path visits them.
func (p Path) extremes(c *market.Candle, long bool) (first, second market.Price) {
	lowFirst := false
	switch p {
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
	if lowFirst {
		return c.Low, c.High
	}
	return c.High, c.Low
}

// open applies the first price of a candle to resting orders. Orders that it has reached fill, at
// their limit or, with GapOpen, at the open if that is better; triggers that it has reached fire.
// The engine is notified afterwards, so its new orders have no part in the gap.
func (v *Venue) open(b *book) {
	if !b.empty() {
		v.reach(b, true)
	}
	v.notifyHere(b)
}

// reach executes the entries at the price where the path stands, or passed by a gap.
func (v *Venue) reach(b *book, gap bool) {
	for _, l := range [...]*ladder{&b.below, &b.above} {
		for v.err == nil {
			o := b.reachedNext(l, b.last)
			if o == nil {
				break
			}
			v.execute(b, o, gap)
		}
	}
}
