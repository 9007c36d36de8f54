package sim

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// Calm returns the prices between which a candle of a market does nothing to anybody: one with low
// < Low and High < high needs no Advance, only Pass. An order in flight leaves no such candle.
func (v *Venue) Calm(id market.ID) (low, high market.Price) {
	b := &v.books[id]
	if *b.watch != (market.Watch{}) {
		return math.MaxInt64, math.MinInt64
	}
	return b.calmLow, b.calmHigh
}

// Pass moves a market to the close of the last of some calm candles.
func (v *Venue) Pass(c *market.Candle) { v.books[c.Market].last = c.Close }

// quiet reports whether nobody waits for anything that a candle does.
func (b *book) quiet(c *market.Candle) bool {
	return b.waiting == 0 && !b.reached(&b.below, c.Low) && !b.reached(&b.above, c.High) && !b.watched(c)
}

// calm works out between which prices a candle is quiet, for Pass.
func (b *book) calm() {
	b.calmLow, b.calmHigh = math.MinInt64, math.MaxInt64
	if b.waiting > 0 || b.bids != nil {
		b.calmLow = math.MaxInt64
	}
	if len(b.below.entries) > 0 {
		b.calmLow = max(b.calmLow, b.below.next().level)
	}
	if len(b.above.entries) > 0 {
		b.calmHigh = b.above.next().level
	}
}
