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
