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
		{research.Verdict{}, nil},
		{research.Verdict{Alone: true, Few: true}, []string{research.StandsAlone, research.FewTrips}},
		{research.Verdict{Border: []research.Setting{{Key: "a.fast", Value: "5"}}},
			[]string{"The winner lies at the border of the space (fast=5): better sets may lie beyond."}},
		{research.Verdict{Fees: research.Finding{Value: 0.83}},
			[]string{"Fees took 83 % of what the winner's trades earned."}},
		{research.Verdict{Answer: research.NewAnswer(research.TestSPA, 0.4, "searches", 100, 0),
			SPA: research.Finding{Value: 0.02}},
			[]string{"Luck hardly explains the best Sharpe in excess of all sets (p 0.020); the winner is another " +
				"set."}},
	} {
		if row.v.SPA == (research.Finding{}) {
			row.v.SPA.Value = 1
		}
		require.Equal(t, row.want, row.v.Warnings())
	}
}
