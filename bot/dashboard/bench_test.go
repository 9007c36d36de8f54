package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
)

// BenchmarkZoom makes the answer of a bot for a time and draws it, of a market with a million
// candles and 10,000 fills. The goal is 150 ms. The floor looks at each candle of the time once.
func BenchmarkZoom(b *testing.B) {
	series := madeUpSeries(1_000_000)
	begin, end := series[0].Start.Millis(), series[len(series)-1].End().Millis()
	for _, row := range []struct {
		name     string
		from, to int64
	}{{"all", begin, end}, {"tenth", end - (end-begin)/10, end}, {"day", end - 86_400_000, end}} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				q := operator.MarketQuery{FromMS: row.from, ToMS: row.to}
				picture, err := marketPicture(madeUpPicture(series, 10_000, q), widthWide, time.UTC)
				require.NoError(b, err)
				require.Greater(b, len(picture.SVG), 2_000)
			}
		})
		b.Run(row.name+"/floor", func(b *testing.B) {
			for b.Loop() {
				sum := market.Price(0)
				for i := range series {
					if c := &series[i]; c.Start.Millis() >= row.from && c.Start.Millis() < row.to {
						sum += c.High - c.Low
					}
				}
				require.NotZero(b, sum)
			}
		})
	}
}

// A picture of few columns keeps the extremes and the ends of its candles, as a look at each one
// finds them.
func TestMergedCandlesKeepTheExtremesAndTheEnds(t *testing.T) {
	series := madeUpSeries(3_000)
	in := &market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2}
	for from := 0; from < 2_000; from += 333 {
		part := series[from : from+977]
		m := &operator.Market{FromMS: part[0].Start.Millis(), ToMS: series[from+977].Start.Millis()}
		m.AddCandles(in, series, 100)
		want := part[0]
		for _, c := range part {
			want.High, want.Low, want.Close = max(want.High, c.High), min(want.Low, c.Low), c.Close
		}
		require.LessOrEqual(t, len(m.Candles), 100)
		have := marketPicturePrices{low: 1e9}
		drawn, err := have.candles(m)
		require.NoError(t, err)
		require.InDelta(t, float64(want.High)/100, have.high, 1e-6)
		require.InDelta(t, float64(want.Low)/100, have.low, 1e-6)
		require.InDelta(t, float64(want.Open)/100, drawn[0].Open, 1e-6)
		require.InDelta(t, float64(want.Close)/100, drawn[len(drawn)-1].Close, 1e-6)
	}
	m := &operator.Market{FromMS: 0, ToMS: 1}
	m.AddCandles(in, series, 100)
	require.Empty(t, m.Candles)
}

// BenchmarkBeat is what a second of a dashboard costs with ten viewers: their texts are made and
// written down once. The floor has one viewer.
func BenchmarkBeat(b *testing.B) {
	for _, row := range []struct {
		name    string
		viewers int
	}{{"ten", 10}, {"floor", 1}} {
		b.Run(row.name, func(b *testing.B) {
			told, beat, docs := make([]uint64, row.viewers), &beats{}, madeUp()
			docs.Risk = madeUpRisk()
			for b.Loop() {
				now, status := *docs, *docs.Status
				status.OpenOrders++ // the ages of minutes stand still for a minute
				now.NowMS, now.Status, docs = now.NowMS+1000, &status, &now
				for i := range told {
					if _, data := beat.tell(docs, &told[i]); data == "" {
						b.Fatal("nothing has changed")
					}
				}
			}
		})
	}
}
