package state

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
)

// golden lets the tests of this file write what they compare with. A file of an older program is never written again, only one that is
// not there: what it has to show is that the file of back then still opens. After a change of the format:
//
//	go test ./state -run OfTheFirst -golden
var golden = flag.Bool("golden", false, "write the files of testdata that are missing, and the texts beside them anew; read the difference before you keep it")

// goldenFile unpacks a file of testdata and returns its path; make writes the file where the flag asks for one and there is none.
func goldenFile(t *testing.T, name string, make func(path string)) (path string) {
	t.Helper()
	packed, path := filepath.Join("testdata", name+".gz"), filepath.Join(t.TempDir(), name)
	if _, err := os.Stat(packed); *golden && os.IsNotExist(err) {
		make(path)
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var small bytes.Buffer
		out, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
		require.NoError(t, err)
		_, err = out.Write(raw)
		require.NoError(t, err)
		require.NoError(t, out.Close())
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(packed, small.Bytes(), 0o644))
	}
	file, err := os.Open(packed)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	in, err := gzip.NewReader(file)
	require.NoError(t, err)
	raw, err := io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}

// requireGolden compares a text with the one in testdata.
func requireGolden(t *testing.T, name string, have []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *golden {
		require.NoError(t, os.WriteFile(path, have, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(have))
}

// everyKind writes something of everything that a state file keeps.
func everyKind(t *testing.T, path string) {
	s, err := OpenBot(path)
	require.NoError(t, err)
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
	b := s.NewBatch()
	b.Start(10, &Start{Run: testRun, Version: "v1", ConfigHash: "abc", Currency: "EUR", Strategies: twoStrategies})
	b.Blob("engine", []byte("where the engine stood"))
	b.Cursor(11, "trades BTC-EUR", []byte{1, 2})
	b.Halt(12, &Halt{Scope: "strategy grid", Reason: "panic", By: "engine"})
	b.Halt(13, &Halt{Scope: "account", Reason: "shortfall", By: "reconcile"})
	require.NoError(t, s.Commit(b))
	b.Resume(14, &Resume{Scope: "account", By: "operator"})
	b.Equity(EquitySample{Strategy: "grid", At: 15, Equity: 1000_00})
	require.NoError(t, s.Commit(b))
	live(t, s, b, 1)
	live(t, s, b, 2)
	waits := ownOrder(3)
	b.Journal(5000, intentOf(waits))
	b.Order(waits)
	require.NoError(t, s.Commit(b))
	require.NoError(t, s.Close())
}

// A state file that the first version wrote opens, is whole, and says what it said then.
func TestTheStateFileOfTheFirstFormatSaysWhatItSaid(t *testing.T) {
	path := goldenFile(t, "bot-format1", func(path string) { everyKind(t, path) })
	s, err := OpenBot(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
	var said bytes.Buffer
	for _, table := range ExportTables() {
		fmt.Fprintf(&said, "%s:\n", table)
		_, err := s.Export(&said, table)
		require.NoError(t, err, table)
	}
	blob, err := s.Blob("engine")
	require.NoError(t, err)
	cursor, err := s.Cursor("trades BTC-EUR")
	require.NoError(t, err)
	fmt.Fprintf(&said, "blob: %s\ncursor: %v\n", blob, cursor)
	requireGolden(t, "bot-format1.txt", said.Bytes())
	report, err := s.Check()
	require.NoError(t, err)
	require.Empty(t, report.Flaws)

	b := s.NewBatch() // and the bot goes on with it
	live(t, s, b, 4)
	row, err := s.Order(4)
	require.NoError(t, err)
	require.Equal(t, Filled, row.State)
}

// manyCandles writes two chunks of candles with a gap, in two series.
func manyCandles(t *testing.T, path string) {
	store, err := OpenCandles(path)
	require.NoError(t, err)
	hours := []int64{}
	for hour := int64(0); hour < 5000; hour++ {
		if hour%100 != 7 {
			hours = append(hours, hour)
		}
	}
	put(t, store, flat(hours...), Range{From: hourAt(0), To: hourAt(100)})
	_, err = store.Put(WriteOptions{Market: "ETH-EUR", Interval: market.Interval1d}, []market.Candle{{Open: 200_000, High: 210_000, Low: 190_000, Close: 205_000, Volume: 12, Start: hourAt(0)}}, 2, 4, nil)
	require.NoError(t, err)
	require.NoError(t, store.Close())
}

// A candle store that the first version wrote opens and holds the same candles: the same rows and the same data hash.
func TestTheCandleStoreOfTheFirstFormatHoldsWhatItHeld(t *testing.T) {
	path := goldenFile(t, "candles-format1", func(path string) { manyCandles(t, path) })
	store, err := OpenCandles(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	var said bytes.Buffer
	list, err := store.List()
	require.NoError(t, err)
	for _, series := range list {
		hash, err := store.DataHash(series.Market, series.Interval, 0, 0)
		require.NoError(t, err)
		fmt.Fprintf(&said, "%+v\nhash %s\n", series, hash)
		_, err = store.ExportCSV(&said, series.Market, series.Interval, 0, series.First+50*market.Time(market.Interval1h.Fixed()))
		require.NoError(t, err)
	}
	requireGolden(t, "candles-format1.txt", said.Bytes())
	put(t, store, flat(5001)) // and it takes more
}

func TestAStoreOfALaterFormatIsRefusedWithTheMend(t *testing.T) {
	path := goldenFile(t, "candles-format1", func(path string) { manyCandles(t, path) })
	for _, format := range [][]byte{{storeFormat + 1}, {255}} {
		db, err := bbolt.Open(path, 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put(keyFormat, format) }))
		require.NoError(t, db.Close())
		for _, readOnly := range []bool{false, true} {
			_, err = openCandles(path, readOnly)
			require.ErrorIs(t, err, ErrNewer)
			require.NotErrorIs(t, err, ErrCorrupt, "nothing is wrong with it")
			require.ErrorContains(t, err, "update the program")
		}
	}
}
