package sim

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// QuietRange returns the prices between which a candle of a market is quiet, which means without
// effect: a candle with low < Low and High < high needs no Advance, only SkipTo. No candle is quiet
// while a command is on its way, a stop follows prices, or a tactic is under way.
func (v *Venue) QuietRange(id market.ID) (low, high market.Price) {
	b := &v.books[id]
	low, high = b.quietLow, b.quietHigh
	if w := b.watch; w.Any() {
		if w.Peak != 0 || w.Open || w.Tactic {
			return math.MaxInt64, math.MinInt64
		}
		if low = max(low, w.Below); w.Above != 0 {
			high = min(high, w.Above)
		}
	}
	return low, high
}

// SkipTo moves a market to the close of the last of some quiet candles.
func (v *Venue) SkipTo(c *market.Candle) { v.books[c.Market].last = c.Close }

// inQuietRange is quiet for most quiet candles, at the cost of a few comparisons.
func (b *book) inQuietRange(c *market.Candle) bool {
	return c.Low > b.quietLow && c.High < b.quietHigh && !b.watch.Any()
}

// idle reports whether nothing waits for a price: no command, entry or watch, and no Book.
func (b *book) idle() bool { return b.waiting == 0 && b.empty() && !b.watch.Any() }

// quiet reports whether a candle has no effect: no command, entry or watch waits for its prices.
func (b *book) quiet(c *market.Candle) bool {
	return b.waiting == 0 && c.Low > b.below.level && c.High < b.above.level && !b.watched(c) &&
		(b.bids == nil || !b.reachedInBook(&b.below, c.Low) && !b.reachedInBook(&b.above, c.High))
}

// setQuietRange ends a movement: it computes the prices that QuietRange returns.
func (b *book) setQuietRange() {
	if len(b.missing.orders) > 0 {
		b.forgetMissed()
	}
	b.quietLow = math.MinInt64
	if b.waiting > 0 || b.bids != nil || b.shown != nil {
		b.quietLow = math.MaxInt64
	}
	b.quietLow, b.quietHigh = max(b.quietLow, b.below.level), b.above.level
}
