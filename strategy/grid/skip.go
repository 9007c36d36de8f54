package grid

import "github.com/tidemark-trading/tidemark/market"

// Skip uses candles at whose close no rung waits for anything, for speed alone: OnCandle would do
// the same. It is a strategy.Skipper.
func (g *grid) Skip(series []market.Candle) (used int) {
	l := g.In(series[0].Market)
	for !l.poor && used < len(series) && l.calm(series[used].Close) {
		used++
	}
	return used
}
