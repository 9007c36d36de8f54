package research_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research"
)

func TestTheTopIsJudgedSetBySet(t *testing.T) {
	job := jobOf(t, 1500, "fast=2:20:2", "slow=5:50:5")
	found, err := research.Search(t.Context(), job)
	require.NoError(t, err)
	defer func() { require.NoError(t, found.Close()) }()
	outcome, err := found.Outcome()
	require.NoError(t, err)
	require.Len(t, outcome.Top, 10)
	for i, best := range outcome.Top {
		require.Equal(t, found.Tries[i].Set, best.Set)
		require.Equal(t, job.Space.Settings(best.Set), best.Settings)
		require.Empty(t, best.DSR.Missing)
	}
	require.Equal(t, outcome.Verdict.DSR, outcome.Top[0].DSR)
	require.Equal(t, outcome.Verdict.Excess, outcome.Top[0].Excess)
	require.Len(t, outcome.Splits.Logits, outcome.Splits.Splits)
	require.Len(t, found.Distinct(), outcome.Distinct)
}

func TestAVerdictWarnsFirst(t *testing.T) {
	for _, row := range []struct {
		v    research.Verdict
		want []string
	}{
		{research.Verdict{Above: true}, nil},
		{research.Verdict{}, []string{"Not distinguishable from luck."}},
		{research.Verdict{Above: true, Alone: true}, []string{research.StandsAlone}},
		{research.Verdict{Above: true, Few: true}, []string{research.FewTrips}},
		{research.Verdict{Alone: true}, []string{"Not distinguishable from luck.", research.StandsAlone}},
	} {
		require.Equal(t, row.want, row.v.Warnings())
	}
}
