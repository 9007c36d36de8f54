package journal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// wantedOf draws what to ask for.
func wantedOf(chance *rand.Rand, last uint64) Wanted {
	w := Wanted{Most: 1 + chance.IntN(60), Looks: 20 + chance.IntN(900)}
	maybe := func(set func()) {
		if chance.IntN(3) == 0 {
			set()
		}
	}
	maybe(func() { w.Before = 1 + chance.Uint64N(last+3) })
	maybe(func() { w.Since = market.Time(chance.IntN(160_000)) })
	maybe(func() { w.Until = 1 + market.Time(chance.IntN(160_000)) })
	maybe(func() { w.Kinds = []EntryKind{EntryIntent, EntryKind(1 + chance.IntN(int(entryKinds)-1))} })
	maybe(func() { w.Strategy = twoStrategies[chance.IntN(2)] })
	maybe(func() { w.Market = []string{"BTC-EUR", "ETH-EUR"}[chance.IntN(2)] })
	if chance.IntN(6) == 0 {
		w.Order = market.OrderID(1 + chance.IntN(155))
	}
	return w
}

// listed is what Latest is to return without an end of its looks, from a list of all entries.
func listed(all []Named, w *Wanted) (numbers []uint64) {
	for i := range slices.Backward(all) {
		e := &all[i]
		switch {
		case w.Before != 0 && e.Number >= w.Before, e.At < w.Since, w.Until != 0 && e.At >= w.Until,
			len(w.Kinds) > 0 && !slices.Contains(w.Kinds, e.Kind), w.Strategy != "" && e.Strategy != w.Strategy,
			w.Market != "" && e.Market != w.Market, w.Order != 0 && e.Order != w.Order:
		default:
			numbers = append(numbers, e.Number)
		}
	}
	return numbers
}

// Whatever is asked for, page after page gives what a list of all entries gives, of a journal in
// segments and of one that was pruned.
func TestTheLatestEntriesAreThoseOfAListPageByPage(t *testing.T) {
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 7))
	whole := aYear(t, 150, 80)
	short, _ := pruned(t, whole, 60_000)
	for _, s := range []*Store{whole, short} {
		all, older, err := s.Latest(&Wanted{Most: 1e6, Looks: 1e6})
		require.NoError(t, err)
		require.Zero(t, older)
		slices.Reverse(all)
		count := 0
		require.NoError(t, s.Entries(0, func(e *Entry) error {
			require.Equal(t, *e, all[count].Entry)
			count++
			return nil
		}))
		require.Len(t, all, count)
		for range 120 {
			w := wantedOf(chance, all[len(all)-1].Number)
			asked, want, have := w, listed(all, &w), []uint64(nil)
			for {
				found, older, err := s.Latest(&asked)
				require.NoError(t, err, "seed %d", seed)
				require.LessOrEqual(t, len(found), w.Most)
				for i := range found {
					have = append(have, found[i].Number)
				}
				if asked.Before = older; older == 0 {
					break
				}
			}
			require.Equal(t, want, have, "seed %d: %+v", seed, w)
		}
	}
}

func TestAnEntryNamesItsStrategyAndItsMarket(t *testing.T) {
	s := aYear(t, 3, 1)
	entries, _, err := s.Latest(&Wanted{Most: 100, Looks: 100, Order: 2})
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	row, err := s.Order(2)
	require.NoError(t, err)
	for _, e := range entries {
		require.Equal(t, row.StrategyName, e.Strategy, e.Kind)
		require.Equal(t, s.Catalog().Market(row.Market).Name, e.Market, e.Kind)
	}
}

// BenchmarkLatest looks at entries of which none is wanted, by their kind and by their strategy,
// for which all are decoded. A question of the journal looks at 50,000 at most; the goal is 0.5 s.
// The floor walks over as many entries.
func BenchmarkLatest(b *testing.B) {
	const looks = 10_000
	s := aYear(b, 3_000, 10)
	last, err := s.LastNumber()
	require.NoError(b, err)
	require.Greater(b, last, uint64(looks))
	kind, name := Wanted{Most: 1, Looks: looks, Kinds: []EntryKind{EntrySeal}},
		Wanted{Most: 1, Looks: looks, Strategy: "another"}
	for _, row := range []struct {
		name string
		read func() error
	}{
		{"kind", func() error { _, _, err := s.Latest(&kind); return err }},
		{"strategy", func() error { _, _, err := s.Latest(&name); return err }},
		{"floor", func() error { return s.Entries(last-looks, func(*Entry) error { return nil }) }},
	} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, row.read())
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/looks*50, "ms-of-50,000")
		})
	}
}
