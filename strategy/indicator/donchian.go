package indicator

import "github.com/tidemark-trading/tidemark/market"

// Donchian is the channel between the lowest low and the highest high of the last n candles.
type Donchian struct {
	highs, lows ladder
	n, seen     int
}

// NewDonchian returns a channel over n candles. It panics where n is below 1.
func NewDonchian(n int) Donchian {
	return Donchian{highs: newLadder(window(n)), lows: newLadder(n), n: n}
}

// Push takes the next candle. To compare a candle with those before it, read the channel first.
func (d *Donchian) Push(c market.Candle) {
	d.highs.push(c.High, d.seen-d.n)
	d.lows.push(-c.Low, d.seen-d.n)
	d.seen++
}

// Ready reports whether n candles were pushed.
func (d *Donchian) Ready() bool { return d.seen >= d.n }

// High is the highest high, 0 before the first candle.
func (d *Donchian) High() market.Price { return d.highs.top() }

// Low is the lowest low, 0 before the first candle.
func (d *Donchian) Low() market.Price { return -d.lows.top() }

// Warmup is n.
func (d *Donchian) Warmup() int { return d.n }

// ladder keeps the prices of a window that no higher price follows, in falling order: the first is
// the highest.
type ladder struct {
	ring  []rung
	first int
	count int
	next  int // number of the next push
}

type rung struct {
	price  market.Price
	number int
}

func newLadder(n int) ladder { return ladder{ring: make([]rung, n)} }

// push adds a price and drops the pushes numbered up to expired, first: there are at most n rungs.
func (l *ladder) push(p market.Price, expired int) {
	if l.count > 0 && l.ring[l.first].number <= expired {
		l.first = l.wrap(l.first + 1)
		l.count--
	}
	for l.count > 0 && l.ring[l.wrap(l.first+l.count-1)].price <= p {
		l.count--
	}
	l.ring[l.wrap(l.first+l.count)] = rung{p, l.next}
	l.count++
	l.next++
}

func (l *ladder) top() market.Price {
	if l.count == 0 {
		return 0
	}
	return l.ring[l.first].price
}

func (l *ladder) wrap(at int) int {
	if at >= len(l.ring) {
		return at - len(l.ring)
	}
	return at
}
