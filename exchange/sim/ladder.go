package sim

import (
	"math"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// book is one market at the venue: its price and the entries that wait for the price to move.
type book struct {
	market *market.Market
	spread exchange.Spread
	path
	quote
	watcher
	missing misses
	volume  market.Qty // the part of the candle's volume that own orders may still take

	movement int64 // the latest Advance that moved it

	below, above ladder // entries for a price that falls to, or rises to, a level

	waiting  int    // commands that have not arrived
	attached bool   // some of them may act inside the path
	placed   uint64 // orders so far
	filled   uint64 // fills so far

	quietLow, quietHigh market.Price // a candle between these, exclusive, has no effect

	takers, spareTakers []*order // arrived, not yet matched

	bids, asks *depth   // of a Book: limit orders that rest; the ladders have triggers alone
	met        []*order // triggers of a Book that are met and have not fired yet
	house      house    // of a Book

	shown          *shown // the recorded book; nil: the path alone
	tradesRecorded bool   // a trade has come: a ticker's last price is not one more
}

// path is where the price of a market stands, and the points between which it moves.
type path struct {
	last   market.Price
	time   market.Time // of the path, as far as it has been walked
	leg    int         // the point that the path is walking to
	candle market.Candle
	points [4]market.Price
	times  [4]market.Time
	lowHit bool // an own order waits within the candle below its open …
	topHit bool // … and one above: the candle is ambiguous
}

// quote has the prices of a market from a ticker or a book.
type quote struct {
	bid, ask market.Price // 0: made from the path and the spread
	stands   bool         // the latest movement was a ticker or a trade: its price stands until the next one
}

// watcher knows which watched prices of a market the engine has been told of.
type watcher struct {
	watch    *market.Watch   // prices that the engine wants events of
	notified [2]market.Price // of the latest events in this movement; 0: none
}

// ladder is the orders that wait for the price on one side of it: limit orders that fill there, and
// triggers that fire.
type ladder struct {
	level            market.Price // of the next entry; without one a level that no price reaches
	down             bool         // reached by a falling price
	limits, triggers *entries
	quoted           int // triggers on bid, ask or their middle
}

func newLadder(down bool) ladder {
	l := ladder{down: down, limits: &entries{}, triggers: &entries{}}
	l.setLevel()
	return l
}

// setLevel updates the level of the next entry.
func (l *ladder) setLevel() {
	l.level = math.MaxInt64
	if l.down {
		l.level = math.MinInt64
	}
	for _, list := range [...]*entries{l.limits, l.triggers} {
		if next := list.next(); next != nil && (next.level > l.level) == l.down {
			l.level = next.level
		}
	}
}

// reached reports whether a price at p has reached the next entry.
func (l *ladder) reached(p market.Price) bool {
	if l.down {
		return p <= l.level
	}
	return p >= l.level
}

// passes reports whether a price at p has reached a level.
func (l *ladder) passes(level, p market.Price) bool { return level == p || (p < level) == l.down }

// within returns an entry if a price at p has reached it, or nil.
func (l *ladder) within(e *entry, p market.Price) *entry {
	if e == nil || !l.passes(e.level, p) {
		return nil
	}
	return e
}

// list returns the entries that an order belongs to.
func (l *ladder) list(o *order) *entries {
	if waitsForTrigger(&o.Order) {
		return l.triggers
	}
	return l.limits
}

// insert adds an order at its level.
func (l *ladder) insert(o *order) {
	list := l.list(o)
	if list == l.triggers && o.TriggerReference > market.LastTrade {
		l.quoted++
	}
	list.insert(entry{level: o.level, sequence: o.sequence, order: o}, l.down)
	l.setLevel()
}

// remove takes an order out; it must be there.
func (l *ladder) remove(o *order) {
	list := l.list(o)
	if list == l.triggers && o.TriggerReference > market.LastTrade {
		l.quoted--
	}
	list.remove(entry{level: o.level, sequence: o.sequence, order: o}, l.down)
	l.setLevel()
}

// queue returns the side of a Book that a limit order rests on.
func (b *book) queue(o *order) *depth {
	if o.Side == market.Buy {
		return b.bids
	}
	return b.asks
}

// empty reports whether nothing waits for the price to move.
func (b *book) empty() bool {
	return b.below.level == math.MinInt64 && b.above.level == math.MaxInt64 && b.bids == nil
}

// reachedInBook reports whether a price at p reaches an order of a Book that the house takes.
func (b *book) reachedInBook(l *ladder, p market.Price) bool { return b.sooner(l, nil, p) != nil }

// sooner returns the order that a price on its way to p reaches first: the trigger o, or the first
// order of a Book, which the house takes.
func (b *book) sooner(l *ladder, o *order, p market.Price) *order {
	if b.bids == nil || b.house.Levels == 0 {
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
	if resting.missed && p == first.price {
		if resting = first.unmissed(); resting == nil {
			return o
		}
	}
	if o == nil || o.level == first.price && resting.sequence < o.sequence || o.level != first.price &&
		(o.level < first.price) == l.down {
		return resting
	}
	return o
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
func (v *matching) rest(b *book, o *order) {
	o.resting, o.missed = true, false
	switch waits := waitsForTrigger(&o.Order); {
	case waits:
		o.level = b.fireLevel(&o.Order)
	default:
		o.level = v.config.LimitFill.level(o)
		if b.bids != nil {
			b.queue(o).add(o)
			return
		}
		o.rank = nil
		if b.shown != nil {
			b.joinQueue(o)
		}
	}
	b.enter(b.side(o), o)
}

// enter adds an order to a ladder and notes whether the present candle reaches it.
func (b *book) enter(l *ladder, o *order) {
	l.insert(o)
	if l.down && o.level >= b.candle.Low {
		b.lowHit = true
	}
	if !l.down && o.level <= b.candle.High {
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
	} else {
		b.side(o).remove(o)
	}
	o.resting = false
}

// level is the price of the path at which a limit order fills.
func (l LimitFill) level(o *order) market.Price {
	switch {
	case l == Touch:
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
func (b *book) fireLevel(o *market.Order) market.Price {
	level := o.TriggerAmount
	if b.spread.Half == 0 || o.TriggerReference == market.LastTrade || o.TriggerReference == market.MidPrice {
		return level
	}
	step := market.Price(1)
	if firesBelow(o) {
		step = -1
	}
	half := b.half(level)
	if o.TriggerReference == market.BestAsk {
		half = -half
	}
	level += half
	for !b.fires(o, level) { // the spread at the level differs by a unit or two from that at the trigger
		level += step
	}
	for b.fires(o, level-step) {
		level -= step
	}
	return level
}

// fires reports whether the order's reference has reached its trigger when the path stands at p.
func (b *book) fires(o *market.Order, p market.Price) bool {
	reference := p
	switch o.TriggerReference {
	case market.BestBid:
		reference = p - b.half(p)
	case market.BestAsk:
		reference = p + b.half(p)
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

// isMet reports whether the order's reference has reached its trigger where the book stands.
func (b *book) isMet(o *order) bool {
	if !b.quotes(o) {
		return b.last != 0 && b.fires(&o.Order, b.last)
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
func (v *matching) fireQuoted(b *book) {
	if b.market.Status != market.Trading {
		return
	}
	for _, l := range [...]*ladder{&b.below, &b.above} {
		for v.err == nil && l.quoted > 0 {
			o := b.quotedMet(l)
			if o == nil {
				break
			}
			v.execute(b, o, false) // its effects may change the ladder
		}
	}
}

// quotedMet returns the first trigger whose reference a ticker has brought to its price, or nil.
func (b *book) quotedMet(l *ladder) *order {
	for e := range l.triggers.nearest {
		if b.quotes(e.order) && b.isMet(e.order) {
			return e.order
		}
	}
	return nil
}

// half returns half the spread at a price, rounded up.
func (b *book) half(p market.Price) market.Price { return exchange.Share(p, b.spread.Half) }

// HalfSpread returns half the distance between bid and ask at a price, rounded up.
func (v *Venue) HalfSpread(p market.Price) market.Price {
	return exchange.Share(p, v.config.HalfSpread)
}
