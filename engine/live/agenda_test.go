package live

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// The twin of an agenda looks at every query each time.
func TestTheAgendaKnowsWhatIsDueAsALookAtEveryQueryDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, now := newQueryQueue(), market.Time(0)
		known := func() *query {
			if len(a.of) == 0 {
				t.Skip("no query")
			}
			return a.of[rapid.SampledFrom(slices.Sorted(maps.Keys(a.of))).Draw(t, "order")]
		}
		var removed []*query
		time := rapid.Int64Range(0, 20)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				id := market.OrderID(rapid.IntRange(1, 12).Draw(t, "id"))
				if a.of[id] == nil {
					a.add(&query{id: id, next: now.Add(market.Duration(time.Draw(t, "next")))})
				}
			},
			"at": func(t *rapid.T) { known().at(now.Add(market.Duration(time.Draw(t, "next") - 3))) },
			"remove": func(*rapid.T) {
				q := known()
				a.remove(q.id)
				if q.pending {
					removed = append(removed, q)
				}
			},
			"begin": func(*rapid.T) {
				if q := a.first(now); q != nil {
					q.begin()
				}
			},
			"end": func(*rapid.T) {
				if q := known(); q.pending {
					q.end()
				}
			},
			"late answer": func(*rapid.T) {
				for _, q := range removed {
					q.end()
				}
				removed = nil
			},
			"later": func(t *rapid.T) { now = now.Add(market.Duration(time.Draw(t, "passed"))) },
			"": func(t *rapid.T) {
				var due *query
				next, any := market.Time(0), false
				for _, id := range slices.Sorted(maps.Keys(a.of)) {
					q := a.of[id]
					if q.pending {
						continue
					}
					if due == nil && q.next <= now {
						due = q
					}
					if !any || q.next < next {
						next, any = q.next, true
					}
				}
				at, there := a.next()
				require.Equal(t, any, there)
				require.Equal(t, max(now, next), max(now, at))
				require.Same(t, due, a.first(now))
			},
		})
	})
}

// BenchmarkQueriesDue is the cost of a look at what is due, where nothing is.
func BenchmarkQueriesDue(b *testing.B) {
	for _, open := range []int{50, 400, 20_000} {
		b.Run(fmt.Sprint(open), func(b *testing.B) {
			a := newQueryQueue()
			for id := range open {
				a.add(&query{id: market.OrderID(id + 1), next: market.Time(id + 1)})
			}
			for b.Loop() {
				_, _ = a.next()
				if a.first(0) != nil {
					b.Fatal("due too early")
				}
			}
		})
	}
}
