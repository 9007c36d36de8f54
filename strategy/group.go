package strategy

import "github.com/tidemark-trading/tidemark/market"

// GroupHandler gets the candles of the main interval that closed at one instant together, after
// OnCandle has had each of them: once, when all markets of the strategy have closed. A market
// without a trade has no candle. A backtest knows that at once; a live bot waits GroupGrace after
// the first candle. A candle that comes later still gets OnCandle, and no second group.
type GroupHandler interface {
	OnCandles(d *Desk, g Group)
}

// GroupGrace is how long a live bot waits, after the first candle of an instant, for those of the
// other markets.
const GroupGrace = market.Duration(5e9)

// Group is the candles of the main interval that closed at one instant. Its slices are the
// strategy's until OnCandles returns.
type Group struct {
	End     market.Time     // of its candles, exclusive
	Candles []market.Candle // in the order in which they came
	Missing []market.ID     // members without a trade in the interval, or whose candle is late
	Warming []market.ID     // markets in their warm-up: asks are refused there, and Rebalance keeps their units
}

// In returns the group's candle of a market, and whether it has one.
func (g Group) In(m market.ID) (c market.Candle, found bool) {
	for i := range g.Candles {
		if g.Candles[i].Market == m {
			return g.Candles[i], true
		}
	}
	return market.Candle{}, false
}
