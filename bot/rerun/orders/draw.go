package orders

import (
	"math"
	"math/rand/v2"
	"slices"
)

// draws is how often orders are drawn again for an interval.
const draws = 400

// Draw measures orders that are drawn from these with replacement: one value of what other orders
// of the same market might have said.
func (m *Measured) Draw(random *rand.Rand) Values {
	costs, waits := drawn(random, m.Costs), drawn(random, m.Waits)
	v := valuesOf(costs, waits, m.latency(0.5))
	if p, _, candles := hazard(waits); candles > 0 && !math.IsNaN(m.Values().Fill) {
		v.Fill = p // also where fewer fills were drawn than a first measurement needs
	}
	return v
}

func drawn[T any](random *rand.Rand, from []T) []T {
	all := make([]T, len(from))
	for i := range all {
		all[i] = from[random.IntN(len(from))]
	}
	return all
}

// Intervals are the bounds that hold four fifths of the draws of each assumption.
func (m *Measured) Intervals() (low, high Values) {
	random := rand.New(rand.NewPCG(1, uint64(len(m.Costs))))
	var half, slip, fill []float64
	for range draws {
		v := m.Draw(random)
		half, slip, fill = append(half, v.HalfSpread), append(slip, v.Slippage), append(fill, v.Fill)
	}
	for _, all := range [...][]float64{half, slip, fill} {
		slices.Sort(all)
	}
	low = Values{quantile(half, 0.1), quantile(slip, 0.1), math.NaN(), quantile(fill, 0.1)}
	return low, Values{quantile(half, 0.9), quantile(slip, 0.9), math.NaN(), quantile(fill, 0.9)}
}
