package indicator

import "github.com/tidemark-trading/tidemark/market"

// Stochastic is where the close lies between the lowest low and the highest high of the last n
// candles, from 0 to 100: the slow stochastic oscillator with %K and %D.
type Stochastic struct {
	channel channel[market.Price]
	places
}

// NewStochastic returns an oscillator over n candles, whose place is averaged over smooth candles
// (%K), and this over signal candles (%D); 14, 3 and 3 are usual. It panics where one of them is
// below 1.
func NewStochastic(n, smooth, signal int) Stochastic {
	return Stochastic{newChannel[market.Price](n), places{newMean(smooth), newMean(signal)}}
}

// Push takes the next candle. It counts as 50 where all prices were equal.
func (s *Stochastic) Push(c market.Candle) {
	if s.channel.push(c.High, c.Low); s.channel.ready() {
		s.push(s.channel.place(c.Close))
	}
}

// Warmup is n+smooth+signal−2.
func (s *Stochastic) Warmup() int { return s.channel.n + s.places.warmup() - 1 }

// StochRSI is a Stochastic of the RSI: where it lies between its lowest and highest value of the
// last n closes, from 0 to 100, with %K and %D.
type StochRSI struct {
	rsi     RSI
	channel channel[float64]
	places
}

// NewStochRSI returns an oscillator of an RSI over length changes, over n values of it; 14, 14, 3
// and 3 are usual. It panics where one of them is below 1.
func NewStochRSI(length, n, smooth, signal int) StochRSI {
	return StochRSI{NewRSI(length), newChannel[float64](n), places{newMean(smooth), newMean(signal)}}
}

// Push takes the next close, which must be positive. It counts as 50 where all values of the RSI
// were equal.
func (s *StochRSI) Push(p market.Price) {
	if s.rsi.Push(p); !s.rsi.Ready() {
		return
	}
	now := s.rsi.Value()
	if s.channel.push(now, now); s.channel.ready() {
		s.push(s.channel.place(now))
	}
}

// Warmup is that of the RSI and the windows after it.
func (s *StochRSI) Warmup() int { return s.rsi.Warmup() + s.channel.n + s.places.warmup() - 2 }

// places are %K, the average of the last places in a channel, and %D, the average of %K.
type places struct{ value, signal mean }

func (s *places) push(place float64) {
	if s.value.push(place); s.value.full {
		s.signal.push(s.value.value)
	}
}

func (s *places) warmup() int { return len(s.value.list) + len(s.signal.list) - 1 }

// Ready reports whether the windows of all three lengths are full.
func (s *places) Ready() bool { return s.signal.full }

// Value is %K.
func (s *places) Value() float64 { return s.value.value }

// Signal is %D.
func (s *places) Signal() float64 { return s.signal.value }

// WilliamsR is Williams' %R: how far the close lies below the highest high of the last n candles,
// from −100 (at the lowest low) to 0.
type WilliamsR struct {
	channel channel[market.Price]
	close   market.Price
}

// NewWilliamsR returns an oscillator over n candles; 14 is usual. It panics where n is below 1.
func NewWilliamsR(n int) WilliamsR { return WilliamsR{channel: newChannel[market.Price](n)} }

// Push takes the next candle.
func (w *WilliamsR) Push(c market.Candle) {
	w.channel.push(c.High, c.Low)
	w.close = c.Close
}

// Ready reports whether n candles were pushed.
func (w *WilliamsR) Ready() bool { return w.channel.ready() }

// Value is the place of the close less 100: −50 where all prices were equal.
func (w *WilliamsR) Value() float64 { return w.channel.place(w.close) - 100 }

// Warmup is n.
func (w *WilliamsR) Warmup() int { return w.channel.n }

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
