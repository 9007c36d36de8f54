package sim

import (
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// misses reports whether touches of its price do not fill a resting limit order that the price has
// reached, and notes it: until the end of the movement the order waits for the next price beyond
// its own. An order has one draw for each movement, whatever reaches it and in whichever order.
func (v *Venue) misses(b *book, o *order) bool {
	if o.missed || !v.drawMiss(b, o.ID) {
		return false
	}
	o.missed = true
	b.missed = append(b.missed, o)
	b.moveEntry(o, o.Price+beyondStep(o.Side))
	return true
}

// beyondStep is the way from the price of a resting order to the next price beyond it.
func beyondStep(side market.Side) market.Price {
	if side == market.Buy {
		return -1
	}
	return 1
}

// moveEntry gives the entry of an order another level. In a Book it keeps its place in the queue.
func (b *book) moveEntry(o *order, level market.Price) {
	if b.bids != nil {
		o.level = level
		return
	}
	l := b.side(o)
	l.remove(o)
	o.level = level
	l.insert(o)
}

// forgetMissed lets the next movement's touches fill again.
func (b *book) forgetMissed() {
	for _, o := range b.missed {
		if o.missed && o.resting {
			b.moveEntry(o, o.Price)
		}
		o.missed = false
	}
	b.missed = b.missed[:0]
}

// drawMiss draws, by a hash of seed, order and time of the movement: of a candle its start, of a
// ticker or trade by Config.DrawEvery.
func (v *Venue) drawMiss(b *book, id market.OrderID) bool {
	const whole = 100_000_000 // of a market.Rate
	draw := mix(mix(mix(v.config.MissSeed)^uint64(id)) ^ uint64(v.drawnAt(b)))
	part, _ := bits.Mul64(draw, whole)
	return part < uint64(b.missing)
}

// mix is the step of the generator SplitMix64 (Steele, Lea & Flood 2014) as a hash.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// MissTouches sets Config.MissProbability in a market, and Config.MissSeed, from the next movement
// on.
func (v *Venue) MissTouches(id market.ID, probability market.Rate, seed uint64) {
	v.books[id].missing, v.config.MissSeed = probability, seed
}

// unmissed returns the first of a level's orders that a price which only touches the level fills,
// or nil.
func (l *level) unmissed() *order {
	o := l.first
	for o != nil && o.missed {
		o = o.next
	}
	return o
}
