package operator

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

const heardFrom = market.Time(1_700_000_040_000_000_000) // the start of a minute

// heardBot leaves the files of a bot that heard a ticker a second and a candle a minute of two
// markets, for so many minutes. It returns the candles of the first one, and the markets.
func heardBot(t testing.TB, dir string, minutes int) (heard []market.Candle, c *market.Catalog) {
	c = &market.Catalog{}
	for _, symbol := range []string{"EUR", "BTC", "ETH"} {
		_, err := c.AddAsset(symbol, 8)
		require.NoError(t, err)
	}
	for _, name := range []string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, c.AddMarket(&market.Market{Name: name, PriceDigits: 2}))
	}
	store, err := journal.Open(filepath.Join(dir, statedir.StateFile))
	require.NoError(t, err)
	require.NoError(t, store.Bind(c, []string{"trend"}))
	b := store.NewBatch()
	b.Start(heardFrom, &journal.Start{Run: uuid.UUID{15: 1}, Version: "v1", Currency: "EUR",
		Strategies: []string{"trend"}})
	require.NoError(t, store.Commit(b))
	require.NoError(t, store.Close())
	w, err := recording.Open(filepath.Join(dir, statedir.RecordingFolder),
		recording.Options{Catalog: c, Strategies: []string{"trend"}})
	require.NoError(t, err)
	chance, price := rand.New(rand.NewPCG(1, 1)), market.Price(90_000_00)
	for minute := range minutes {
		candles := [2]market.Candle{}
		for id := range market.ID(2) {
			candles[id] = market.Candle{Market: id + 1, Interval: market.Interval1m, Open: price, High: price,
				Low: price, Start: heardFrom + market.Time(minute)*60e9}
		}
		for second := range 60 {
			at := heardFrom + market.Time(minute*60+second)*1e9
			for i := range candles {
				price += market.Price(chance.IntN(2001) - 1000)
				one := &candles[i]
				one.High, one.Low, one.Close = max(one.High, price), min(one.Low, price), price
				_, err := w.Append(&market.Event{At: at, Kind: market.KindTicker,
					Ticker: &market.Ticker{Market: one.Market, Last: price, Bid: price - 1, Ask: price + 1}})
				require.NoError(t, err)
			}
		}
		at := candles[0].End()
		_, err := w.Append(&market.Event{At: at, Kind: market.KindCandles, Candles: candles[:]})
		require.NoError(t, err)
		heard = append(heard, candles[0])
	}
	require.NoError(t, w.Close())
	return heard, c
}

// A stopped bot shows the candles of its recording, of the time that is asked for, page after page
// the same as a list of what it heard.
func TestAStoppedBotShowsTheCandlesOfItsRecording(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	heard, _ := heardBot(t, dir, 400)
	of := Target{Folder: dir}
	first, err := AskMarket(&MarketQuery{}).Of(t.Context(), of)
	require.NoError(t, err)
	require.Equal(t, "BTC-EUR", first.Value.Market)
	require.Equal(t, "1m", first.Value.Interval)
	require.Len(t, first.Value.Candles, showFirst)
	m := market.Market{PriceDigits: 2}
	for from := 0; from+70 <= len(heard); from += 70 {
		q := MarketQuery{FromMS: heard[from].Start.Millis(), ToMS: heard[from+69].End().Millis()}
		answer, err := AskMarket(&q).Of(t.Context(), of)
		require.NoError(t, err)
		require.Len(t, answer.Value.Candles, 70)
		for i, have := range answer.Value.Candles {
			want := &heard[from+i]
			require.Equal(t, Candle{want.Start.Millis(), m.FormatPrice(want.Open), m.FormatPrice(want.High),
				m.FormatPrice(want.Low), m.FormatPrice(want.Close), m.FormatVolume(want.Volume)}, have)
		}
	}
	few, err := AskMarket(&MarketQuery{Market: "ETH-EUR", Columns: 7}).Of(t.Context(), of)
	require.NoError(t, err)
	require.LessOrEqual(t, len(few.Value.Candles), 7)
	_, err = AskMarket(&MarketQuery{Interval: "1d"}).Of(t.Context(), of)
	require.ErrorContains(t, err, `no strategy gets candles of BTC-EUR and "1d"`)
}

// BenchmarkRecorded reads the end of a recording for a picture: at most 400,000 events of it. The
// goal is 0.5 s. The floor reads the records and keeps nothing.
func BenchmarkRecorded(b *testing.B) {
	dir := b.TempDir()
	_, catalog := heardBot(b, dir, 3_500)
	x, err := recording.Describe(filepath.Join(dir, statedir.RecordingFolder))
	require.NoError(b, err)
	b.Run("picture", func(b *testing.B) {
		for b.Loop() {
			answer, err := AskMarket(&MarketQuery{Columns: 560}).Of(b.Context(), Target{Folder: dir})
			require.NoError(b, err)
			require.NotEmpty(b, answer.Value.Candles)
		}
		b.ReportMetric(float64(x.Bytes)/1e6, "MB-recorded")
		b.ReportMetric(float64(x.Last), "records")
	})
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			r, err := recording.Read(filepath.Join(dir, statedir.RecordingFolder), catalog, []string{"trend"}, 0)
			require.NoError(b, err)
			n := 0
			for ; err == nil; n++ {
				_, _, err = r.Next()
			}
			require.Greater(b, n, recordedEvents)
			r.Close()
		}
	})
}
