package journal

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// aYear is a store in which orders 1 to n lived and ended, one a thousand nanoseconds, but for
// every 40th, which is open, and every 33rd, whose fee is not settled. Market 1 is flat, market 2
// is held since order held.
func aYear(t testing.TB, n, held market.OrderID) *Store {
	s := botStore(t)
	s.db.NoSync = true
	b := s.NewBatch()
	b.Start(1, &Start{Run: testRun, Version: "v1"})
	for id := market.OrderID(1); id <= n; id++ {
		switch {
		case id%40 == 0:
			b.Journal(market.Time(id)*1000, intentOf(ownOrder(id)))
			b.Order(ownOrder(id))
		case id%33 == 0:
			o := ownOrder(id)
			o.State, o.Status, o.FilledAmount, o.AmountRemaining, o.Updated = state.Filled, market.StatusFilled, 100,
				0, market.Time(id)*1000
			f := fillOf(o, 1, 100, o.Updated)
			f.Settled = false
			b.Journal(o.Updated, intentOf(o))
			b.Order(o)
			b.Event(&market.Event{At: o.Updated, Kind: market.KindFill, Fills: []market.Fill{f}})
		default:
			live(t, s, b, id)
		}
	}
	b.Position(1, 1, &market.Position{})
	b.Position(1, 2, &market.Position{Amount: 5, Opened: market.Time(held) * 1000})
	require.NoError(t, s.Commit(b))
	return s
}

// stays says what Prune keeps of aYear.
func stays(id, before, held market.OrderID) bool {
	return id >= before || id%40 == 0 || id%33 == 0 || id%2 == 1 && id >= held
}

func pruned(t testing.TB, s *Store, before market.Time) (*Store, Removed) {
	path := filepath.Join(t.TempDir(), "pruned.db")
	removed, err := s.Prune(path, before)
	require.NoError(t, err)
	into, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = into.Close() })
	require.NoError(t, into.Bind(twoMarkets(t), twoStrategies))
	return into, removed
}

func TestPruneRemovesEndedOrdersAndTheChainContinues(t *testing.T) {
	const n, before, held = 700, 500, 300
	s := aYear(t, n, held)
	whole := requireSound(t, s)
	p, removed := pruned(t, s, before*1000)
	report := requireSound(t, p)
	require.NotZero(t, report.Cut)
	require.Equal(t, whole.Entries, report.Entries+removed.Entries)
	require.Equal(t, whole.Orders, report.Orders+removed.Orders)
	require.Equal(t, whole.Fills, report.Fills+removed.Fills)
	for id := market.OrderID(1); id <= n; id++ {
		row, err := p.Order(id)
		if !stays(id, before, held) {
			require.ErrorIs(t, err, bolt.ErrNotFound, "order %d", id)
			_, err = p.OrderByClientID(market.ClientOrderID(testRun, id))
			require.ErrorIs(t, err, bolt.ErrNotFound)
			continue
		}
		require.NoError(t, err, "order %d", id)
		was, err := s.Order(id)
		require.NoError(t, err)
		require.Equal(t, was, row)
		require.Equal(t, must(s.Story(id)), must(p.Story(id)), "order %d keeps its whole story", id)
		require.Equal(t, must(s.FillsOf(id)), must(p.FillsOf(id)))
		row, err = p.OrderByClientID(market.ClientOrderID(testRun, id))
		require.NoError(t, err)
		require.Equal(t, id, row.ID)
	}
	open, err := p.OpenOrders()
	require.NoError(t, err)
	require.Len(t, open, n/40)
	require.Equal(t, must(s.LastEntries(100)), must(p.LastEntries(100)))

	b := p.NewBatch()
	live(t, p, b, n+1) // life goes on
	b.Order(ownOrder(7))
	require.ErrorContains(t, p.Commit(b), "order 7: bot state compact or bot.keep removed an order of this number")
	b.Reset()
	requireSound(t, again(t, p))
}

// must unpacks what cannot fail here.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestAFileIsPrunedAgainAndAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	s := aYear(t, 600, 450)
	last := requireSound(t, s)
	for before := market.OrderID(0); before < 700; before += market.OrderID(random.IntN(300)) {
		p, _ := pruned(t, s, market.Time(before)*1000)
		report := requireSound(t, p)
		require.LessOrEqual(t, report.Entries, last.Entries)
		require.GreaterOrEqual(t, report.Cut, last.Cut)
		for id := market.OrderID(1); id <= 600; id++ {
			_, err := p.Order(id)
			require.Equal(t, stays(id, before, 450), err == nil, "order %d before %d", id, before)
		}
		s, last = p, report
	}
	require.Empty(t, must(s.LastEntries(0)))
	b := s.NewBatch()
	live(t, s, b, 601)
	requireSound(t, again(t, s))
}

func TestPruneRefusesADamagedFileAndAnUnwritablePath(t *testing.T) {
	s := aYear(t, 100, 90)
	_, err := s.Prune(filepath.Join(t.TempDir(), "missing", "p.db"), 50_000)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		return flipIn(tx.Bucket(bucketSegments), key64(256),
			50)
	}))
	path := filepath.Join(t.TempDir(), "p.db")
	_, err = s.Prune(path, 50_000)
	require.ErrorIs(t, err, bolt.ErrCorrupt)
	require.NoFileExists(t, path)
}

func TestTheCutOfAPrunedFileCannotBeHidden(t *testing.T) {
	p, _ := pruned(t, aYear(t, 300, 290), 200_000)
	cut := must(p.Check()).Cut
	for name, damage := range map[string]func(tx *bbolt.Tx) error{
		"the cut's checkpoint": func(tx *bbolt.Tx) error { return tx.Bucket(bucketCheckpoints).Delete(key64(cut)) },
		"the cut's hash": func(tx *bbolt.Tx) error {
			return flipIn(tx.Bucket(bucketCheckpoints), key64(cut), 3)
		},
		"the first entry after it": func(tx *bbolt.Tx) error { return tx.Bucket(bucketJournal).Delete(key64(cut + 1)) },
		"what says where it is":    func(tx *bbolt.Tx) error { return tx.Bucket(bolt.BucketMeta).Delete(keyCut) },
		"an entry left behind": func(tx *bbolt.Tx) error {
			key, _ := tx.Bucket(bucketJournal).Cursor().First()
			return flipIn(tx.Bucket(bucketJournal), key, 50)
		},
	} {
		c := copyOf(t, p)
		require.NoError(t, c.db.Update(damage), name)
		report, err := c.Check()
		require.NoError(t, err)
		require.NotEmpty(t, report.Flaws, name)
	}
}
