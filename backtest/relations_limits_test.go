package backtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A position that has become larger than the market's largest order is sold as one that has not:
// its sales are of equal size, none above the largest order or below the smallest, and cost no more
// than the rounding of so many orders. Stops, targets and stops that follow prices sell all of it.
func TestALargestOrderThatHasFallenChangesNoSale(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		const amount = 1_234_567
		largest := market.Qty(rapid.Int64Range(amount/7, amount+2).Draw(r, "largest"))
		smallest := market.Qty(rapid.Int64Range(0, int64(largest)/2).Draw(r, "smallest"))
		width := market.Rate(rapid.Int64Range(100_000, 90_000_000).Draw(r, "width"))
		kind := rapid.IntRange(0, 3).Draw(r, "exits")
		exits := func(c market.Price) []strategy.Option {
			switch kind {
			case 0:
				return []strategy.Option{strategy.StopAt(c - exchange.Share(c, width))}
			case 1:
				return []strategy.Option{strategy.TargetAt(c + exchange.Share(c, width))}
			case 2:
				return []strategy.Option{strategy.Trail(width)}
			}
			return nil
		}
		run := func(fallen bool) (*heard, *Result) {
			p := buying(t, seed, amount, exits)
			m := p.Catalog.Markets()[0]
			free, tight := m.Rules, m.Rules
			if fallen {
				tight.MaxOrderInBase, tight.MinOrderInBase = largest, smallest
			}
			p.Changes = []MarketChange{{Market: m.ID, Rules: &free}}
			first, err := p.Open(p.Feeds[0], 0, 0)
			require.NoError(t, err)
			list := first.(*memory).candles
			for n := 0; n+58 < len(list); n += 60 { // buys are decided at the close of the first of sixty candles
				p.Changes = append(p.Changes, MarketChange{At: list[n+4].Start, Market: m.ID, Rules: &tight},
					MarketChange{At: list[n+58].Start, Market: m.ID, Rules: &free})
			}
			p.Fees = Fees{}
			return played(t, seed, p)
		}
		_, plain := run(false)
		h, split := run(true)
		held, orders := market.Qty(0), map[market.OrderID]market.Qty{}
		for _, f := range h.fills {
			if f.Side == market.Buy {
				require.Zero(r, held, "all was sold before")
				held += f.Amount
				continue
			}
			held -= f.Amount
			orders[f.Order] += f.Amount
		}
		require.Equal(r, plain.Trips.Positions, split.Trips.Positions)
		require.Zero(r, held, "all was sold in the end")
		if kind == 3 { // Close alone
			n := (amount-1)/largest + 1
			for _, sold := range orders {
				require.LessOrEqual(r, sold, largest)
				require.GreaterOrEqual(r, sold, smallest)
				require.InDelta(r, amount/int64(n), int64(sold), 1)
			}
			require.EqualValues(r, int64(n)*plain.Trips.Positions, len(orders))
			require.InDelta(r, int64(plain.Performance.Final.Units), int64(split.Performance.Final.Units),
				float64(len(orders)))
		}
	})
}
