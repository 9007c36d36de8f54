package backtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// An order over money keeps as cash what buys no further step of the base, at any number of
// decimals: nothing of it is a fee.
func TestAnOrderOverMoneyKeepsAsCashWhatItCouldNotBuy(t *testing.T) {
	for decimals, amount := range []market.Qty{6_000, 6_600, 6_660, 6_666} {
		t.Run(fmt.Sprint(decimals), func(t *testing.T) {
			var catalog market.Catalog
			_, err := catalog.AddAsset("AAPL", 3)
			require.NoError(t, err)
			eur, err := catalog.AddAsset("EUR", 2)
			require.NoError(t, err)
			m := &market.Market{Name: "AAPL-EUR", PriceDigits: 2, Status: market.Trading,
				Rules: market.Rules{QuantityDecimals: uint8(decimals), NotionalDecimals: 2, TickSize: 1}}
			require.NoError(t, catalog.AddMarket(m))
			var held market.Qty
			s := newStage(t, func(d *strategy.Desk, c market.Candle) {
				held = d.In(1).Position().Amount
				if c.Start == 0 {
					_, err := d.In(1).Buy(strategy.Money(1000_00))
					require.NoError(t, err)
				}
			})
			s.plan.Catalog, s.plan.Currency = &catalog, eur
			s.plan.Deposits = []Deposit{{Asset: eur.ID, Money: 1000_00}}
			s.plan.Strategies[0].Markets = catalog.Markets()
			flat := [5]int64{0, 150_00, 150_00, 150_00, 150_00}
			next, last := flat, flat
			next[0], last[0] = 60, 120
			s.feed(1, market.Interval1h, true, true, flat, next, last)
			r := s.run(t, Options{})
			require.Equal(t, amount, held)
			require.Zero(t, r.Performance.Fees.Units)
			require.Zero(t, r.Performance.Rounding.Units)
			require.EqualValues(t, 1000_00, r.Performance.Final.Units, "the rest is cash")
		})
	}
}
