package journal

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// requireSound wants a store without a flaw.
func requireSound(t testing.TB, s *Store) CheckReport {
	t.Helper()
	report, err := s.Check()
	require.NoError(t, err)
	require.Empty(t, report.Flaws)
	return report
}

// aDay is a store in which orders lived and everything else is there too.
func aDay(t testing.TB, orders int) *Store {
	s := botStore(t)
	s.db.NoSync = true // these tests crash no machine
	b := s.NewBatch()
	b.Start(1, &Start{Run: testRun, Version: "v1"})
	b.Halt(1, &Halt{Scope: "market BTC-EUR", Reason: "shortfall"})
	b.Blob("engine", []byte("engine's"))
	b.Cursor(1, "trades", []byte("7"))
	b.Equity(EquitySample{At: 1, Equity: 100})
	for id := range market.OrderID(orders) {
		live(t, s, b, id+1)
	}
	b.Order(ownOrder(market.OrderID(orders) + 1))
	require.NoError(t, s.Commit(b))
	return s
}

// copyOf is a store on a copy of another's file.
func copyOf(t testing.TB, s *Store) *Store {
	path := filepath.Join(t.TempDir(), "bot.db")
	require.NoError(t, s.Backup(path))
	c, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestCheckFindsNothingInASoundFile(t *testing.T) {
	report := requireSound(t, aDay(t, 300))
	require.Equal(t, CheckReport{Entries: 1503, Orders: 301, Open: 1, Fills: 600, Bookings: 600, Runs: 1,
		Halts: 1}, report)
	requireSound(t, botStore(t))
}

func TestCheckNamesThePlaceOfEachFlaw(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector: this is one goroutine")
	}
	day := aDay(t, 300)
	for _, c := range []struct {
		damage func(tx *bbolt.Tx) error
		want   string
	}{
		{func(tx *bbolt.Tx) error { return tx.Bucket(bucketJournal).Delete(key64(1407)) },
			"journal entry 1408 follows number 1406"},
		{func(tx *bbolt.Tx) error { return tx.Bucket(bucketJournal).Delete(key64(1503)) },
			"the journal ends with entry 1502, not with 1503"},
		{func(tx *bbolt.Tx) error { return flipIn(tx.Bucket(bucketJournal), key64(1409), 50) },
			"journal entry 1409: its hash does not fit"},
		{func(tx *bbolt.Tx) error { return flipIn(tx.Bucket(bucketJournal), key64(1409), 3) },
			"journal entry 1409: its hash does not fit"},
		{func(tx *bbolt.Tx) error { return tx.Bucket(bucketSegments).Delete(key64(512)) },
			"journal entry 513 follows number 256"},
		{func(tx *bbolt.Tx) error { return flipIn(tx.Bucket(bucketSegments), key64(512), 400) },
			"journal entries 257 to 512: corrupt: checksum"},
		{func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketSegments).Put(key64(511), tx.Bucket(bucketSegments).Get(key64(512)))
		}, "journal entries 256 to 511: corrupt: checksum"},
		{func(tx *bbolt.Tx) error { return tx.Bucket(bucketJournal).Put(key64(300), make([]byte, 60)) },
			"journal entry 300 follows number 256"},
		{func(tx *bbolt.Tx) error { return flipIn(tx.Bucket(bucketCheckpoints), key64(1024), 3) },
			"checkpoint 1024: it does not fit the journal"},
		{func(tx *bbolt.Tx) error { return tx.Bucket(bucketCheckpoints).Delete(key64(1024)) },
			"checkpoint 1024: it does not fit the journal"},
		{func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketOrders).Delete(part(orderKey(2), partStory, key64(9)))
		}, "journal entry 9: the story of order 2 lacks it"},
		{func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketOrders).Put(part(orderKey(2), partStory, key64(9)), []byte{1, 1, 1})
		}, "journal entry 13: the story of order 2 lacks it"},
		{func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketOrders).Put(part(orderKey(2), partStory, key64(9)), []byte{1, 1, 1, 1, 1})
		}, "1501 journal entries are in the stories of orders, 1500 should be"},
		{func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketOrders).Put(part(orderKey(2), partStory, key64(9)), []byte{1, 0, 1, 1})
		}, "corrupt: the story of order 2 after entry 10"},
		{func(tx *bbolt.Tx) error { return flipIn(tx.Bucket(bucketOrders), part(orderKey(2), partRow, nil), 30) },
			"orders: order 2: corrupt: checksum"},
		{func(tx *bbolt.Tx) error { return tx.Bucket(bucketOrders).Delete(part(orderKey(2), partRow, nil)) },
			"order 2: it has fills and is not in the table of orders"},
		{func(tx *bbolt.Tx) error { return tx.Bucket(bucketOpen).Put(orderKey(2), nil) },
			"order 2: it is filled, and the list of open orders says otherwise"},
		{func(tx *bbolt.Tx) error { return tx.Bucket(bucketOpen).Delete(orderKey(301)) },
			"order 301: it is sent, and the list of open orders says otherwise"},
		{func(tx *bbolt.Tx) error { return clientIDsOf(tx).put(orderKey(301), nil) },
			"order 2: it is not found by its client order id"},
		{func(tx *bbolt.Tx) error {
			return clientIDsOf(tx).put(orderKey(1), append(make([]byte, 16), orderKey(2)...))
		}, "clientIDs 1: order 2 has another id"},
		{func(tx *bbolt.Tx) error { return tx.Bucket(bucketClientIDs).Put(orderKey(1), make([]byte, 28)) },
			"clientIDs 1: corrupt: checksum"},
		{func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketExchangeIDs).Put(exchangeKey(exchangeID(2), "BTC-EUR"), orderKey(4))
		}, "order 2: it is not found by its exchange id"},
		{removeFill(2), "order 2: its fills add up to 0.0000005, its filledAmount is 0.000001"},
		{func(tx *bbolt.Tx) error { return flipIn(tx.Bucket(bucketBlobs), []byte("engine"), 2) },
			`blobs "engine": corrupt: checksum`},
		{func(tx *bbolt.Tx) error { return flipIn(tx.Bucket(bucketCursors), []byte("trades"), 0) },
			`cursors "trades": corrupt: checksum`},
		{func(tx *bbolt.Tx) error { return flipIn(tx.Bucket(bucketHalts), []byte("market BTC-EUR"), 20) },
			`halts: halt "market BTC-EUR": corrupt: checksum`},
		{func(tx *bbolt.Tx) error { return flipIn(tx.Bucket(bucketRuns), key64(1), 20) },
			"runs: run 1: corrupt: checksum"},
	} {
		s := copyOf(t, day)
		require.NoError(t, s.db.Update(c.damage))
		report, err := s.Check()
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(report.Flaws), c.want)
	}
}

// flipIn changes one byte of a value.
func flipIn(bucket *bbolt.Bucket, key []byte, at int) error {
	value := append([]byte{}, bucket.Get(key)...)
	value[at] ^= 0x10
	return bucket.Put(key, value)
}

// removeFill takes out the first fill of an order with everything that names it.
func removeFill(id market.OrderID) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		key, at := tx.Bucket(bucketOrders).Cursor().Seek(part(orderKey(id), partFill, nil))
		full := append(append(append([]byte{}, at...), key[:8]...), key[9:]...)
		if err := tx.Bucket(bucketOrders).Delete(bytes.Clone(key)); err != nil {
			return err
		}
		return tx.Bucket(bucketFills).Delete(full)
	}
}

func TestAStartChecksTheJournalsEnd(t *testing.T) {
	day := aDay(t, 300)
	for _, c := range []struct {
		bucket []byte
		number uint64
		want   string
	}{
		{bucketJournal, 1500, "journal entry 1500: its hash"},
		{bucketSegments, 1280, "journal entries 1025 to 1280: corrupt: checksum"},
		{bucketSegments, 1024, "journal entries 769 to 1024: corrupt: checksum"},
		{bucketCheckpoints, 1024, "journal entry 1024 is not the one"},
		{bucketSegments, 256, ""},
	} {
		s, want := copyOf(t, day), c.want
		require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
			return flipIn(tx.Bucket(c.bucket), key64(c.number), 2)
		}))
		require.NoError(t, s.Close())
		again, err := Open(s.path)
		if want == "" { // before the last checkpoint: Check alone looks there
			require.NoError(t, err)
			require.NoError(t, again.Close())
			continue
		}
		require.ErrorIs(t, err, bolt.ErrCorrupt)
		require.ErrorContains(t, err, want)
	}
}

var flips = flag.Int("flips", 80, "how many bits TestNoFlippedByteGoesUnnoticed flips")

// TestNoFlippedByteGoesUnnoticed flips bits all over a file without free pages: what is
// read of it afterwards is an error, or Check tells, or the bit was of no use and everything reads
// as before. A longer run, which is four bits a page and more:
//
//	go test ./state/journal -run NoFlippedByte -flips 4000
//
// Package bot flips more kinds of pages, and lets every command read them in children.
func TestNoFlippedByteGoesUnnoticed(t *testing.T) {
	s := aDay(t, 60)
	dir := t.TempDir()
	source, path := filepath.Join(dir, "sound.db"), filepath.Join(dir, "bot.db")
	require.NoError(t, s.Compact(source))
	sound, err := os.ReadFile(source)
	require.NoError(t, err)
	want := dumpOf(t, source)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 4))
	if testing.Short() {
		*flips = min(*flips, 25)
	}
	found := 0
	for range *flips {
		damaged := append([]byte{}, sound...)
		at := random.IntN(len(sound))
		damaged[at] ^= 1 << random.IntN(8)
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		flaws, err := flawsOf(path)
		if err != nil || len(flaws) > 0 {
			found++
			continue
		}
		if have := dumpOf(t, path); !slices.Equal(want, have) {
			require.Fail(t, "a flipped bit was not seen", "seed %d, byte %d", seed, at)
		}
	}
	t.Logf("%d flips, %d found, the others without effect", *flips, found)
	if *flips < 80 { // a third of the bytes are in use: of 25 flips, only one may hit such a byte
		require.Positive(t, found)
		return
	}
	require.Greater(t, found, *flips/8)
}

func flawsOf(path string) ([]Flaw, error) {
	s, err := Read(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	report, err := s.Check()
	return report.Flaws, err
}

// dumpOf is everything that a file holds.
func dumpOf(t testing.TB, path string) (dump []string) {
	s, err := Read(path)
	require.NoError(t, err)
	defer s.Close()
	for _, bucket := range buckets {
		require.NoError(t, s.walk(bucket, nil, func(key, value []byte) error {
			dump = append(dump, fmt.Sprintf("%s %x %x", bucket, key, value))
			return nil
		}))
	}
	return dump
}

func TestACopyHoldsTheSameAndACompactOneIsSmaller(t *testing.T) {
	s := aDay(t, 200)
	dir := t.TempDir()
	backup, compact := filepath.Join(dir, "backup.db"), filepath.Join(dir, "compact.db")
	require.NoError(t, os.WriteFile(backup, []byte("old"), 0o600))
	require.NoError(t, s.Backup(backup))
	require.NoError(t, s.Compact(compact))
	require.NoError(t, s.Close())
	want := dumpOf(t, s.path)
	require.Equal(t, want, dumpOf(t, backup))
	require.Equal(t, want, dumpOf(t, compact))
	large, err := os.Stat(s.path)
	require.NoError(t, err)
	small, err := os.Stat(compact)
	require.NoError(t, err)
	require.Less(t, small.Size(), large.Size())
	require.Equal(t, os.FileMode(0o600), small.Mode().Perm())
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 2, "nothing else is left")
	require.Error(t, botStore(t).Backup(filepath.Join(dir, "none", "x.db")))
}

func TestABackupIsTakenWhileTheBotCommits(t *testing.T) {
	s := aDay(t, 50)
	path := filepath.Join(t.TempDir(), "backup.db")
	done := make(chan error)
	go func() {
		for range 20 {
			if err := s.Backup(path); err != nil {
				done <- err
				return
			}
		}
		close(done)
	}()
	b := s.NewBatch()
	for id := market.OrderID(1000); ; id++ {
		select {
		case err := <-done:
			require.NoError(t, err)
			flaws, err := flawsOf(path)
			require.NoError(t, err)
			require.Empty(t, flaws)
			return
		default:
			live(t, s, b, id)
		}
	}
}

func TestACheckpointInTheMiddleOfABatchFitsTheJournal(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	for n := range market.Time(3*checkpointEvery + 10) {
		b.Journal(n+1, &Timer{})
		if n%7 == 6 {
			require.NoError(t, s.Commit(b))
		}
	}
	require.NoError(t, s.Commit(b))
	report, err := s.Check()
	require.NoError(t, err)
	require.Empty(t, report.Flaws)
	require.NoError(t, s.Close())
	s, err = Open(s.path)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}
