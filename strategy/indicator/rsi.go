package indicator

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// RSI is Wilder's relative strength index of the last closes: 100·gain ÷ (gain+loss), where gain
// and loss are Wilder's averages (weight 1/n, started with the mean of the first n changes) of the
// moves up and down.
type RSI struct {
	gain  smooth
	loss  smooth
	last  market.Price
	begun bool
}

// NewRSI returns an index over n changes. It panics where n is below 1.
func NewRSI(n int) RSI { return RSI{gain: wilder(n), loss: wilder(n)} }

// Push takes the next close, or the next value of any series.
func (r *RSI) Push(p market.Price) {
	last, begun := r.last, r.begun
	if r.last, r.begun = p, true; !begun {
		return
	}
	r.gain.push(float64(max(p-last, 0)))
	r.loss.push(float64(max(last-p, 0)))
}

// Ready reports whether n+1 closes were pushed.
func (r *RSI) Ready() bool { return r.gain.ready() }

// still is the part of the price below which the average moves count as 0, as after hundreds of
// equal closes.
const still = 1e-9

// Value is the index, from 0 (only losses) to 100 (only gains). It is 50 where the price stands
// still.
func (r *RSI) Value() float64 {
	moves := r.gain.value + r.loss.value
	if moves <= still*math.Abs(float64(r.last)) {
		return 50
	}
	return 100 * (r.gain.value / moves)
}

// Warmup is about 6.9·n.
func (r *RSI) Warmup() int { return 1 + r.gain.warmup() }
