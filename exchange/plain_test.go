package exchange

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// CheckPlace looks at neither fields nor decimals of a plain order in a market that is not coarse:
// there must be nothing to refuse in them.
func TestThereIsNothingToRefuseInThePlainestOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		number := func(name string) int64 { return rapid.SampledFrom([]int64{0, 0, 0, 1, -1, 1 << 62}).Draw(rt, name) }
		o := market.Order{Type: market.OrderType(rapid.IntRange(1, int(market.TypeTakeProfitLimit)).Draw(rt, "type")),
			CodGroupID: rapid.SampledFrom([]uint16{0, 0, 1, 1001}).Draw(rt, "group")}
		if rapid.Bool().Draw(rt, "at market") {
			o.Type = market.TypeMarket
		}
		o.Amount, o.AmountQuote = market.Qty(number("amount")), market.Money(number("amount in quote"))
		o.Price, o.TriggerAmount = market.Price(number("price")), market.Price(number("trigger"))
		o.PostOnly = rapid.Bool().Draw(rt, "post-only")
		refused := checkFields(&o)
		byAmount := o.Type == market.TypeMarket && o.AmountQuote == 0
		require.Equal(rt, byAmount && refused == nil, plain(&o), "%+v: %v", o, refused)
		m := market.Market{Status: market.Trading, AmountDigits: 8, QuoteDigits: 2, Rules: market.Rules{TickSize: 5,
			QuantityDecimals: 8, NotionalDecimals: 2}}
		if plain(&o) {
			require.Nil(rt, checkForm(&m, &o))
		}
	})
}

// checkPlain is checkPlace written again for the everyday order: both must answer alike, whatever
// the market's limits, the price and the balance.
func TestAPlainOrderIsCheckedAsAnyOrder(t *testing.T) {
	answers := make(map[int]int)
	rapid.Check(t, func(rt *rapid.T) {
		near := func(name string, edges ...int64) int64 {
			return max(0, rapid.SampledFrom(edges).Draw(rt, name)+rapid.Int64Range(-2, 2).Draw(rt, name+" beside"))
		}
		m := market.Market{Status: market.Trading, PriceDigits: 2, AmountDigits: 2, QuoteDigits: 2, ValueDigits: 4,
			Rules: market.Rules{TickSize: 1, QuantityDecimals: 2, NotionalDecimals: 2}}
		m.MinOrderInBase = market.Qty(rapid.SampledFrom([]int64{0, 5, 1000}).Draw(rt, "least base"))
		m.MaxOrderInBase = market.Qty(rapid.SampledFrom([]int64{0, 0, 2000, 1e15}).Draw(rt, "most base"))
		m.MinOrderInQuote = market.Money(rapid.SampledFrom([]int64{0, 5_00}).Draw(rt, "least quote"))
		m.MaxOrderInQuote = market.Money(rapid.SampledFrom([]int64{0, 0, 9_00}).Draw(rt, "most quote"))
		amount := near("amount", 500, 900, 900, 1000, 1000, 3, 5, 2000, 1e11, 1e15, 1<<62) + 1
		o := market.Order{Side: market.Side(rapid.IntRange(1, 2).Draw(rt, "side")), Type: market.TypeMarket}
		o.Amount, o.AmountRemaining = market.Qty(amount), market.Qty(amount)
		maker := rapid.SampledFrom([]market.Rate{20_000_000, 0, -10}).Draw(rt, "maker")
		f := Facts{Reference: market.Price(near("price", 100, 100, 100, 0, 1, 1<<40, 1<<62)),
			Fees: Fees{Maker: maker, Taker: 250_000}}
		hold, refused := checkPlace(&m, &o, &f)
		if refused == nil || refused.Code == CodeInsufficientBalance {
			f.Available = 1 << 62
			need, _ := checkPlace(&m, &o, &f)
			f.Available = need + market.Money(rapid.Int64Range(-1, 1).Draw(rt, "balance"))
			hold, refused = checkPlace(&m, &o, &f)
		}
		require.True(rt, plain(&o))
		plainHold, plainRefused := CheckPlace(&m, &o, &f)
		require.Equal(rt, refused, plainRefused)
		require.Equal(rt, hold, plainHold)
		if refused != nil {
			answers[refused.Code]++
		} else {
			answers[0]++
		}
	})
	for _, code := range [...]int{0, CodeAmountTooLarge, CodeMinBase, CodeMinQuote, CodeInsufficientBalance} {
		require.Positive(t, answers[code], "no case was answered with code %d", code)
	}
}
