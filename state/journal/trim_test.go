package journal

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// trimStep commits a blob together with a Trim.
func trimStep(t testing.TB, s *Store, before market.Time) Trimmed {
	b := s.NewBatch()
	b.Blob("part", []byte{byte(s.commits)})
	b.Trim(before)
	require.NoError(t, s.Commit(b))
	return s.Trimmed()
}

// tablesOf is everything in a store that a person or a bot can ask for.
func tablesOf(t testing.TB, s *Store) map[string]string {
	tables := map[string]string{}
	for _, name := range ExportTables() {
		var text strings.Builder
		_, err := s.Export(&text, name)
		require.NoError(t, err)
		tables[name] = text.String()
	}
	return tables
}

func TestATrimmedFilePrunesToTheSameAsTheWholeOne(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	for range 4 {
		n := 300 + market.OrderID(random.IntN(700))
		s := aYear(t, n, n+1) // no order belongs to an open position
		s.db.NoSync = true
		whole, whole2 := copyOf(t, s), requireSound(t, s)
		var sum Removed
		before := market.Time(0)
		for range 3 {
			before += market.Time(random.IntN(int(n)/2)) * 1000
			for more := true; more; {
				done := trimStep(t, s, before)
				require.NoError(t, done.Damaged)
				sum = Removed{sum.Entries + done.Entries, sum.Orders + done.Orders, sum.Fills + done.Fills}
				more = done.More
				report := requireSound(t, s)
				require.Equal(t, whole2.Entries, report.Entries+sum.Entries)
				require.Equal(t, whole2.Orders, report.Orders+sum.Orders)
				require.Equal(t, whole2.Fills, report.Fills+sum.Fills)
			}
			if random.IntN(2) == 0 {
				s = again(t, s)
				s.db.NoSync = true
			}
		}
		b := whole.NewBatch() // what the steps above have committed
		b.Blob("part", []byte{0})
		require.NoError(t, whole.Commit(b))
		trimmed, rest := pruned(t, s, before)
		direct, all := pruned(t, whole, before)
		require.Equal(t, tablesOf(t, direct), tablesOf(t, trimmed))
		require.Equal(t, requireSound(t, direct), requireSound(t, trimmed))
		require.Equal(t, all.Orders, rest.Orders+sum.Orders)
		require.LessOrEqual(t, rest.Entries, int64(2*segmentEntries), "a trim leaves less than two segments")
	}
}

func TestATrimmedOrderIsNotFoundByAnyName(t *testing.T) {
	s := aYear(t, 900, 100) // of a position that is held
	_, err := s.Order(201)
	require.NoError(t, err)
	for trimStep(t, s, 600_000).More {
	}
	requireSound(t, s)
	_, err = s.Order(201)
	require.ErrorIs(t, err, boltfile.ErrNotFound)
	id := market.ClientOrderID(testRun, 201)
	_, err = s.OrderByClientID(id)
	require.ErrorIs(t, err, boltfile.ErrNotFound)
	for _, name := range []string{"201", id.String(), exchangeID(201).String()} {
		_, err = s.FindOrder(name)
		require.ErrorIs(t, err, boltfile.ErrNotFound, name)
	}
	require.Empty(t, must(s.Story(201)))
	require.Empty(t, must(s.FillsOf(201)))
	b := s.NewBatch()
	b.Order(ownOrder(201))
	require.ErrorContains(t, s.Commit(b), "order 201: bot state compact or bot.keep removed an order of this number")
}

func TestATrimOfADamagedJournalRemovesNothingAndTheCommitHolds(t *testing.T) {
	s := aYear(t, 700, 690)
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		return flipIn(tx.Bucket(bucketSegments), key64(256), 70)
	}))
	done := trimStep(t, s, 600_000)
	require.ErrorIs(t, done.Damaged, boltfile.ErrCorrupt)
	require.Zero(t, done.Removed)
	at, err := s.Blob("part")
	require.NoError(t, err)
	require.NotNil(t, at)
}

// TestAFileThatIsTrimmedStopsGrowing trades for much longer than the file keeps.
func TestAFileThatIsTrimmedStopsGrowing(t *testing.T) {
	s := botStore(t)
	s.db.NoSync = true
	const kept = 400 // orders
	grown := map[market.OrderID]int64{}
	last := market.OrderID(15 * kept)
	if testing.Short() {
		last = 8 * kept
	}
	for id := market.OrderID(1); id <= last; id++ {
		b := s.NewBatch()
		live(t, s, b, id)
		b.Blob("part", []byte{byte(id)})
		b.Trim(market.Time(id-kept) * 1000)
		require.NoError(t, s.Commit(b))
		require.NoError(t, s.Trimmed().Damaged)
		if id%(kept/2) == 0 {
			require.NoError(t, s.db.View(func(tx *bbolt.Tx) error { grown[id] = tx.Size(); return nil }))
		}
	}
	t.Logf("bytes by orders: %v", grown)
	report := requireSound(t, s)
	require.Less(t, report.Orders, int64(kept+3*segmentEntries/5+100))
	require.LessOrEqual(t, grown[last]-int64(last-5*kept)*60, grown[5*kept]*11/10,
		"bookings take up to 60 bytes an order")
}

// BenchmarkTrim is the time of a turn's commit that removes a block of the journal, beside one that
// removes nothing: both write the five entries of an order's life.
func BenchmarkTrim(b *testing.B) {
	for _, name := range []string{"none", "trim"} {
		b.Run(name, func(b *testing.B) {
			keep := market.OrderID(min(5000, 500*b.N))
			if name == "none" {
				keep = 0
			}
			s := botStore(b)
			s.db.NoSync = true
			batch := s.NewBatch()
			id := market.OrderID(1)
			next := func() {
				live(b, s, batch, id)
				batch.Blob("part", []byte{byte(id), byte(id >> 8)})
				id++
			}
			for id < 2*market.OrderID(min(5000, 500*b.N)) { // one round of CI is no measurement
				next()
				if keep != 0 {
					batch.Trim(market.Time(id-keep) * 1000)
				}
				require.NoError(b, s.Commit(batch))
			}
			s.db.NoSync = false
			var took []time.Duration
			var removed int64
			for range b.N {
				s.db.NoSync = true
				for range 50 { // a block has 256 entries
					next()
					require.NoError(b, s.Commit(batch))
				}
				s.db.NoSync = false
				next()
				if keep != 0 {
					batch.Trim(market.Time(id-keep) * 1000)
				}
				began := time.Now()
				require.NoError(b, s.Commit(batch))
				took = append(took, time.Since(began))
				removed += s.Trimmed().Entries
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(float64(took[len(took)-1].Microseconds()), "most-µs")
			b.ReportMetric(float64(removed)/float64(len(took)), "entries/commit")
		})
	}
}
