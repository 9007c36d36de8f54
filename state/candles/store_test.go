package candles

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

var btcEUR = &market.Market{ID: 7, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 4}

// hourAt is the start of the n-th hour since 2020.
func hourAt(n int64) market.Time {
	return market.Time(1577836800_000000000) + market.Time(n)*market.Time(market.Interval1h.Fixed())
}

// flat makes hourly candles at the given hours.
func flat(hours ...int64) (candles []market.Candle) {
	for _, hour := range hours {
		price := market.Price(10_000 + hour)
		candles = append(candles, market.Candle{Open: price, High: price, Low: price, Close: price, Volume: 1,
			Start: hourAt(hour)})
	}
	return candles
}

func put(t testing.TB, store *Store, candles []market.Candle, complete ...Range) WriteReport {
	t.Helper()
	report, err := store.Put(WriteOptions{Market: "BTC-EUR", Interval: market.Interval1h}, candles, 2, 4, complete)
	require.NoError(t, err)
	return report
}

func TestReaderReturnsExactlyTheRange(t *testing.T) {
	store := openTestStore(t)
	hours := make([]int64, 0, 9000)
	for hour := int64(0); hour < 10_000; hour += 1 + hour%7/6 {
		hours = append(hours, hour)
	}
	all := flat(hours...)
	put(t, store, all)
	for i := range all {
		all[i].Market, all[i].Interval = 7, market.Interval1h
	}
	rapid.Check(t, func(r *rapid.T) {
		from, to := hourAt(rapid.Int64Range(-50, 10_050).Draw(r, "from"))+1, hourAt(rapid.Int64Range(-50, 10_050).
			Draw(r, "to"))
		var want []market.Candle
		for _, c := range all {
			if c.Start >= from && c.Start < to {
				want = append(want, c)
			}
		}
		require.Equal(t, want, readAll(t, store, ReadOptions{Market: btcEUR, Interval: market.Interval1h, From: from,
			To: to}))
	})
	require.Equal(t, all, readAll(t, store, ReadOptions{Market: btcEUR, Interval: market.Interval1h}))
}

// TestAStoreOpenForReadingAgreesWithTheWriter asks both about random ranges. Each question goes to
// a store of its own, which has checked no other page.
func TestAStoreOpenForReadingAgreesWithTheWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "candles.db")
	writer, err := Open(path)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(3, 3))
	candles := benchSeries(120_000)
	candles = slices.DeleteFunc(candles, func(c market.Candle) bool {
		return random.IntN(500) == 0 || c.Start > candles[50_000].Start && c.Start < candles[70_000].Start
	})
	o := WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}
	known := []Range{{candles[100].Start, candles[60_000].Start}}
	_, err = writer.Put(o, candles, 2, 4, known)
	require.NoError(t, err)
	type question struct{ from, to market.Time }
	answers := func(store *Store, q question) string {
		var said bytes.Buffer
		hash, err := store.DataHash("BTC-EUR", market.Interval1m, q.from, q.to)
		fmt.Fprintln(&said, hash, err)
		gaps, err := store.Gaps("BTC-EUR", market.Interval1m, q.from, q.to)
		fmt.Fprintln(&said, gaps, err)
		rows, err := store.ExportCSV(&said, "BTC-EUR", market.Interval1m, q.from, q.to)
		fmt.Fprintln(&said, rows, err)
		return said.String()
	}
	info, err := writer.Series("BTC-EUR", market.Interval1m)
	require.NoError(t, err)
	asked := map[question]string{}
	for range 25 {
		q := question{info.First + market.Time(random.Int64N(int64(info.End()-info.First))), 0}
		q.to = q.from + market.Time(random.Int64N(int64(info.End()-info.First)/4))
		switch random.IntN(6) {
		case 0:
			q.from = 0
		case 1:
			q.to = 0
		case 2:
			q.from, q.to = q.to, q.from
		}
		asked[q] = answers(writer, q)
	}
	require.NoError(t, writer.Close())
	for q, want := range asked {
		store, err := Read(path)
		require.NoError(t, err)
		require.Equal(t, want, answers(store, q))
		span, err := store.Span("BTC-EUR", market.Interval1m)
		require.NoError(t, err)
		require.Equal(t, Range{info.First, info.End()}, span)
		require.NoError(t, store.Close())
	}
}

func TestReplayAllocatesNothing(t *testing.T) {
	store := openTestStore(t)
	_, err := store.Put(WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}, benchSeries(600_000), 2, 4, nil)
	require.NoError(t, err)
	reader, err := store.Read(ReadOptions{Market: btcEUR, Interval: market.Interval1m})
	require.NoError(t, err)
	defer reader.Close()
	require.Zero(t, testing.AllocsPerRun(2000, func() {
		if _, err := reader.Next(); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestReaderIsClosedOnceAndForAll(t *testing.T) {
	store := openTestStore(t)
	put(t, store, flat(1))
	reader, err := store.Read(ReadOptions{Market: btcEUR, Interval: market.Interval1h})
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	require.NoError(t, reader.Close())
	_, err = reader.Next()
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestGapsAreNoTradeOnlyWhereTheSourceWasComplete(t *testing.T) {
	store := openTestStore(t)
	put(t, store, flat(0, 1, 5, 9), Range{hourAt(0), hourAt(4)}, Range{hourAt(8), hourAt(10)})
	gaps, err := store.Gaps("BTC-EUR", market.Interval1h, 0, 0)
	require.NoError(t, err)
	require.Equal(t, []Gap{
		{Range{hourAt(2), hourAt(4)}, true, 2}, {Range{hourAt(4), hourAt(5)}, false, 1},
		{Range{hourAt(6), hourAt(8)}, false, 2}, {Range{hourAt(8), hourAt(9)}, true, 1},
	}, gaps)
	list, err := store.List()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, Series{Market: "BTC-EUR", Interval: market.Interval1h, PriceDigits: 2, VolumeDigits: 4,
		First: hourAt(0), Last: hourAt(9), Candles: 4,
		Chunks: 1, Bytes: list[0].Bytes, NoTrade: 3, Unknown: 3}, list[0])
}

// TestGapsAgreeWithCountingHourByHour is the dumb twin of gaps and coverage.
func TestGapsAgreeWithCountingHourByHour(t *testing.T) {
	const span = 60
	rapid.Check(t, func(r *rapid.T) {
		store := openRapidStore(t)
		defer store.Close()
		var stored, known [span]bool
		hour := rapid.Int64Range(0, span-1)
		for range rapid.IntRange(1, 4).Draw(r, "writes") {
			hours := rapid.SliceOfNDistinct(hour, 1, 10, rapid.ID).Draw(r, "hours")
			from, to := hour.Draw(r, "from"), hour.Draw(r, "to")
			put(t, store, flat(hours...), Range{hourAt(from), hourAt(to)})
			for _, h := range hours {
				stored[h] = true
			}
			for h := from; h < to; h++ {
				known[h] = true
			}
		}
		gaps, err := store.Gaps("BTC-EUR", market.Interval1h, hourAt(0), hourAt(span))
		require.NoError(t, err)
		var want, have [span]string
		for h := range int64(span) {
			if !stored[h] {
				want[h] = fmt.Sprint("missing ", known[h])
			}
		}
		for _, gap := range gaps {
			require.Equal(t, gap.Candles, int64(gap.To.Sub(gap.From)/market.Interval1h.Fixed()))
			for h := range gap.Candles {
				have[market.Interval1h.Index(gap.From)-market.Interval1h.Index(hourAt(0))+h] = fmt.Sprint("missing ",
					gap.NoTrade)
			}
		}
		require.Equal(t, want, have)
	})
}

func openRapidStore(t *testing.T) *Store {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	require.NoError(t, err)
	store, err := Open(filepath.Join(dir, "candles.db"))
	require.NoError(t, err)
	store.db.NoSync = true
	return store
}

func TestDataHashSeesOnlyItsRange(t *testing.T) {
	store := openTestStore(t)
	put(t, store, flat(0, 1, 2, 3))
	hash := func(from, to market.Time) string {
		text, err := store.DataHash("BTC-EUR", market.Interval1h, from, to)
		require.NoError(t, err)
		require.Len(t, text, 64)
		return text
	}
	whole, part := hash(0, 0), hash(hourAt(1), hourAt(3))
	require.NotEqual(t, whole, part)
	require.Equal(t, whole, hash(hourAt(-9), hourAt(99)), "the bounds are not hashed, the candles are")
	put(t, store, flat(4, 5, 9000))
	require.NotEqual(t, whole, hash(0, 0))
	require.Equal(t, whole, hash(0, hourAt(4)), "candles outside the range change nothing")
	require.Equal(t, part, hash(hourAt(1), hourAt(3)))
	changed := flat(2)
	changed[0].Volume++
	_, err := store.Put(WriteOptions{Market: "BTC-EUR", Interval: market.Interval1h, Replace: true}, changed, 2, 4, nil)
	require.NoError(t, err)
	require.NotEqual(t, part, hash(hourAt(1), hourAt(3)))
}

func TestPutRefusesTheWholeCallOverOneCandle(t *testing.T) {
	store := openTestStore(t)
	o := WriteOptions{Market: "BTC-EUR", Interval: market.Interval1h}
	candles := flat(1, 2)
	candles[1].Low = 0
	_, err := store.Put(o, candles, 2, 4, nil)
	require.ErrorContains(t, err, "low 0 is not positive")
	candles = flat(1, 1)
	candles[1].Volume = 99
	_, err = store.Put(o, candles, 2, 4, nil)
	require.ErrorContains(t, err, "two with different values start at 2020-01-01T01:00:00Z")
	_, err = store.Put(WriteOptions{Market: "BTCEUR", Interval: market.Interval1h}, flat(1), 2, 4, nil)
	require.ErrorContains(t, err, "BASE-QUOTE")
	_, err = store.Series("BTC-EUR", market.Interval1h)
	require.ErrorIs(t, err, ErrNoData)
}

func TestRealCandlesSurviveImportAndExport(t *testing.T) {
	for _, file := range []struct {
		name     string
		interval market.Interval
		missing  int64
	}{{"bitvavo_BTC-EUR_1h_2020-2024.csv", market.Interval1h, 30}, {"lean_coinbase_BTC-EUR_1m_trade.csv",
		market.Interval1m, 657}} {
		text := sharedData(t, file.name)
		store := openTestStore(t)
		report := importText(t, store,
			ImportOptions{WriteOptions: WriteOptions{Market: "BTC-EUR", Interval: file.interval}}, text)
		info, err := store.Series("BTC-EUR", file.interval)
		require.NoError(t, err)
		require.Equal(t, report.Rows, info.Candles)
		require.Equal(t, file.missing, info.Unknown)
		perCandle := float64(info.Bytes) / float64(info.Candles)
		t.Logf("%s: %.2f bytes a candle", file.name, perCandle)
		require.Less(t, perCandle, 13.0)
		out := exportText(t, store, "BTC-EUR", file.interval)
		// The file pads some numbers (6400.0); an export never does. Row by row the numbers are the
		// same.
		require.Equal(t, unpad(text), out)
	}
}

// unpad drops the trailing zeros of every fraction.
func unpad(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		fields := strings.Split(line, ",")
		for at, field := range fields {
			if strings.Contains(field, ".") {
				fields[at] = strings.TrimSuffix(strings.TrimRight(field, "0"), ".")
			}
		}
		lines[i] = strings.Join(fields, ",")
	}
	return strings.Join(lines, "\n")
}
