package sim

import (
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// misses is the touches of a market that fill nothing.
type misses struct {
	chance market.Rate // Config.MissProbability, or that of MissTouches
	seed   uint64
	every  market.Duration // Config.DrawEvery
	orders []*order        // touched in this movement without being filled
}

// misses reports whether touches of its price do not fill a resting limit order that the price has
// reached, and notes it: until the end of the movement the order waits for the next price beyond
// its own. An order has one draw for each movement, whatever reaches it and in whichever order.
func (b *book) misses(o *order) bool {
	if o.missed || !b.drawMiss(o.ID) {
		return false
	}
	o.missed = true
	b.missing.orders = append(b.missing.orders, o)
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
	for _, o := range b.missing.orders {
		if o.missed && o.resting {
			b.moveEntry(o, o.Price)
		}
		o.missed = false
	}
	b.missing.orders = b.missing.orders[:0]
}

// drawMiss draws, by a hash of seed, order and time of the movement: of a candle its start, of a
// ticker or trade by Config.DrawEvery.
func (b *book) drawMiss(id market.OrderID) bool {
	const whole = 100_000_000 // of a market.Rate
	draw := mix(mix(mix(b.missing.seed)^uint64(id)) ^ uint64(b.drawnAt()))
	part, _ := bits.Mul64(draw, whole)
	return part < uint64(b.missing.chance)
}

// mix is the step of the generator SplitMix64 (Steele, Lea & Flood 2014) as a hash.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// MissTouches sets Config.MissProbability and Config.MissSeed in a market, from the next movement
// on.
func (v *Venue) MissTouches(id market.ID, probability market.Rate, seed uint64) {
	v.books[id].missing.chance, v.books[id].missing.seed = probability, seed
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
