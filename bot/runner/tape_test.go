package runner

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
	"github.com/tidemark-trading/tidemark/strategy"
)

// The twin of a tape is a list. Readers see a part of it without a gap at any moment.
func TestATapeKeepsTheLatestValuesWhileOthersRead(t *testing.T) {
	t.Parallel()
	const most, n = 600, 5_000
	tape := newTape[int](most)
	require.Empty(t, tape.all())
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for last := 0; last < n; {
				values := tape.all()
				if len(values) == 0 {
					continue
				}
				for i, v := range values {
					if v != values[0]+i {
						t.Errorf("%d follows %d", v, values[0])
						return
					}
				}
				last = values[len(values)-1]
			}
		})
	}
	for i := 1; i <= n; i++ {
		tape.add(i)
		if i%499 == 0 {
			values := tape.all()
			require.Len(t, values, min(i, most))
			require.Equal(t, i, values[len(values)-1])
		}
	}
	readers.Wait()
	require.LessOrEqual(t, len(*tape.parts.Load()), most/ringPart+2)
}

// shownOf is what a bot shows of one market with two price digits.
func shownOf(t testing.TB) (*plots, *market.Market) {
	c := &market.Catalog{}
	eur, err := c.AddAsset("EUR", 2)
	require.NoError(t, err)
	btc, err := c.AddAsset("BTC", 8)
	require.NoError(t, err)
	m := &market.Market{Name: "BTC-EUR", Base: btc.ID, Quote: eur.ID, PriceDigits: 2, AmountDigits: 8, QuoteDigits: 2}
	require.NoError(t, c.AddMarket(m))
	at := market.Time(0)
	return &plots{plots: map[shownPlot]*ring[plotted]{}, catalog: c, log: zerolog.Nop(),
		names: func(market.StrategyID) string { return "trend" },
		last:  func(market.ID) market.Price { return 123_45 },
		now:   func() market.Time { at += 1e9; return at }}, m
}

func TestPlotsOfALiveBotAreTheLatestValuesOfEachLine(t *testing.T) {
	s, m := shownOf(t)
	for i := range shownValues + 700 {
		s.Plot(1, strategy.Plotted{Market: m.ID, Name: "mean", Value: float64(i * 100)})
	}
	s.Plot(1, strategy.Plotted{Market: m.ID, Name: "strength", Pane: "RSI", Value: 55})
	s.Plot(1, strategy.Plotted{Market: m.ID, Name: "squeeze", Mark: true})
	v := &operator.Market{FromMS: 0, ToMS: 1e12}
	s.addPlots(v, m)
	require.Len(t, v.Plots, 3)
	require.Len(t, v.Plots[0].Points, shownValues)
	require.InDelta(t, shownValues+699, v.Plots[0].Points[shownValues-1].Value, 1e-9, "in the prices of the market")
	require.InDelta(t, 55, v.Plots[1].Points[0].Value, 1e-9, "a pane has units of its own")
	require.InDelta(t, 123.45, v.Plots[2].Points[0].Value, 1e-9, "a mark stands at the price")
	for i := range 2 * shownPlots {
		s.Plot(1, strategy.Plotted{Market: m.ID, Name: string(rune('a' + i)), Value: 1})
	}
	require.Len(t, s.plots, shownPlots, "a strategy that invents names fills no memory")
}

// What the tape of a series has lost stands in the recording. It is read once, and again when the
// tape has lost more.
func TestCandlesBeforeTheTapeComeFromTheRecording(t *testing.T) {
	s, m := shownOf(t)
	s.recorded = map[market.ID]recordedCandles{}
	dir := t.TempDir()
	store, err := journal.Open(filepath.Join(dir, statedir.StateFile))
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	require.NoError(t, store.Bind(s.catalog, nil))
	w, err := recording.Open(filepath.Join(dir, statedir.RecordingFolder), recording.Options{Catalog: s.catalog})
	require.NoError(t, err)
	const began = market.Time(1_700_000_040_000_000_000)
	starts := func(list []market.Candle) (all []market.Time) {
		for i := range list {
			all = append(all, (list[i].Start-began)/60e9)
		}
		return all
	}
	record := func(from, to market.Time) {
		for i := from; i < to; i++ {
			c := market.Candle{Market: m.ID, Interval: market.Interval1m, Start: began + i*60e9, Open: 1,
				High: 1, Low: 1, Close: 1}
			_, err := w.Append(&market.Event{At: c.End(), Kind: market.KindCandles, Candles: []market.Candle{c}})
			require.NoError(t, err)
		}
		require.NoError(t, w.Flush())
	}
	record(0, 6)
	older, err := s.older(store, m, market.Interval1m, began+4*60e9)
	require.NoError(t, err)
	require.Equal(t, []market.Time{0, 1, 2, 3}, starts(older))
	record(6, 9)
	older, err = s.older(store, m, market.Interval1m, began+3*60e9)
	require.NoError(t, err)
	require.Equal(t, []market.Time{0, 1, 2}, starts(older))
	older, err = s.older(store, m, market.Interval1m, began+8*60e9)
	require.NoError(t, err)
	require.Equal(t, []market.Time{0, 1, 2, 3, 4, 5, 6, 7}, starts(older))
	require.NoError(t, w.Close())
}

// BenchmarkPlot is what a plotted value costs the loop. The floor appends to a list.
func BenchmarkPlot(b *testing.B) {
	s, m := shownOf(b)
	b.Run("plot", func(b *testing.B) {
		for b.Loop() {
			s.Plot(1, strategy.Plotted{Market: m.ID, Name: "mean", Value: 1})
		}
	})
	b.Run("floor", func(b *testing.B) {
		var list []plotted
		for b.Loop() {
			if len(list) == shownValues {
				list = list[:0]
			}
			list = append(list, plotted{s.now(), 1})
		}
	})
}
