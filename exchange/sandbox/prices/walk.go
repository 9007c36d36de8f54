package prices

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// randomWalk turns candles into movements: trades that, put together, are the candle again. It
// visits open, one extreme, the other and close, with steps around the straight way between them;
// amounts are drawn, and their sum is the candle's volume. A candle's movements depend on the seed
// and the candle alone.
//
// Known limitation: a candle with fewer units of volume than different prices among its four shows
// less than all of them, and one without volume moves the price without a trade.
type randomWalk struct {
	market *market.Market
	seed   uint64
	step   market.Duration // between two movements, on average
	random rand.PCG

	candle     market.Candle
	start, end market.Time // of the candle, in the exchange's time
	unit       market.Qty  // in which the volume is shared out
	units      int64
	rest       market.Qty // below a unit; the last movement has it
	weights    []uint32   // of the movements' amounts
	weight     uint64     // of all
	passed     uint64     // weight of the movements that are done
	given      int64      // units that were given for passed
	corners    [4]corner  // prices that are visited
	count      int        // of corners
	next       int        // movement
	last       market.Price
	side       market.Side
}

// corner is one of the candle's prices and the movement that shows it.
type corner struct {
	price market.Price
	at    int
}

// maxMovements is how many movements a candle has at most.
const maxMovements = 100_000

// newRandomWalk returns a walk whose movements are step apart; 0: a second.
func newRandomWalk(m *market.Market, seed uint64, step market.Duration) (*randomWalk, error) {
	step = cmp.Or(step, time.Second)
	if step < time.Millisecond {
		return nil, fmt.Errorf("%s: step %s between movements: want a millisecond at least", m.Name, step)
	}
	return &randomWalk{market: m, seed: seed, step: step}, nil
}

// begin lays out a candle that lasts from start to end, at least four ns, and in which volume is
// traded.
func (w *randomWalk) begin(c *market.Candle, volume market.Qty, start, end market.Time) {
	w.candle, w.start, w.end = *c, start, end
	w.random.Seed(w.seed, uint64(start))
	w.unit = smallest(w.market)
	if volume < 4*w.unit {
		w.unit = 1
	}
	w.units, w.rest = int64(volume/w.unit), volume%w.unit
	n := min(max(4, int64(end.Sub(start)/w.step)), maxMovements, int64(end-start))
	if w.units > 0 {
		n = min(n, w.units)
	}
	w.share(int(n))
	w.placeCorners(int(n))
	w.next = 0
	w.last, w.side = c.Open, market.Buy
}

// share draws the part of the volume of each of n movements.
func (w *randomWalk) share(n int) {
	w.weights, w.weight, w.passed, w.given = w.weights[:0], 0, 0, 0
	for range n {
		r := w.random.Uint64()
		part := uint32(r>>40)>>(r&7) + 1 // many small ones and a few that are large
		w.weights = append(w.weights, part)
		w.weight += uint64(part)
	}
}

// placeCorners decides which of n movements show the candle's prices.
func (w *randomWalk) placeCorners(n int) {
	c := &w.candle
	middle := [2]market.Price{c.Low, c.High}
	if c.Close < c.Open || c.Close == c.Open && w.random.Uint64()&1 == 0 {
		middle[0], middle[1] = middle[1], middle[0]
	}
	w.count = 0
	w.corner(c.Open, 0)
	if n >= 4 {
		first := 1 + w.below(n-3)
		w.corner(middle[0], first)
		w.corner(middle[1], first+1+w.below(n-2-first))
	} else {
		for _, price := range middle { // few movements: only the prices that open and close do not show
			if price != c.Open && price != c.Close && w.count < n-1 {
				w.corner(price, w.count)
			}
		}
	}
	if n > 1 || c.Close != c.Open {
		w.corner(c.Close, n-1)
	}
}

// corner adds a price; at the movement of the last price it replaces that.
func (w *randomWalk) corner(price market.Price, at int) {
	if w.count > 0 && w.corners[w.count-1].at >= at {
		w.count--
	}
	w.corners[w.count] = corner{price, at}
	w.count++
}

// below draws a number from 0 to n-1.
func (w *randomWalk) below(n int) int {
	hi, _ := bits.Mul64(w.random.Uint64(), uint64(n))
	return int(hi)
}

// move writes the candle's next movement and reports whether there is one.
func (w *randomWalk) move(m *Movement) bool {
	n := len(w.weights)
	if w.next >= n {
		return false
	}
	slot := uint64(w.end-w.start) / uint64(n) // n is at most the candle's nanoseconds
	jitter, _ := bits.Mul64(w.random.Uint64(), slot)
	m.At = w.start + market.Time(slot*uint64(w.next)+jitter)
	m.Price = w.price()
	m.Amount = w.amount(n)
	if m.Price != w.last {
		w.side = market.Buy
		if m.Price < w.last {
			w.side = market.Sell
		}
	} else if w.random.Uint64()&3 == 0 {
		w.side = w.side.Opposite()
	}
	m.Side = w.side
	w.last = m.Price
	w.next++
	return true
}

// price is a corner's, or one near the way from the last corner to the next: at most an eighth of
// the candle's height beside it.
func (w *randomWalk) price() market.Price {
	to := 0
	for w.corners[to].at < w.next {
		to++
	}
	if w.corners[to].at == w.next {
		return w.corners[to].price
	}
	a, b := w.corners[to-1], w.corners[to]
	way := b.price - a.price
	length, done := market.Price(b.at-a.at), market.Price(w.next-a.at)
	price := a.price + way/length*done + way%length*done/length
	height := w.candle.High - w.candle.Low
	noise, _ := bits.Mul64(w.random.Uint64(), uint64(height/4)+1)
	price = market.FloorTo(price+market.Price(noise)-height/8, w.market.TickSize)
	return min(max(price, w.candle.Low), w.candle.High)
}

// amount is the next of n movements' part of the volume: a unit at least.
func (w *randomWalk) amount(n int) market.Qty {
	if w.units == 0 {
		return 0
	}
	w.passed += uint64(w.weights[w.next])
	hi, lo := bits.Mul64(uint64(w.units)-uint64(n), w.passed)
	upTo, _ := bits.Div64(hi, lo, w.weight) // passed is at most weight: it fits
	units := int64(upTo) - w.given + 1
	w.given = int64(upTo)
	amount := w.unit * market.Qty(units)
	if w.next == n-1 {
		amount += w.rest
	}
	return amount
}
