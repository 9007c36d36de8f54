package candles

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// TestALargeWriteIsThatOfASmallOne gives the same writes to a store that keeps loaded chunks in
// memory and commits once, and to one that writes each series beside the stored one.
func TestALargeWriteIsThatOfASmallOne(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		small, large := openRapidStore(t), openRapidStore(t)
		defer small.Close()
		defer large.Close()
		large.maxSpool = rapid.IntRange(0, 2000).Draw(r, "limit")
		for range rapid.IntRange(1, 5).Draw(r, "writes") {
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			candles := flat(randomHours(random)...)
			for i := range candles {
				candles[i].Volume = market.Volume(1 + random.IntN(2))
			}
			digits := uint8(rapid.IntRange(2, 4).Draw(r, "decimals"))
			o := WriteOptions{Market: rapid.SampledFrom([]string{"BTC-EUR", "ETH-EUR"}).Draw(r, "market"),
				Interval: market.Interval1h, Replace: rapid.Bool().Draw(r, "replace")}
			complete := []Range{{hourAt(random.Int64N(9000)), hourAt(random.Int64N(90000))}}
			want, err := small.Put(o, candles, digits, digits, complete)
			require.NoError(t, err)
			have, err := large.Put(o, candles, digits, digits, complete)
			require.NoError(t, err)
			require.Equal(t, want, have)
			require.Equal(t, everything(t, small), everything(t, large))
		}
	})
}

// randomHours returns some hours of a few chunks, in no order.
func randomHours(random *rand.Rand) (hours []int64) {
	first, step := random.Int64N(20_000), 1+random.Int64N(300)
	for n := range 1 + random.Int64N(100) {
		hours = append(hours, first+n*step)
	}
	random.Shuffle(len(hours), func(i, j int) { hours[i], hours[j] = hours[j], hours[i] })
	return hours
}

// everything is the content of a store, which is sound.
func everything(t testing.TB, store *Store) string {
	t.Helper()
	report, err := store.Verify()
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	list, err := store.List()
	require.NoError(t, err)
	var said bytes.Buffer
	for _, series := range list {
		hash, err := store.DataHash(series.Market, series.Interval, 0, 0)
		require.NoError(t, err)
		complete, err := store.Complete(series.Market, series.Interval)
		require.NoError(t, err)
		fmt.Fprintf(&said, "%+v %s %v\n", series, hash, complete)
	}
	return said.String()
}

// TestASpoolKeepsItsChunks puts chunks again and again, beside a map.
func TestASpoolKeepsItsChunks(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	folder := t.TempDir()
	s := spool{interval: market.Interval1m, path: filepath.Join(folder, "candles.db"), limit: 20_000,
		chunks: map[int64]*loadedChunk{}}
	want := map[int64][]byte{}
	candles, total := benchSeries(20*chunkSpan), 0
	var p chunkPacker
	for range 400 {
		first := random.IntN(19 * chunkSpan)
		number, offset := chunkOf(market.Interval1m.Index(candles[first].Start))
		packed := p.pack(candles[first:first+1+random.IntN(chunkSpan-offset)], market.Interval1m, 2, 4)
		total += len(packed)
		require.NoError(t, s.put(number, packed))
		want[number] = bytes.Clone(packed)
		for number, chunk := range s.chunks {
			have, err := s.packed(chunk)
			require.NoError(t, err)
			require.Equal(t, want[number], have)
		}
		require.Len(t, s.chunks, len(want))
	}
	live := 0
	for _, packed := range want {
		live += len(packed)
	}
	require.True(t, s.spilled())
	require.Less(t, s.end, int64(4*20*chunkSpan*20), "%d bytes are alive, %d were put", live, total)
	require.NoError(t, s.close())
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestARefusedLargeFileLeavesNoTrace imports a file whose last row is bad.
func TestARefusedLargeFileLeavesNoTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "candles.db")
	store, err := Open(path)
	require.NoError(t, err)
	importText(t, store, hourly("BTC-EUR"), canonical)
	store.maxSpool = 0
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = store.ImportCSV(strings.NewReader(benchCSV(20_000)+"nonsense\n"),
		ImportOptions{WriteOptions: WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}})
	require.ErrorAs(t, err, new(*BadRowsError))
	require.NoError(t, store.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// killedImport is the environment variable that makes a run of TestThisImportIsAChildThatIsKilled
// the child of TestAKilledImportHasHappenedOrNot: PATH of the store.
const killedImport = "TIDEMARK_KILLED_IMPORT"

// TestThisImportIsAChildThatIsKilled imports into the store that the environment names, and says a
// line after each transaction. After the one that the environment names by its number, it kills
// itself.
func TestThisImportIsAChildThatIsKilled(t *testing.T) {
	path, commits, found := strings.Cut(os.Getenv(killedImport), "*")
	if !found {
		t.Skip("it runs as a child of TestAKilledImportHasHappenedOrNot")
	}
	left, err := strconv.Atoi(commits)
	require.NoError(t, err)
	store, err := Open(path)
	require.NoError(t, err)
	store.maxSpool = 1 << 20
	store.committed = func() {
		fmt.Println("a transaction is done")
		if left--; left == 0 {
			self, err := os.FindProcess(os.Getpid())
			require.NoError(t, err)
			require.NoError(t, self.Kill())
			select {} // until the signal arrives
		}
	}
	file, err := os.Open(filepath.Join(filepath.Dir(path), "new.csv"))
	require.NoError(t, err)
	_, err = store.ImportCSV(file, ImportOptions{Complete: true, WriteOptions: killedSeries})
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.NoError(t, file.Close())
}

var killedSeries = WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m, Replace: true}

// TestAKilledImportHasHappenedOrNot kills a large import after each of its transactions, and at
// some moment after each: the store holds what it held before, or all of the file. A reader sees
// the same as a writer, which deletes what is left over.
func TestAKilledImportHasHappenedOrNot(t *testing.T) {
	folder := t.TempDir()
	origin := filepath.Join(folder, "origin.db")
	rows := strings.SplitAfter(benchCSV(700_000), "\n")
	store, err := Open(origin)
	require.NoError(t, err)
	_, err = store.Put(killedSeries, benchSeries(400_000), 2, 4, nil)
	require.NoError(t, err)
	importText(t, store, hourly("ETH-EUR"), canonical)
	old := everything(t, store)
	require.NoError(t, store.Close())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "new.csv"),
		[]byte(strings.Join(slices.Concat(rows[100_000:300_000], rows[500_000:]), "")), 0o600))

	results := map[string]int{}
	path := filepath.Join(folder, "candles.db")
	for kill := 1; ; kill++ {
		for _, byItself := range []bool{true, false} {
			data, err := os.ReadFile(origin)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, data, 0o600))
			finished := runKilled(t, path, kill, byItself)
			reader, err := Read(path)
			require.NoError(t, err)
			seen := everything(t, reader)
			require.NoError(t, reader.Close())
			writer, err := Open(path)
			require.NoError(t, err)
			require.Equal(t, seen, everything(t, writer))
			require.NoError(t, writer.db.View(func(tx *bbolt.Tx) error {
				require.Nil(t, tx.Bucket(bucketBeside))
				require.Nil(t, tx.Bucket(bucketReplaced))
				return nil
			}))
			require.NoError(t, writer.Close())
			results[seen]++
			if finished && byItself { // it has fewer transactions
				require.NotEqual(t, old, seen)
				require.Len(t, results, 2)
				require.Greater(t, results[old], 2)
				require.Greater(t, results[seen], 2)
				require.Greater(t, kill, 4)
				return
			}
		}
	}
}

// runKilled runs TestThisImportIsAChildThatIsKilled in a child and kills it, or lets it kill
// itself. It reports whether the import came to its end.
func runKilled(t *testing.T, path string, transactions int, byItself bool) (finished bool) {
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestThisImportIsAChildThatIsKilled$", "-test.v")
	child.WaitDelay = time.Minute
	limit := 1 << 30
	if byItself {
		limit = transactions
	}
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s*%d", killedImport, path, limit))
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	lines := bufio.NewScanner(out)
	for seen := 0; lines.Scan(); {
		if strings.Contains(lines.Text(), "a transaction is done") {
			if seen++; seen == transactions && !byItself {
				require.NoError(t, child.Process.Kill())
			}
		}
	}
	_, _ = io.Copy(io.Discard, out)
	err = child.Wait()
	if err != nil {
		require.ErrorContains(t, err, "signal: killed")
	}
	return err == nil
}
