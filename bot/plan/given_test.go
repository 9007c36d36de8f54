package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// hours are candles of 1h, from a time on.
func hours(from market.Time, prices ...market.Price) (list []market.Candle) {
	for _, p := range prices {
		list = append(list, market.Candle{Start: from, Interval: market.Interval1h, Open: p, High: p, Low: p, Close: p})
		from = market.Interval1h.End(from)
	}
	return list
}

func TestGivenCandlesAreALibrary(t *testing.T) {
	list := append(hours(0, 1, 2, 3, 4, 5), hours(market.Interval1h.StartOf(7), 8, 9)...)
	g, err := NewGiven([]Series{{Market: "BTC-EUR", Interval: market.Interval1h, PriceDigits: 1, Candles: list}})
	require.NoError(t, err)

	part, err := g.Part("BTC-EUR", market.Interval1h, market.Interval1h.StartOf(1), market.Interval1h.StartOf(3))
	require.NoError(t, err)
	require.Equal(t, candles.Part{Range: candles.Range{From: market.Interval1h.StartOf(1),
		To: market.Interval1h.StartOf(3)}, PriceDigits: 1}, part)
	_, err = g.Part("ETH-EUR", market.Interval1h, 0, 0)
	require.ErrorIs(t, err, candles.ErrNoData)

	gaps, err := g.Gaps("BTC-EUR", market.Interval1h, 0, 0)
	require.NoError(t, err)
	require.Len(t, gaps, 1)
	require.EqualValues(t, 2, gaps[0].Candles)

	span, err := g.Span("BTC-EUR", market.Interval4h)
	require.NoError(t, err)
	require.Equal(t, candles.Range{From: 0, To: market.Interval1h.StartOf(8)}, span) // the third one is not whole
	_, err = g.Span("BTC-EUR", market.Interval30m)
	require.ErrorContains(t, err, "no candles stored for BTC-EUR 30m, and no shorter ones to merge")
	_, err = g.Span("BTC-EUR", market.Interval1d)
	require.ErrorContains(t, err, "the 7 candles of 1h make no whole one; give more")

	m := &market.Market{ID: 3, Name: "BTC-EUR", PriceDigits: 3}
	source, err := g.open(backtest.Feed{Market: m, Interval: market.Interval1h}, market.Interval1h.StartOf(1), 0)
	require.NoError(t, err)
	batch, err := source.Next()
	require.NoError(t, err)
	require.Equal(t, market.Price(200), batch[0].Close) // 0.2 in thousandths
	require.Equal(t, market.ID(3), batch[0].Market)
	require.EqualValues(t, 2, list[1].Close, "the caller's candles stay as they are")
}

func TestGivenCandlesAreChecked(t *testing.T) {
	for want, list := range map[string][]market.Candle{
		"there are none": nil,
		"candle 2, 1970-01-01T00:00:00Z, is not after": append(hours(0, 1), hours(0, 1)...),
		"candle 1, 1970-01-01T00:00:00Z: low 0":        hours(0, 0),
		"is no start of a 1h candle":                   hours(1, 1),
	} {
		_, err := NewGiven([]Series{{Market: "BTC-EUR", Interval: market.Interval1h, Candles: list}})
		require.ErrorContains(t, err, want)
	}
	_, err := NewGiven([]Series{{Market: "BTC-EUR", Interval: market.Interval1d, Candles: hours(0, 1)}})
	require.ErrorContains(t, err, "candles of BTC-EUR 1d: candle 1 is one of 1h; give each interval by itself")
}
