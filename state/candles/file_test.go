package candles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

func TestMissingDataSaysHowToImport(t *testing.T) {
	_, err := Read(filepath.Join(t.TempDir(), "candles.db"))
	require.ErrorIs(t, err, ErrNoData)
	require.ErrorContains(t, err, "bot candles import --market BTC-EUR --interval 1h FILE.csv")

	store := openTestStore(t)
	put(t, store, flat(1))
	_, err = store.Read(ReadOptions{Market: &market.Market{Name: "ETH-EUR"}, Interval: market.Interval5m})
	require.ErrorIs(t, err, ErrNoData)
	require.ErrorContains(t, err, "stored are BTC-EUR 1h")
	require.ErrorContains(t, err, "bot candles import --market ETH-EUR --interval 5m FILE.csv")
}

func TestOneWriterOrManyReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "candles.db")
	writer, err := Open(path)
	require.NoError(t, err)
	_, err = Read(path)
	require.ErrorIs(t, err, bolt.ErrLocked)
	require.ErrorContains(t, err, "candles.db is in use by another process")
	require.NoError(t, writer.Close())

	first, err := Read(path)
	require.NoError(t, err)
	second, err := Read(path)
	require.NoError(t, err)
	_, err = first.Put(WriteOptions{Market: "BTC-EUR", Interval: market.Interval1h}, flat(1), 2, 4, nil)
	require.ErrorContains(t, err, "read-only")
	require.NoError(t, first.Close())
	require.NoError(t, second.Close())
}

func TestForeignAndTruncatedFilesAreCorrupt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "candles.db")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("no database "), 2000), 0o644))
	_, err := Read(path)
	require.ErrorIs(t, err, bolt.ErrCorrupt)

	require.NoError(t, os.Remove(path))
	store, err := Open(path)
	require.NoError(t, err)
	_, err = store.Put(WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}, benchSeries(50_000), 2, 4, nil)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for i, size := range []int{64 << 10, 64 << 10, 5000, 5000} {
		cut := fmt.Sprint(path, i) // a file for each: what panicked on opening keeps its lock
		require.NoError(t, os.WriteFile(cut, whole[:size], 0o644))
		_, err = openFile(cut, i%2 == 0)
		require.ErrorIs(t, err, bolt.ErrCorrupt, "%d bytes, read-only %t", size, i%2 == 0)
		require.ErrorContains(t, err, cut)
	}
}

func TestAnEmptyFileHoldsNothingAndAFolderIsNoStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "candles.db")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	_, err := Read(path)
	require.ErrorIs(t, err, ErrNoData)
	require.ErrorContains(t, err, "the file is empty; import some with")
	store, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, store.Close())

	for _, readOnly := range []bool{true, false} {
		_, err = openFile(filepath.Dir(path), readOnly)
		require.ErrorContains(t, err, "is a folder; name a file in it")
	}
}

// TestADamagedBucketNameDoesNotMakeANewStore renames a bucket, as a flipped bit does. A program
// that took the file for a new store would make the bucket again, empty, and hide the loss.
func TestADamagedBucketNameDoesNotMakeANewStore(t *testing.T) {
	for _, name := range [][]byte{bolt.BucketMeta, bucketMarkets, bucketCandles, bucketCoverage} {
		path := filepath.Join(t.TempDir(), "candles.db")
		store, err := Open(path)
		require.NoError(t, err)
		put(t, store, flat(3))
		require.NoError(t, store.db.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket(name) }))
		require.NoError(t, store.Close())
		for _, readOnly := range []bool{true, false} {
			_, err = openFile(path, readOnly)
			require.ErrorIs(t, err, bolt.ErrCorrupt, "%s, read-only %t", name, readOnly)
		}
	}
}

func TestCorruptChunkIsNamedByReaderAndVerify(t *testing.T) {
	store, err := Open(filepath.Join(t.TempDir(), "candles.db"))
	require.NoError(t, err)
	defer store.Close()
	_, err = store.Put(WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}, benchSeries(20_000), 2, 4, nil)
	require.NoError(t, err)
	require.NoError(t, store.db.Update(func(tx *bbolt.Tx) error {
		chunks := tx.Bucket(bucketCandles).Bucket(seriesKey("BTC-EUR", market.Interval1m))
		key, _ := chunks.Cursor().Last()
		value := bytes.Clone(chunks.Get(key))
		value[len(value)/2] ^= 4
		return chunks.Put(key, value)
	}))
	name := "BTC-EUR 1m.*chunk 6682 \\(2022-01-14T13:52:00Z to 2022-01-17T10:08:00Z\\): corrupt: checksum"

	reader, err := store.Read(ReadOptions{Market: btcEUR, Interval: market.Interval1m})
	require.NoError(t, err)
	for err == nil {
		_, err = reader.Next()
	}
	require.NoError(t, reader.Close())
	require.ErrorIs(t, err, bolt.ErrCorrupt)
	require.Regexp(t, name, err.Error())

	report, err := store.Verify()
	require.NoError(t, err)
	require.Len(t, report.Problems, 1)
	require.Regexp(t, name, report.Problems[0].String())
}

// TestNoDamagedPagePanics overwrites pages of the file one after another: reading ends in candles
// or in an error.
func TestNoDamagedPagePanics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "candles.db")
	store, err := Open(path)
	require.NoError(t, err)
	_, err = store.Put(WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}, benchSeries(20_000), 2, 4, nil)
	require.NoError(t, err)
	used := 0
	require.NoError(t, store.db.View(func(tx *bbolt.Tx) error { used = int(tx.Size()); return nil }))
	require.NoError(t, store.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	found := 0
	for page := 0; page < used; page += os.Getpagesize() {
		broken := bytes.Clone(whole)
		for i := range 64 {
			broken[page+i] = byte(i*37 + page>>12)
		}
		require.NoError(t, os.WriteFile(path, broken, 0o644))
		if readDamaged(path) != nil {
			found++
		}
	}
	require.Greater(t, found, 30, "of %d pages", used/os.Getpagesize())
}

func readDamaged(path string) error {
	store, err := Read(path)
	if err != nil {
		return err
	}
	defer store.Close()
	_, listErr := store.List()
	report, verifyErr := store.Verify()
	if len(report.Problems) > 0 {
		verifyErr = report.Problems[0].Err
	}
	reader, err := store.Read(ReadOptions{Market: btcEUR, Interval: market.Interval1m})
	if err != nil {
		return err
	}
	defer reader.Close()
	for err == nil {
		_, err = reader.Next()
	}
	if err == io.EOF {
		err = nil
	}
	return errors.Join(listErr, verifyErr, err)
}
