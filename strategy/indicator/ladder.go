package indicator

import "github.com/tidemark-trading/tidemark/market"

// Highest is the highest of the last n prices.
type Highest struct {
	line
	ladder ladder[market.Price]
}

// NewHighest returns the highest of n prices. It panics where n is below 1.
func NewHighest(n int) Highest { return Highest{ladder: newLadder[market.Price](n)} }

// Push takes the next price.
func (h *Highest) Push(p market.Price) {
	h.ladder.push(p, h.ladder.next-len(h.ladder.ring))
	h.level = Level(h.ladder.top())
}

// Ready reports whether n prices were pushed.
func (h *Highest) Ready() bool { return h.ladder.next >= len(h.ladder.ring) }

// Price is the highest price exactly, 0 before the first.
func (h *Highest) Price() market.Price { return h.ladder.top() }

// Warmup is n.
func (h *Highest) Warmup() int { return len(h.ladder.ring) }

// Lowest is the lowest of the last n prices.
type Lowest struct {
	line
	highest Highest // of the negative prices
}

// NewLowest returns the lowest of n prices. It panics where n is below 1.
func NewLowest(n int) Lowest { return Lowest{highest: NewHighest(n)} }

// Push takes the next price.
func (l *Lowest) Push(p market.Price) {
	l.highest.Push(-p)
	l.level = -l.highest.level
}

// Ready reports whether n prices were pushed.
func (l *Lowest) Ready() bool { return l.highest.Ready() }

// Price is the lowest price exactly, 0 before the first.
func (l *Lowest) Price() market.Price { return -l.highest.Price() }

// Warmup is n.
func (l *Lowest) Warmup() int { return l.highest.Warmup() }

// ladder keeps the values of a window that no higher one follows, in falling order: the first is
// the highest.
type ladder[T market.Price | float64] struct {
	ring  []rung[T]
	first int
	count int
	next  int // number of the next push
}

type rung[T market.Price | float64] struct {
	value  T
	number int
}

func newLadder[T market.Price | float64](n int) ladder[T] {
	return ladder[T]{ring: make([]rung[T], window(n))}
}

// push adds a value and drops the pushes numbered up to expired, first: there are at most n rungs.
func (l *ladder[T]) push(x T, expired int) {
	if l.count > 0 && l.ring[l.first].number <= expired {
		l.first = l.wrap(l.first + 1)
		l.count--
	}
	for l.count > 0 && l.ring[l.wrap(l.first+l.count-1)].value <= x {
		l.count--
	}
	l.ring[l.wrap(l.first+l.count)] = rung[T]{x, l.next}
	l.count++
	l.next++
}

func (l *ladder[T]) top() T {
	if l.count == 0 {
		return 0
	}
	return l.ring[l.first].value
}

// ago is how many pushes ago the highest value came, the last one of equals.
func (l *ladder[T]) ago() int {
	if l.count == 0 {
		return 0
	}
	return l.next - 1 - l.ring[l.first].number
}

func (l *ladder[T]) wrap(at int) int {
	if at >= len(l.ring) {
		return at - len(l.ring)
	}
	return at
}
