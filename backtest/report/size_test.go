package report

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The heap yields what sorting all trips by their size yields.
func TestTheLargestTripsComeFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []*kept
		var want []int
		for i, profit := range rapid.SliceOf(rapid.Float64Range(-3, 3)).Draw(t, "profits") {
			list, want = append(list, &kept{Trip: Trip{Profit: math.Round(profit)}}), append(want, i)
		}
		slices.SortStableFunc(want, func(a, b int) int {
			return cmp.Compare(math.Abs(list[b].Profit), math.Abs(list[a].Profit))
		})
		sizes := newBySize(list)
		for _, place := range want {
			require.Equal(t, place, sizes.next())
		}
	})
}
