package orders

import (
	"cmp"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Cost is what an order that met the market paid, in basis points of the middle price at its
// decision. Delay, HalfSpread and Slippage add up to Total.
type Cost struct {
	Delay      float64 // the middle price moved before the order arrived
	HalfSpread float64 // from the middle price to the best price on the other side at arrival
	Slippage   float64 // past that price
	Total      float64
	Weight     float64 // amount × price of its fills, in quote
}

// costOf splits the price of a fill. Prices are in one unit, whichever; d is the middle price at
// the decision.
func costOf(side market.Side, d, bid, ask, fill float64) Cost {
	sign, best := 1.0, ask
	if side == market.Sell {
		sign, best = -1, bid
	}
	mid := (bid + ask) / 2
	points := func(by float64) float64 { return sign * by / d * 1e4 }
	return Cost{Delay: points(mid - d), HalfSpread: points(best - mid), Slippage: points(fill - best),
		Total: points(fill - d)}
}

// costOfOrder is the cost of an order that met the market when it arrived. ok is false where it did
// not, or where the record lacks a price.
func costOfOrder(m *market.Market, o *Life) (c Cost, ok bool) {
	d, arrival := o.Decision.Mid(), o.Arrival.Mid()
	if !o.Took || o.Type.HasTrigger() || d == 0 || arrival == 0 {
		return c, false
	}
	until := market.Time(math.MaxInt64)
	for i := range o.Writes {
		if w := &o.Writes[i]; w.Kind == market.CommandUpdate && w.Sent != 0 {
			until = min(until, w.Sent) // later fills are of other terms
		}
	}
	var amount, paid float64
	for i := range o.Fills {
		if f := &o.Fills[i]; f.Taker && f.Time < until {
			amount += float64(f.Amount)
			paid += float64(f.Amount) * float64(f.Price)
		}
	}
	if amount == 0 {
		return c, false
	}
	c = costOf(o.Side, d, float64(o.Arrival.Bid), float64(o.Arrival.Ask), paid/amount)
	c.Weight = paid / float64(market.Pow10(m.PriceDigits)) / float64(market.Pow10(m.AmountDigits))
	return c, true
}

// mean is the mean of a part of the costs by weight.
func mean(costs []Cost, part func(*Cost) float64) float64 {
	var sum, weight float64
	for i := range costs {
		sum += part(&costs[i]) * costs[i].Weight
		weight += costs[i].Weight
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

func slippage(c *Cost) float64   { return c.Slippage }
func halfSpread(c *Cost) float64 { return c.HalfSpread }
func delay(c *Cost) float64      { return c.Delay }
func total(c *Cost) float64      { return c.Total }

// quantile is the least of the sorted values that q of all do not exceed.
func quantile[T cmp.Ordered](sorted []T, q float64) T {
	at := int(math.Ceil(q*float64(len(sorted))-1e-9)) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

// enough reports whether n values say something about a quantile above the median: ten of them are
// expected beyond it.
func enough(q float64, n int) bool { return float64(n)*(1-q) >= 10-1e-9 }

// partsOf are a part of all costs, sorted.
func partsOf(costs []Cost, part func(*Cost) float64) []float64 {
	values := make([]float64, len(costs))
	for i := range costs {
		values[i] = part(&costs[i])
	}
	slices.Sort(values)
	return values
}
