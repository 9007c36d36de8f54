package backtest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// TestFeedsAreMergedAsANaiveTwinMergesThem lets feeds with random closes take their turns. The twin
// looks at all feeds at each step.
func TestFeedsAreMergedAsANaiveTwinMergesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		closes := rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(1, 12), 0, 12), 1, 9).Draw(t, "steps")
		feeds := make([]feed, len(closes))
		for i := range closes {
			var at int64
			for k, step := range closes[i] { // steps to closes
				at += step
				closes[i][k] = at
			}
			feeds[i].end = never
			if len(closes[i]) > 0 {
				feeds[i].end = market.Time(closes[i][0])
			}
		}
		m := newMerger(feeds)
		for m[0].close != never {
			want := int64(m[0].close)
			var due []int
			for i := range closes {
				if len(closes[i]) > 0 {
					want = min(want, closes[i][0])
				}
			}
			for i := range closes {
				if len(closes[i]) > 0 && closes[i][0] == want {
					due = append(due, i)
				}
			}
			var have []int
			for _, turn := range m[:m.due()] {
				require.EqualValues(t, want, turn.close)
				have = append(have, turn.feed)
			}
			require.Equal(t, due, have)
			for i := range m[:len(have)] {
				rest := closes[m[i].feed][1:]
				closes[m[i].feed], m[i].close = rest, never
				if len(rest) > 0 {
					m[i].close = market.Time(rest[0])
				}
			}
			m.settle(len(have))
			require.True(t, slices.IsSortedFunc(m, func(a, b turn) int {
				if a.before(b) {
					return -1
				}
				return 1
			}))
		}
		for i := range closes {
			require.Empty(t, closes[i])
		}
	})
}
