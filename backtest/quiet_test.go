package backtest

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// Candles without a change of a balance are recorded in one go as one by one.
func TestQuietCandlesAreMarkedAsOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		catalog := &market.Catalog{}
		eur, err := catalog.AddAsset("EUR", uint8(rapid.IntRange(0, 8).Draw(t, "quote digits")))
		require.NoError(t, err)
		_, err = catalog.AddAsset("BTC", uint8(rapid.IntRange(0, 8).Draw(t, "base digits")))
		require.NoError(t, err)
		m := &market.Market{Name: "BTC-EUR", PriceDigits: uint8(rapid.IntRange(0, 4).Draw(t, "price digits"))}
		require.NoError(t, catalog.AddMarket(m))
		cfg := recorderConfig{Catalog: catalog, Currency: eur, Start: 1_000_000, Markets: []*market.Market{m},
			HoldInterval: market.Interval1h, Curve: rapid.Bool().Draw(t, "curve")}
		one, row := recorderFor(t, cfg), recorderFor(t, cfg)
		length, price := market.Time(market.Interval1h.Fixed()), rapid.Int64Range(1, 100_000).Draw(t, "price")
		start, cash := market.Time(0), market.Money(1_000_000)
		for range 2 * maxSingles { // so that the curve has buckets of many candles
			start += length
			one.Mark(start, 1_000_000, 1_000_000, false)
			row.Mark(start, 1_000_000, 1_000_000, false)
		}
		for range rapid.IntRange(1, 12).Draw(t, "rows") {
			base := market.Qty(rapid.SampledFrom([]int64{0, 1, 10, 1000, 100_000, 1e9}).Draw(t, "base"))
			if !rapid.Bool().Draw(t, "the same cash") {
				cash = market.Money(rapid.Int64Range(1, 2_000_000).Draw(t, "cash"))
			}
			rest := cash + market.Money(rapid.SampledFrom([]int64{0, 0, -40, 300}).Draw(t, "others"))
			if worth, err := m.Notional(200_000, base); base == 0 || err != nil || worth > 1e18 {
				base, rest = 0, cash
			}
			steps := rapid.SliceOfN(rapid.Int64Range(-3, 3), 1, 60).Draw(t, "steps")
			series := make([]market.Candle, 0, len(steps))
			for _, step := range steps {
				price = max(1, price+step)
				series = append(series, market.Candle{Market: m.ID, Interval: market.Interval1h, Start: start,
					Open: market.Price(price), Close: market.Price(price)})
				start += length * market.Time(rapid.SampledFrom([]int64{1, 1, 1, 5}).Draw(t, "gap"))
			}
			worth, err := m.Notional(series[len(series)-1].Close, base)
			require.NoError(t, err)
			require.NoError(t, row.MarkQuiet(&frozenAccount{m, balances{base, rest, cash}, rest + worth}, series,
				length,
				outlined(t, series)))
			for i := range series {
				worth, err := m.Notional(series[i].Close, base)
				require.NoError(t, err)
				one.Mark(series[i].Start+length, rest+worth, cash, rest+worth != cash)
				one.Bar(&series[i])
			}
			require.True(t, reflect.DeepEqual(one, row), "%+v\n%+v", one.last, row.last)
		}
	})
}

// outlined is the outline of a block that ends with the candles, or that of none.
func outlined(t *rapid.T, series []market.Candle) (o outline) {
	if rapid.Bool().Draw(t, "outline") {
		before := rapid.IntRange(0, 40).Draw(t, "before")
		o = outline{&blockSums{}, before}
		o.of.sumUp(append(make([]market.Candle, before), series...))
	}
	return o
}

func recorderFor(t *rapid.T, cfg recorderConfig) *recorder {
	r, err := newRecorder(cfg)
	require.NoError(t, err)
	r.hold.trading = true
	return r
}
