package risk

import (
	"github.com/tidemark-trading/tidemark/market"
)

// closesKept is how many closes of a market are kept: those of keptReturns complete intervals, and
// the close of the interval that has begun.
const closesKept = keptReturns + 2

// closes are the latest closes of a market on a grid of one interval. The close at a point of the
// grid is that of the latest candle, of any interval, that has closed by then.
type closes struct {
	end         market.Time // of the latest candle; 0: none yet
	first, last int64       // numbers of the oldest and newest points (market.Interval.Index)
	prices      [closesKept]market.Price
}

func (c *closes) at(point int64) *market.Price { return &c.prices[point%closesKept] }

// add takes a close of a time. Closes that come later than newer ones, or twice, change nothing.
func (c *closes) add(grid market.Interval, end market.Time, price market.Price) {
	if end <= c.end || price <= 0 {
		return
	}
	point := grid.Index(end)
	if !grid.Aligned(end) {
		point++
	}
	if c.end == 0 || point-c.last >= closesKept {
		c.first = point
	} else {
		for missing := c.last + 1; missing < point; missing++ { // no trade: the price stays
			*c.at(missing) = *c.at(c.last)
		}
	}
	*c.at(point) = price
	c.end, c.last, c.first = end, point, max(c.first, point-closesKept+1)
}

// returns is the number of returns that are known at a point of the grid.
func (c *closes) returns(now int64) int {
	if c.end == 0 {
		return 0
	}
	return int(min(keptReturns, max(0, now-c.first)))
}

// price is the close at a known point of the grid, or the latest one before.
func (c *closes) price(point int64) float64 { return float64(*c.at(min(point, c.last))) }

// back is the return that ended so many intervals before a point of the grid.
func (c *closes) back(now int64, ago int) float64 {
	point := now - int64(ago)
	return c.price(point)/c.price(point-1) - 1
}
