package research

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTheGroupsOnTrialAreSpreadOverAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, most := rapid.IntRange(1, 700).Draw(t, "groups"), rapid.IntRange(1, 12).Draw(t, "most")
		order, trials := trialFirst(n, most)
		require.LessOrEqual(t, trials, min(n, most, mostTrials))
		require.Zero(t, order[0], "the first group comes first to the file")
		if most >= mostTrials && n >= mostTrials {
			require.Equal(t, mostTrials, trials)
			for i, at := range order[:trials] {
				require.Equal(t, i*n/mostTrials, at)
			}
		}
		require.True(t, slices.IsSorted(order[trials:]))
		all := slices.Sorted(slices.Values(order))
		for i := range n {
			require.Equal(t, i, all[i])
		}
		require.Len(t, all, n)
	})
}
