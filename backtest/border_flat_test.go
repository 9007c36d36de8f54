package backtest

import (
	"context"
	"math/big"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// Between flat borders a run is a run of its own, with the cash that the closing sale has left.
func TestFlatBordersAreRunsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, candles := planOver(panicker{}, rapid.IntRange(400, 900).Draw(t, "candles"), 100_000_00, shipped.SMACross,
			nil)
		p.Open = cut(candles)
		p.OneByOne = rapid.Bool().Draw(t, "one by one")
		p.Venue.HalfSpread = rapid.SampledFrom([]market.Rate{0, 50_000}).Draw(t, "spread")
		parts := []StrategyPlan{}
		ends := []market.Time{candles[100].Start}
		for ends[len(ends)-1] < candles[len(candles)-1].Start-60*60e9 {
			own := p.Strategies[0]
			own.Values = map[string]any{"fast": rapid.Int64Range(1, 9).Draw(t, "fast"),
				"slow": rapid.Int64Range(10, 60).Draw(t, "slow")}
			parts = append(parts, own)
			ends = append(ends, ends[len(ends)-1]+market.Time(rapid.Int64Range(1, 200).Draw(t, "minutes"))*60e9)
		}
		ends = ends[:len(parts)] // the last one runs to the end
		p.From = ends[0]
		p.Strategies = parts[:1]
		for i := 1; i < len(parts); i++ {
			p.Borders = append(p.Borders, Border{At: ends[i], Strategies: parts[i : i+1], Flat: true})
		}
		whole, err := Run(context.Background(), p, Options{Keep: true})
		require.NoError(t, err)
		cash := p.Deposits[0].Money
		for i := range parts {
			apart := *p
			apart.Borders, apart.Strategies, apart.From = nil, parts[i:i+1], ends[i]
			apart.Deposits = []Deposit{{Asset: p.Currency.ID, Money: cash}}
			if i+1 < len(parts) {
				apart.To = ends[i+1]
			}
			var end ending
			own, err := Run(context.Background(), &apart, Options{Keep: true, Observer: &end})
			require.NoError(t, err)
			var have []Fill
			var closing *Fill
			for k := range whole.Fills {
				f := &whole.Fills[k]
				switch {
				case i+1 < len(parts) && f.Tag != borderTag && f.Time == apart.To:
					t.Skip("an order that was decided at the border's close fills, too, and is closed with the rest")
				case f.Tag == borderTag:
					if f.Time == apart.To {
						closing = f
					}
				case f.Time >= apart.From && (apart.To == 0 || f.Time < apart.To):
					have = append(have, *f)
				}
			}
			require.Equal(t, own.Fills, have, "part %d", i)
			require.Equal(t, end.held > 0 && apart.To != 0, closing != nil)
			if cash = end.cash; closing != nil {
				at := slices.IndexFunc(candles, func(c market.Candle) bool { return c.Start == apart.To })
				require.Equal(t, end.held, market.Qty(closing.Amount.Units))
				require.Equal(t, candles[at].Open.Below(p.Venue.HalfSpread), market.Price(closing.Price.Units))
				value := new(big.Int).Mul(big.NewInt(int64(closing.Price.Units)), big.NewInt(int64(end.held)))
				net := new(big.Int).Div(value.Mul(value, big.NewInt(9975)), big.NewInt(1e4*1e8)) // 0.25 % fee
				cash += market.Money(net.Int64())
			}
		}
	})
}

// ending keeps the balances at the end of a run.
type ending struct {
	engine.Observer
	engine.Approver
	cash market.Money
	held market.Qty
}

func (e *ending) Filled(*state.Order, *market.Fill) {}

func (e *ending) Closed(*state.Order) {}

func (e *ending) Approved(state.Terms, *market.Command, []state.Figure) {}

func (e *ending) Ended(a *state.Account) {
	e.cash, e.held = a.Total(2).Total, market.Qty(a.Total(1).Total)
}

// cut opens the candles of a range.
func cut(candles []market.Candle) func(Feed, market.Time, market.Time) (Source, error) {
	at := func(t market.Time) int {
		return sort.Search(len(candles), func(i int) bool { return candles[i].Start >= t })
	}
	return func(_ Feed, from, to market.Time) (Source, error) {
		if to == 0 {
			return &memory{candles[at(from):]}, nil
		}
		return &memory{candles[at(from):max(at(from), at(to))]}, nil
	}
}
