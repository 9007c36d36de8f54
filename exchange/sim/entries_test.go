package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// place is an entry without its order.
type place struct {
	level    market.Price
	sequence int64
}

// farther sorts places as entries stand: the next to be reached last.
func farther(down bool) func(x, y place) int {
	return func(x, y place) int {
		switch {
		case x.level != y.level && (x.level < y.level) == down, x.level == y.level && x.sequence > y.sequence:
			return -1
		case x != y:
			return 1
		}
		return 0
	}
}

// TestEntriesStandAsInAPlainList adds and removes at random, up to many blocks and back to none.
// Some entries have the same place.
func TestEntriesStandAsInAPlainList(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random, down := rand.New(rand.NewPCG(seed, 1)), seed%2 == 0
			var list entries
			var plain []entry
			for step := range 12_000 {
				grows := step/3000%2 == 0
				if len(plain) == 0 || random.IntN(10) < 3 != grows {
					e := entry{level: market.Price(random.IntN(500)), sequence: int64(random.IntN(1000)),
						order: &order{}}
					list.insert(e, down)
					plain = append(plain, e)
				} else {
					at := random.IntN(len(plain))
					list.remove(plain[at], down)
					plain = slices.Delete(plain, at, at+1)
				}
				if step%50 == 0 || len(plain) < 5 {
					compareEntries(t, &list, plain, down)
				}
			}
			for _, e := range plain {
				list.remove(e, down)
			}
			compareEntries(t, &list, nil, down)
		})
	}
}

func compareEntries(t *testing.T, list *entries, plain []entry, down bool) {
	checkBlocks(t, list)
	var want, have []place
	orders := map[*order]bool{}
	for _, e := range plain {
		want, orders[e.order] = append(want, place{e.level, e.sequence}), true
	}
	slices.SortFunc(want, farther(down))
	for e := range list.nearest {
		require.True(t, orders[e.order])
		delete(orders, e.order)
		have = append(have, place{e.level, e.sequence})
	}
	slices.Reverse(have)
	require.Equal(t, want, have)
	require.Equal(t, len(plain), list.count)
	if next := list.next(); next != nil {
		require.Equal(t, want[len(want)-1], place{next.level, next.sequence})
	}
}

func TestEntriesAllocateNothingOnceWarm(t *testing.T) {
	var list entries
	random := rand.New(rand.NewPCG(1, 1))
	all := make([]entry, 1000)
	for i := range all {
		all[i] = entry{level: market.Price(random.IntN(1000)), sequence: int64(i), order: &order{}}
		list.insert(all[i], true)
	}
	at := 0
	change := func() {
		e := &all[at%len(all)]
		list.remove(*e, true)
		e.level = market.Price(random.IntN(1000))
		list.insert(*e, true)
		at++
	}
	for range 20_000 {
		change()
	}
	require.Zero(t, testing.AllocsPerRun(20_000, change))
}
