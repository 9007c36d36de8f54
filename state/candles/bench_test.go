package candles

import (
	"bufio"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

const benchCandles = 1_000_000

// benchSeries makes candles that pack like the neutral bench set: 1m, prices of 2 decimals, volumes
// of 4.
func benchSeries(n int) []market.Candle {
	random := rand.New(rand.NewPCG(1, 2))
	candles := make([]market.Candle, n)
	price, start := market.Price(2_000_000), market.Interval1m.Index(1640995200_000000000)
	for i := range candles {
		open := price + market.Price(random.NormFloat64()*200)
		price = max(500_000, open+market.Price(random.NormFloat64()*1200))
		candles[i] = market.Candle{Open: open, Close: price, Volume: market.Volume(random.ExpFloat64() * 60_000),
			Start: market.Interval1m.StartOf(start + int64(i)),
			High:  max(open, price) + market.Price(random.ExpFloat64()*500), Low: min(open, price) -
				market.Price(random.ExpFloat64()*500), Interval: market.Interval1m}
	}
	return candles
}

func benchStore(b *testing.B) (*Store, []market.Candle) {
	candles := benchSeries(benchCandles)
	store, err := Open(filepath.Join(b.TempDir(), "candles.db"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	_, err = store.Put(WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}, candles, 2, 4, nil)
	require.NoError(b, err)
	return store, candles
}

// sink keeps the compiler from dropping a scan.
var sink int64

func scanCandles(candles []market.Candle) (sum int64) {
	for i := range candles {
		c := &candles[i]
		sum += int64(c.Open) + int64(c.High) + int64(c.Low) + int64(c.Close) + int64(c.Volume) + int64(c.Start) +
			int64(c.Market) + int64(c.Interval)
	}
	return sum
}

func replayAll(b *testing.B, store *Store, m *market.Market, use func([]market.Candle)) {
	reader, err := store.Read(ReadOptions{Market: m, Interval: market.Interval1m})
	require.NoError(b, err)
	for {
		candles, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		use(candles)
	}
	require.NoError(b, reader.Close())
}

// BenchmarkReplay reads a million packed candles as structs, beside its floor: the scan of the same
// structs in memory. Both are the fastest of the run, so that a busy machine tells less.
func BenchmarkReplay(b *testing.B) {
	store, candles := benchStore(b)
	m := &market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 4}
	info, err := store.Series("BTC-EUR", market.Interval1m)
	require.NoError(b, err)
	floor, replay := time.Hour, time.Hour
	for b.Loop() {
		floor = min(floor, timed(func() { sink += scanCandles(candles) }))
		replay = min(replay, timed(func() {
			replayAll(b, store, m, func(c []market.Candle) { sink += int64(c[0].Close) })
		}))
	}
	b.ReportMetric(float64(floor)/benchCandles, "floor-ns/candle")
	b.ReportMetric(float64(replay)/benchCandles, "ns/candle")
	b.ReportMetric(float64(floor)/float64(replay), "xscan")
	b.ReportMetric(float64(info.Bytes)/benchCandles, "B/candle")
}

// BenchmarkDecode is the decoder alone: one chunk in the processor's cache.
func BenchmarkDecode(b *testing.B) {
	candles := benchSeries(chunkSpan * 2)
	number, offset := chunkOf(market.Interval1m.Index(candles[0].Start))
	var p chunkPacker
	value := p.pack(candles[:chunkSpan-offset], market.Interval1m, 2, 4)
	var d chunkDecoder
	var block [blockRows]market.Candle
	stampCandles(block[:], 1, market.Interval1m)
	for b.Loop() {
		if err := d.open(market.Interval1m, number, value, 2, 4); err != nil {
			b.Fatal(err)
		}
		for d.left > 0 {
			if _, err := d.next(block[:]); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(chunkSpan-offset), "ns/candle")
}

func timed(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}

// countFile is the floor of an import: read the file and look at every byte.
func countFile(b *testing.B, path string) (commas, lines int64) {
	file, err := os.Open(path)
	require.NoError(b, err)
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<18)
	buffer := make([]byte, 1<<18)
	for {
		n, err := in.Read(buffer)
		for _, ch := range buffer[:n] {
			switch ch {
			case ',':
				commas++
			case '\n':
				lines++
			}
		}
		if err == io.EOF {
			return commas, lines
		}
		require.NoError(b, err)
	}
}

// BenchmarkImport imports a million rows of CSV, commit included, beside its floor: reading the
// file and looking at every byte of it. Both are the fastest of the run.
func BenchmarkImport(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "bench.csv")
	require.NoError(b, os.WriteFile(path, []byte(benchCSV(benchCandles)), 0o644))
	floor, load := time.Hour, time.Hour
	for b.Loop() {
		floor = min(floor, timed(func() {
			commas, lines := countFile(b, path)
			sink += commas + lines
		}))
		load = min(load, timed(func() { importFile(b, path, filepath.Join(dir, "candles.db")) }))
		require.NoError(b, os.Remove(filepath.Join(dir, "candles.db")))
	}
	b.ReportMetric(float64(floor)/benchCandles, "floor-ns/row")
	b.ReportMetric(float64(load)/benchCandles, "ns/row")
	b.ReportMetric(float64(load)/float64(floor), "xfloor")
}

func importFile(b *testing.B, from, to string) {
	file, err := os.Open(from)
	require.NoError(b, err)
	defer file.Close()
	store, err := Open(to)
	require.NoError(b, err)
	report, err := store.ImportCSV(file,
		ImportOptions{WriteOptions: WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}})
	require.NoError(b, err)
	require.EqualValues(b, benchCandles, report.Added)
	require.NoError(b, store.Close())
}

// BenchmarkOpenCandles measures an opening of a store of a million candles, which the system has in
// its cache.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "candles.db")
	store, err := Open(path)
	require.NoError(b, err)
	_, err = store.Put(WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}, benchSeries(1_000_000), 2, 4, nil)
	require.NoError(b, err)
	require.NoError(b, store.Close())
	for b.Loop() {
		s, err := Read(path)
		require.NoError(b, err)
		require.NoError(b, s.Close())
	}
	info, err := os.Stat(path)
	require.NoError(b, err)
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/(float64(info.Size())/(1<<20)), "µs/MB")
}
