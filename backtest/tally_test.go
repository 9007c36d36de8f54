package backtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

func TestWhatRoundingTakesIsNoFee(t *testing.T) {
	m := &market.Market{Name: "BTC-EUR", Quote: 1, PriceDigits: 2, AmountDigits: 8, QuoteDigits: 2, ValueDigits: 10}
	for _, row := range []struct {
		rates          exchange.Fees
		fees, rounding string
	}{
		{exchange.Fees{}, "0", "0.6"},
		{exchange.Fees{Maker: 100_000, Taker: 200_000}, "0.3", "0.3"}, // 0.1 % and 0.2 %
		{exchange.Fees{Maker: -100_000, Taker: 500_000}, "0.4", "0.2"},
	} {
		all := tally{digits: 10, money: 2}
		for n := range 20 { // 3 cents of 10 EUR each
			require.NoError(t, all.fill(m, &market.Fill{Taker: n%2 == 0, Fee: market.ValueOf(300_000_000)},
				market.ValueOf(100_000_000_000), row.rates))
		}
		fees, rounding := all.charged()
		require.Equal(t, row.fees, fees.String())
		require.Equal(t, row.rounding, rounding.String())
	}
}
