package indicator

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// EMA is the exponential moving average of weight 2/(n+1), which starts with the simple average of
// the first n prices.
type EMA struct {
	line
	smooth smooth
}

// NewEMA returns an average of n prices. It panics where n is below 1.
func NewEMA(n int) EMA { return EMA{smooth: exponential(n)} }

// Push takes the next price.
func (e *EMA) Push(p market.Price) {
	e.smooth.push(float64(p))
	e.level = Level(e.smooth.value)
}

// Ready reports whether n prices were pushed.
func (e *EMA) Ready() bool { return e.smooth.ready() }

// Warmup is about 3.5·n.
func (e *EMA) Warmup() int { return e.smooth.warmup() }

// smooth is an exponential average: it moves towards each new value by a weight. Its start is the
// mean of the first n.
type smooth struct {
	weight float64
	value  float64
	seen   int // up to n
	n      int
}

// exponential is the average that is usual over n values.
func exponential(n int) smooth { return smooth{n: window(n), weight: 2 / float64(n+1)} }

// wilder is Wilder's average, of weight 1/n.
func wilder(n int) smooth { return smooth{n: window(n), weight: 1 / float64(n)} }

// push adds a value. It rounds the product before the sum by converting it: a processor that fuses
// the product and the sum would print other results.
func (s *smooth) push(x float64) {
	if s.seen == s.n {
		s.value += float64(s.weight * (x - s.value))
		return
	}
	s.seen++
	s.value += (x - s.value) / float64(s.seen)
}

func (s *smooth) ready() bool { return s.seen == s.n }

func (s *smooth) warmup() int { return decayed(1 - s.weight) }

// forgotten is the weight below which the past does not count (see the package comment).
const forgotten = 1e-3

// decayed is the number of pushes after which an average that keeps the part `kept` of itself at
// each has forgotten its start.
func decayed(kept float64) int {
	if kept <= 0 {
		return 1
	}
	return int(math.Ceil(math.Log(forgotten) / math.Log(kept)))
}

// cascade pushes a value into the first average, what that gives into the second, and so on. An
// average begins when the one before it has its start.
func cascade(stages []smooth, x float64) {
	for i := range stages {
		s := &stages[i]
		if s.push(x); !s.ready() {
			return
		}
		x = s.value
	}
}

// chained is the warm-up of such averages: the number of pushes after which they have forgotten
// their start together.
func chained(stages ...*smooth) (pushes int) {
	weights := make([]float64, len(stages)) // of the start that is still in each average
	for left := 1.0; left >= forgotten; pushes++ {
		if pushes == 0 {
			weights[0] = 1
		}
		moved := 0.0
		for i, s := range stages {
			weights[i] += moved
			moved = weights[i] * s.weight
			weights[i] -= moved
		}
		left -= moved
	}
	return pushes
}
