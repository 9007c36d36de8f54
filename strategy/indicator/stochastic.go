package indicator

import "github.com/tidemark-trading/tidemark/market"

// Stochastic is where the close lies between the lowest low and the highest high of the last n
// candles, from 0 to 100: the slow stochastic oscillator with %K and %D.
type Stochastic struct {
	channel       Donchian
	value, signal mean
}

// NewStochastic returns an oscillator over n candles, whose place is averaged over smooth candles
// (%K), and this over signal candles (%D); 14, 3 and 3 are usual. It panics where one of them is
// below 1.
func NewStochastic(n, smooth, signal int) Stochastic {
	return Stochastic{NewDonchian(n), newMean(smooth), newMean(signal)}
}

// Push takes the next candle.
func (s *Stochastic) Push(c market.Candle) {
	if s.channel.Push(c); !s.channel.Ready() {
		return
	}
	low, place := s.channel.Low(), 50.0
	if reach := s.channel.High() - low; reach > 0 {
		place = percent(float64(c.Close-low), float64(reach))
	}
	if s.value.push(place); s.value.full {
		s.signal.push(s.value.value)
	}
}

// Ready reports whether as many candles were pushed as Warmup says.
func (s *Stochastic) Ready() bool { return s.signal.full }

// Value is %K. A candle counts as 50 where all prices were equal.
func (s *Stochastic) Value() float64 { return s.value.value }

// Signal is %D.
func (s *Stochastic) Signal() float64 { return s.signal.value }

// Warmup is n+smooth+signal−2.
func (s *Stochastic) Warmup() int {
	return s.channel.Warmup() + len(s.value.list) + len(s.signal.list) - 2
}

// mean is the average of the last values. Its sum begins anew with each turn of the ring, so that
// roundings do not pile up.
type mean struct {
	ring[float64]
	sum, fresh float64 // of the window; of the values since the turn
	value      float64
}

func newMean(n int) mean { return mean{ring: newRing[float64](n)} }

func (m *mean) push(x float64) {
	m.sum += x - m.ring.push(x)
	m.fresh += x
	if m.at == 0 {
		m.sum, m.fresh = m.fresh, 0
	}
	m.value = m.sum / float64(len(m.list))
}
