package rules

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Skipping are rules that count the candles that Skip uses; without a counter they have no Skip.
func Skipping(s strategy.Strategy, used *int) strategy.Strategy {
	if used == nil {
		return plain{written: s.(*written)}
	}
	return counting{s.(*written), used}
}

type counting struct {
	*written
	used *int
}

func (c counting) Skip(series []market.Candle) int {
	n := c.written.Skip(series)
	*c.used += n
	return n
}

// plain has two Skips at one depth, and so none.
type plain struct {
	*written
	second
}

type second struct{}

func (second) Skip([]market.Candle) int { return 0 }
