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
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
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
	for range 2 {
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
				if random.IntN(8) == 0 { // in the middle of a block
					s = again(t, s)
					s.db.NoSync = true
				}
				if more && random.IntN(3) > 0 {
					continue
				}
				report := requireSound(t, s)
				require.Equal(t, whole2.Entries, report.Entries+sum.Entries)
				require.Equal(t, whole2.Orders, report.Orders+sum.Orders)
				require.Equal(t, whole2.Fills, report.Fills+sum.Fills)
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
	require.ErrorIs(t, err, bolt.ErrNotFound)
	id := market.ClientOrderID(testRun, 201)
	_, err = s.OrderByClientID(id)
	require.ErrorIs(t, err, bolt.ErrNotFound)
	for _, name := range []string{"201", id.String(), exchangeID(201).String()} {
		_, err = s.FindOrder(name)
		require.ErrorIs(t, err, bolt.ErrNotFound, name)
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
	require.ErrorIs(t, done.Damaged, bolt.ErrCorrupt)
	require.Zero(t, done.Removed)
	at, err := s.Blob("part")
	require.NoError(t, err)
	require.NotNil(t, at)
}

// An order that was open for long has kept its old entries. When it is old itself they go a few
// with a step, and its story is shorter meanwhile.
func TestTheOldEntriesOfAnOrderGoAFewWithAStep(t *testing.T) {
	const told = 3 * segmentEntries
	s := botStore(t)
	s.db.NoSync = true
	b, o := s.NewBatch(), ownOrder(1)
	b.Journal(1, intentOf(o))
	b.Order(o)
	for n := range market.Time(told) {
		report := market.ReportOf(&o.Order, market.ExecNew)
		b.Journal(2+n, &ReportEntry{Report: report})
	}
	require.NoError(t, s.Commit(b))
	others := func(from, to market.OrderID) {
		for id := from; id < to; id++ {
			live(t, s, b, id)
		}
	}
	others(2, 300)
	for trimStep(t, s, 600_000).More {
	}
	require.EqualValues(t, told+1, len(must(s.Story(1))), "it is open")
	require.Less(t, requireSound(t, s).Orders, int64(200))
	o.State, o.Status, o.Updated = state.Canceled, market.StatusCanceled, 600_000
	b.Journal(600_000, &ReportEntry{Report: market.ReportOf(&o.Order, market.ExecCanceled)})
	b.Order(o)
	require.NoError(t, s.Commit(b))
	others(300, 500)
	var sum Removed
	shorter := 0
	for more := true; more; {
		done := trimStep(t, s, 1_000_000)
		require.NoError(t, done.Damaged)
		require.LessOrEqual(t, done.Entries, int64(segmentEntries))
		if done.Orders > 0 {
			require.LessOrEqual(t, done.Entries, int64(trimWork), "no block goes with an order")
		}
		if left := len(must(s.Story(1))); done.Entries > 0 && left > 0 && left <= told {
			shorter++
			requireSound(t, s)
			if shorter == 3 {
				s = again(t, s)
				s.db.NoSync = true
			}
		}
		sum.Entries += done.Entries
		more = done.More
	}
	require.Greater(t, shorter, 10, "steps with a part of the story")
	require.Empty(t, must(s.Story(1)))
	_, err := s.Order(1)
	require.ErrorIs(t, err, bolt.ErrNotFound)
	require.Greater(t, sum.Entries, int64(told))
	requireSound(t, s)
}

// TestAFileThatIsTrimmedStopsGrowing trades for much longer than the file keeps.
func TestAFileThatIsTrimmedStopsGrowing(t *testing.T) {
	s := botStore(t)
	s.db.NoSync = true
	const kept = 200 // orders
	grown := map[market.OrderID]int64{}
	const last = market.OrderID(8 * kept)
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

// BenchmarkTrim is the time of a turn's commit that takes a step of a trim. Beside it stand a
// commit of one blob alone, which is the floor, and a commit that takes all steps of a block at
// once: that is what a trim did before it had steps. The variant memory syncs nothing: it shows the
// time of the program without that of the disk.
func BenchmarkTrim(b *testing.B) {
	for _, name := range []string{"disk", "memory"} {
		b.Run(name, func(b *testing.B) {
			steps, blocks := newTrimBench(b, name == "memory"), newTrimBench(b, name == "memory")
			var plain, step, whole []time.Duration
			for range b.N {
				steps.more()
				plain = append(plain, steps.commit(steps.s.Commit))
				for more := true; more; more = steps.s.block != nil {
					steps.trim()
					step = append(step, steps.commit(steps.s.Commit))
				}
				blocks.more()
				blocks.trim()
				whole = append(whole, blocks.commit(blocks.s.commitBlock))
			}
			for _, took := range []struct {
				of    string
				times []time.Duration
			}{{"plain", plain}, {"step", step}, {"whole", whole}} {
				slices.Sort(took.times)
				n := len(took.times)
				b.ReportMetric(float64(took.times[n/2].Microseconds()), took.of+"-p50-µs")
				b.ReportMetric(float64(took.times[n*99/100].Microseconds()), took.of+"-p99-µs")
				b.ReportMetric(float64(took.times[n-1].Microseconds()), took.of+"-most-µs")
			}
			b.ReportMetric(float64(len(step))/float64(b.N), "steps/block")
			b.ReportMetric(steps.bytes(), "B/kept-order")
		})
	}
}

// commitBlock commits a batch, and takes all steps to remove a block in its transaction.
func (s *Store) commitBlock(b *Batch) error {
	s.block = nil
	err := s.db.Update(func(tx *bbolt.Tx) error {
		before, err := headOf(tx)
		if err != nil {
			return err
		}
		c := committer{tx: tx, head: before, Batch: b, packer: &s.packer}
		if err := c.run(); err != nil {
			return err
		}
		c.packed = false
		for more := true; more && err == nil; more = s.block != nil {
			s.trimmed, s.block, err = c.trim(s.block)
		}
		return err
	})
	b.Reset()
	return err
}

// trimBench is a store of 10,000 orders, of which those that are older than the latest 5,000 go.
type trimBench struct {
	b     *testing.B
	s     *Store
	batch *Batch
	quiet bool
	next  market.OrderID
	keep  market.OrderID
}

func newTrimBench(b *testing.B, quiet bool) *trimBench {
	t := &trimBench{b: b, s: botStore(b), quiet: quiet, next: 1, keep: market.OrderID(min(5000, 200*b.N))}
	t.batch = t.s.NewBatch()
	for range t.keep / 50 * 2 { // one round of CI is no measurement
		t.more()
		if t.next > t.keep {
			t.trim()
			require.NoError(b, t.s.commitBlock(t.batch))
		}
	}
	return t
}

// more writes the entries of a block.
func (t *trimBench) more() {
	t.s.db.NoSync = true
	for range 51 {
		live(t.b, t.s, t.batch, t.next)
		t.next++
	}
	t.s.db.NoSync = t.quiet
	t.batch.Blob("part", []byte{byte(t.next), byte(t.next >> 8)})
}

// trim lets the next commit remove something.
func (t *trimBench) trim() {
	t.batch.Blob("part", []byte{byte(t.s.commits), byte(t.s.commits >> 8), 1})
	t.batch.Trim(market.Time(t.next-t.keep) * 1000)
}

// bytes is the size of the file without its bookings, for each order that it keeps.
func (t *trimBench) bytes() (each float64) {
	require.NoError(t.b, t.s.db.View(func(tx *bbolt.Tx) error {
		booked := tx.Bucket(bucketBookings).Stats()
		each = float64(tx.Size()-int64(booked.LeafAlloc+booked.BranchAlloc)) / float64(t.keep)
		return nil
	}))
	return each
}

func (t *trimBench) commit(commit func(*Batch) error) time.Duration {
	began := time.Now()
	require.NoError(t.b, commit(t.batch))
	return time.Since(began)
}
