package indicator

import "github.com/tidemark-trading/tidemark/market"

// VWAP is the average price of the last n candles, weighted by volume; a candle's price is
// (high+low+close) ÷ 3.
type VWAP struct {
	ring   []traded
	at     uint
	value  uint128 // Σ 3·price·volume
	volume market.Volume
	full   bool
}

type traded struct {
	price3 market.Price // high+low+close
	volume market.Volume
}

// NewVWAP returns an average over n candles. It panics where n is below 1.
func NewVWAP(n int) VWAP { return VWAP{ring: make([]traded, window(n))} }

// Push takes the next candle.
func (v *VWAP) Push(c market.Candle) {
	old := v.ring[v.at]
	now := traded{c.High + c.Low + c.Close, c.Volume}
	v.ring[v.at] = now
	v.volume += now.volume - old.volume
	v.value = v.value.plus(product(now.price3, now.volume)).minus(product(old.price3, old.volume))
	if v.at++; v.at == uint(len(v.ring)) {
		v.at, v.full = 0, true
	}
}

// Ready reports whether n candles were pushed and something was traded in one of them.
func (v *VWAP) Ready() bool { return v.full && v.volume > 0 }

// Value is the average, or 0 where nothing was traded.
func (v *VWAP) Value() float64 {
	if v.volume == 0 {
		return 0
	}
	return v.value.float() / 3 / float64(v.volume)
}

// Warmup is n.
func (v *VWAP) Warmup() int { return len(v.ring) }
