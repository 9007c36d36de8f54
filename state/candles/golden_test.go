package candles

import (
	"bytes"
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/internal/filetest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// writeGolden is set after a change of the format: go test ./state/candles -run
// ReadsAsBefore -golden
var writeGolden = flag.Bool("golden", false,
	"write the missing files of testdata and their texts anew; read the difference before you keep it")

// manyCandles writes two chunks of candles with a gap, in two series.
func manyCandles(t *testing.T, path string) {
	store, err := Open(path)
	require.NoError(t, err)
	hours := []int64{}
	for hour := int64(0); hour < 5000; hour++ {
		if hour%100 != 7 {
			hours = append(hours, hour)
		}
	}
	put(t, store, flat(hours...), Range{From: hourAt(0), To: hourAt(100)})
	_, err = store.Put(WriteOptions{Market: "ETH-EUR", Interval: market.Interval1d},
		[]market.Candle{{Open: 200_000, High: 210_000, Low: 190_000, Close: 205_000, Volume: 12, Start: hourAt(0)}}, 2,
		4, nil)
	require.NoError(t, err)
	require.NoError(t, store.Close())
}

// A candle store of this format opens and holds the same candles: the same rows and the same data
// hash.
func TestTheCandleStoreReadsAsBefore(t *testing.T) {
	path := filetest.Golden(t, *writeGolden, "candles-format1", func(path string) { manyCandles(t, path) })
	store, err := Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	var said bytes.Buffer
	list, err := store.List()
	require.NoError(t, err)
	for _, series := range list {
		hash, err := store.DataHash(series.Market, series.Interval, 0, 0)
		require.NoError(t, err)
		fmt.Fprintf(&said, "%+v\nhash %s\n", series, hash)
		_, err = store.ExportCSV(&said, series.Market, series.Interval, 0,
			series.First+50*market.Time(market.Interval1h.Fixed()))
		require.NoError(t, err)
	}
	filetest.RequireText(t, *writeGolden, "candles-format1.txt", said.Bytes())
	put(t, store, flat(5001)) // and it takes more
}

func TestAStoreOfALaterFormatIsRefusedWithAHint(t *testing.T) {
	path := filetest.Golden(t, *writeGolden, "candles-format1", func(path string) { manyCandles(t, path) })
	for _, format := range [][]byte{{storeFormat + 1}, {255}} {
		db, err := bbolt.Open(path, 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket(bolt.BucketMeta).
				Put(bolt.KeyFormat, format)
		}))
		require.NoError(t, db.Close())
		for _, readOnly := range []bool{false, true} {
			_, err = openFile(path, readOnly)
			require.ErrorIs(t, err, bolt.ErrNewer)
			require.NotErrorIs(t, err, bolt.ErrCorrupt, "nothing is wrong with it")
			require.ErrorContains(t, err, "update the program")
		}
	}
}
