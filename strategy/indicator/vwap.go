package indicator

import "github.com/tidemark-trading/tidemark/market"

// VWAP is the average price of the last n candles, weighted by volume; a candle's price is
// (high+low+close) ÷ 3. It is 0 where nothing was traded.
type VWAP struct {
	line
	sums  byVolume
	limit limit
}

// NewVWAP returns an average over n candles. It panics where n is below 1.
func NewVWAP(n int) VWAP { return VWAP{sums: newByVolume(n), limit: room(3 * n)} }

// Push takes the next candle. It panics if the sum of 3·n such prices overflows an int64.
func (v *VWAP) Push(c market.Candle) {
	v.limit.hold(c.High)
	v.level = v.sums.push(typical3(c), c.Volume) / 3
}

// Ready reports whether n candles were pushed and something was traded in one of them.
func (v *VWAP) Ready() bool { return v.sums.ready() }

// Warmup is n.
func (v *VWAP) Warmup() int { return len(v.sums.list) }

// VWMA is the average of the last n closes, weighted by volume. It is 0 where nothing was
// traded.
type VWMA struct {
	line
	sums  byVolume
	limit limit
}

// NewVWMA returns an average over n candles. It panics where n is below 1.
func NewVWMA(n int) VWMA { return VWMA{sums: newByVolume(n), limit: room(n)} }

// Push takes the next candle. It panics if the sum of n such prices overflows an int64.
func (v *VWMA) Push(c market.Candle) {
	v.limit.hold(c.Close)
	v.level = v.sums.push(c.Close, c.Volume)
}

// Ready reports whether n candles were pushed and something was traded in one of them.
func (v *VWMA) Ready() bool { return v.sums.ready() }

// Warmup is n.
func (v *VWMA) Warmup() int { return len(v.sums.list) }

// typical3 is three times the typical price of a candle.
func typical3(c market.Candle) market.Price { return c.High + c.Low + c.Close }

// byVolume is the average of a window of prices, weighted by volume.
type byVolume struct {
	ring[traded]
	value  int128 // Σ price·volume
	volume int128
}

type traded struct {
	price  market.Price
	volume market.Volume
}

func newByVolume(n int) byVolume { return byVolume{ring: newRing[traded](n)} }

// push adds a price and returns the average.
func (b *byVolume) push(p market.Price, v market.Volume) Level {
	old := b.ring.push(traded{p, v})
	b.volume = b.volume.plus(wide(v)).minus(wide(old.volume))
	b.value = b.value.plus(product(p, v)).minus(product(old.price, old.volume))
	if b.volume == (int128{}) {
		return 0
	}
	return Level(b.value.float() / b.volume.float())
}

func (b *byVolume) ready() bool { return b.full && b.volume != (int128{}) }
