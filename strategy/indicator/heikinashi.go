package indicator

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// HeikinAshi makes smoother candles: the close is the mean of the four prices, the open is the
// middle of the body before, and high and low include both.
type HeikinAshi struct {
	open, high, low, close Level
	last                   market.Candle
}

// NewHeikinAshi returns the smoother candles.
func NewHeikinAshi() HeikinAshi { return HeikinAshi{} }

// Push takes the next candle.
func (h *HeikinAshi) Push(c market.Candle) {
	open := (h.open + h.close) / 2
	if h.last.Close == 0 {
		open = (Level(c.Open) + Level(c.Close)) / 2
	}
	h.open, h.close = open, (Level(c.Open)+Level(c.High)+Level(c.Low)+Level(c.Close))/4
	h.high, h.low = max(Level(c.High), h.open, h.close), min(Level(c.Low), h.open, h.close)
	h.last = c
}

// Ready reports whether a candle was pushed.
func (h *HeikinAshi) Ready() bool { return h.last.Close != 0 }

// Open is the middle of the body of the smoother candle before; of the first one, its own.
func (h *HeikinAshi) Open() Level { return h.open }

// High is the highest of the candle's high, Open and Close.
func (h *HeikinAshi) High() Level { return h.high }

// Low is the lowest of the candle's low, Open and Close.
func (h *HeikinAshi) Low() Level { return h.low }

// Close is the mean of the candle's four prices.
func (h *HeikinAshi) Close() Level { return h.close }

// Candle is the last candle with these prices, rounded to whole price units: for other indicators.
func (h *HeikinAshi) Candle() market.Candle {
	c := h.last
	c.Open, c.High, c.Low, c.Close = h.open.rounded(), h.high.rounded(), h.low.rounded(), h.close.rounded()
	return c
}

func (l Level) rounded() market.Price { return market.Price(math.Round(float64(l))) }

// Warmup is 11: an open keeps half of the one before.
func (h *HeikinAshi) Warmup() int { return 1 + decayed(0.5) }
