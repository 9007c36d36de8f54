package smacross

import "github.com/tidemark-trading/tidemark/market"

// Skip uses candles up to the next cross, many at once, for speed alone: without it, OnCandle gets
// them, and a candle of a search costs twice as much. It is a strategy.Skipper.
func (x *smaCross) Skip(series []market.Candle) (used int) {
	return x.cross.In(series[0].Market).Skip(series)
}
