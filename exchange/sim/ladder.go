package sim

import (
	"sort"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// book is one market at the venue: its price and the entries that wait for the price to move.
type book struct {
	market *market.Market
	last   market.Price
	bid    market.Price // seen on a ticker; 0: made from the path and the spread
	ask    market.Price
	time   market.Time // of the path, as far as it has been walked

	movement int64 // the latest Advance that moved it

	below, above ladder // entries for a price that falls to, or rises to, a level

	waiting  int    // commands that have not arrived
	attached bool   // some of them may act inside the path
	placed   uint64 // orders so far
	filled   uint64 // fills so far

	quietLow, quietHigh market.Price // a candle between these, exclusive, has no effect

	watch    *market.Watch // prices that the engine wants events of
	notified market.Price  // the watched price of the latest event in this movement
	leg      int           // the point that the path is walking to

	candle      market.Candle
	points      [4]market.Price
	times       [4]market.Time
	volume      market.Qty // the part of the candle's volume that own orders may still take
	takers      []*order   // arrived, not yet matched
	spareTakers []*order
	met         []*order        // triggers of a Book that are met and have not fired yet
	bids, asks  *depth          // of a Book: limit orders that rest; the ladders have triggers alone
	liquidity   liquidityAnchor // of a Book
	lowHit      bool            // an own order waits within the candle below its open …
	topHit      bool            // … and one above: the candle is ambiguous
}

// action is the effect of an entry.
type action uint8

const (
	actFill action = iota + 1 // a resting limit order fills
	actFire                   // a trigger fires
)

// entry is an order that fills or triggers when the price reaches a level.
type entry struct {
	level    market.Price
	sequence int64
	order    *order
	action   action
}

// ladder is a sorted list of entries, the next to be reached last: the highest level of those below
// the price, the lowest of those above, and of equal levels the oldest.
type ladder struct {
	entries []entry
	down    bool // reached by a falling price
}

// reached reports whether a price at p has reached the next entry.
func (l *ladder) reached(p market.Price) bool {
	n := len(l.entries)
	if n == 0 {
		return false
	}
	if l.down {
		return p <= l.entries[n-1].level
	}
	return p >= l.entries[n-1].level
}

// next returns the entry that the price reaches next; the ladder must not be empty.
func (l *ladder) next() *entry { return &l.entries[len(l.entries)-1] }

// queue returns the side of a Book that a limit order rests on.
func (b *book) queue(o *order) *depth {
	if o.Side == market.Buy {
		return b.bids
	}
	return b.asks
}

// empty reports whether nothing waits for the price to move.
func (b *book) empty() bool {
	return len(b.below.entries)+len(b.above.entries) == 0 && b.bids == nil
}

// reached reports whether a price at p reaches anything on one side.
func (b *book) reached(l *ladder, p market.Price) bool {
	return (len(l.entries) > 0 || b.bids != nil) && b.reaches(l, p)
}

// reaches is reached where something may rest.
func (b *book) reaches(l *ladder, p market.Price) bool {
	return l.reached(p) || b.sooner(l, nil, p) != nil
}

// sooner returns the order that a price on its way to p reaches first: the trigger o, or the first
// order of a Book, which the house takes.
func (b *book) sooner(l *ladder, o *order, p market.Price) *order {
	if b.bids == nil || b.liquidity.Levels == 0 {
		return o
	}
	side := b.asks
	if l.down {
		side = b.bids
	}
	first := side.first
	if first == nil || (p > first.price) == l.down && p != first.price {
		return o
	}
	resting := first.first
	if o == nil || o.level == first.price && resting.sequence < o.sequence || o.level != first.price &&
		(o.level < first.price) == l.down {
		return resting
	}
	return o
}

// find returns the place of an entry, or where it belongs.
func (l *ladder) find(level market.Price, sequence int64) int {
	return sort.Search(len(l.entries), func(i int) bool {
		e := &l.entries[i]
		if e.level != level {
			return (e.level > level) == l.down
		}
		return e.sequence <= sequence
	})
}

func (l *ladder) insert(e entry) {
	at := l.find(e.level, e.sequence)
	l.entries = append(l.entries, entry{})
	copy(l.entries[at+1:], l.entries[at:])
	l.entries[at] = e
}

// remove takes out the entry of an order; it must be there.
func (l *ladder) remove(level market.Price, o *order, act action) {
	at := l.find(level, o.sequence)
	for l.entries[at].order != o || l.entries[at].action != act {
		at++
	}
	l.entries = append(l.entries[:at], l.entries[at+1:]...)
}

// side returns the ladder that an order's entry belongs to.
func (b *book) side(o *order) *ladder {
	falling := o.Side == market.Buy // a limit buy waits below, a limit sell above
	if waitsForTrigger(&o.Order) {
		falling = firesBelow(&o.Order)
	}
	if falling {
		return &b.below
	}
	return &b.above
}

// rest enters an order into its ladder, as a limit order or as a waiting trigger.
func (v *Venue) rest(b *book, o *order) {
	act := actFill
	o.level = v.fillLevel(o)
	if waitsForTrigger(&o.Order) {
		act = actFire
		o.level = v.fireLevel(b, &o.Order)
	}
	o.resting = true
	if act == actFill && b.bids != nil {
		b.queue(o).add(o)
		return
	}
	b.enter(b.side(o), entry{level: o.level, sequence: o.sequence, order: o, action: act})
}

// enter inserts an entry and notes whether the present candle reaches it.
func (b *book) enter(l *ladder, e entry) {
	l.insert(e)
	if l.down && e.level >= b.candle.Low {
		b.lowHit = true
	}
	if !l.down && e.level <= b.candle.High {
		b.topHit = true
	}
}

// leave takes an order out of the book.
func (b *book) leave(o *order) {
	if o.resting {
		b.remove(o)
	}
}

func (b *book) remove(o *order) {
	if o.queue != nil {
		b.queue(o).remove(o)
		o.resting = false
		return
	}
	act := actFill
	if waitsForTrigger(&o.Order) {
		act = actFire
	}
	b.side(o).remove(o.level, o, act)
	o.resting = false
}

// fillLevel is the price of the path at which a limit order fills.
func (v *Venue) fillLevel(o *order) market.Price {
	switch {
	case v.config.LimitFill == Touch:
		return o.Price
	case o.Side == market.Buy:
		return o.Price - 1
	}
	return o.Price + 1
}

// waitsForTrigger reports whether the order still waits for its trigger.
func waitsForTrigger(o *market.Order) bool { return o.Type.HasTrigger() && !o.Triggered }

// firesBelow reports whether the order triggers at a price equal to or below its trigger: a stop
// that sells, a take-profit that buys (specification 4.1 rule 3).
func firesBelow(o *market.Order) bool { return o.Type.IsStop() == (o.Side == market.Sell) }

// fireLevel is the price of the path at which the order's reference reaches its trigger.
func (v *Venue) fireLevel(b *book, o *market.Order) market.Price {
	level := o.TriggerAmount
	if v.config.HalfSpread == 0 || o.TriggerReference == market.LastTrade || o.TriggerReference == market.MidPrice {
		return level
	}
	step := market.Price(1)
	if firesBelow(o) {
		step = -1
	}
	half := v.half(level)
	if o.TriggerReference == market.BestAsk {
		half = -half
	}
	level += half
	for !v.fires(o, level) { // the spread at the level differs by a unit or two from that at the trigger
		level += step
	}
	for v.fires(o, level-step) {
		level -= step
	}
	return level
}

// fires reports whether the order's reference has reached its trigger when the path stands at p.
func (v *Venue) fires(o *market.Order, p market.Price) bool {
	reference := p
	switch o.TriggerReference {
	case market.BestBid:
		reference = p - v.half(p)
	case market.BestAsk:
		reference = p + v.half(p)
	}
	if firesBelow(o) {
		return reference <= o.TriggerAmount
	}
	return reference >= o.TriggerAmount
}

// quotes reports whether the reference of the order's trigger comes from a ticker or a Book, not
// from the path.
func (b *book) quotes(o *order) bool {
	return (b.bid != 0 || b.ask != 0 || b.bids != nil) && o.TriggerReference > market.LastTrade
}

// met reports whether the order's reference has reached its trigger where the book stands.
func (v *Venue) met(b *book, o *order) bool {
	if !b.quotes(o) {
		return b.last != 0 && v.fires(&o.Order, b.last)
	}
	var beyond market.Price // the distance of the reference from the trigger; of the middle, twice the distance
	switch o.TriggerReference {
	case market.BestBid:
		beyond = b.bid - o.TriggerAmount
	case market.BestAsk:
		beyond = b.ask - o.TriggerAmount
	default:
		beyond = (b.bid - o.TriggerAmount) + (b.ask - o.TriggerAmount)
	}
	switch {
	case b.bid == 0 && o.TriggerReference != market.BestAsk, b.ask == 0 && o.TriggerReference != market.BestBid:
		return false // that side of the book is empty
	case firesBelow(&o.Order):
		return beyond <= 0
	}
	return beyond >= 0
}

// fireQuoted fires the triggers whose reference a ticker has brought to their price.
func (v *Venue) fireQuoted(b *book) {
	if b.market.Status != market.Trading {
		return
	}
	for _, l := range [...]*ladder{&b.below, &b.above} {
		for at := len(l.entries) - 1; at >= 0 && v.err == nil; at-- {
			if e := &l.entries[at]; e.action == actFire && b.quotes(e.order) && v.met(b, e.order) {
				v.execute(b, e.order, false)
				at = len(l.entries) // its effects may have changed the ladder
			}
		}
	}
}

// half returns half the spread at a price, rounded up.
func (v *Venue) half(p market.Price) market.Price { return exchange.Share(p, v.spread.Half) }
