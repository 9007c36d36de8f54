package backtest

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/strategy/smacross"
)

func TestPlansRunTogetherEndAsTheyDoAlone(t *testing.T) {
	first, _ := planOver(t, 30_000, 1_000_000_00, smacross.Definition, nil)
	var plans []*Plan
	for slow := 30; slow < 60; slow += 10 {
		p := *first
		p.Strategies = slices.Clone(p.Strategies)
		p.Strategies[0].Values = map[string]any{"slow": int64(slow)}
		plans = append(plans, &p)
	}
	all, err := RunTogether(context.Background(), plans, Together{})
	require.NoError(t, err)
	for i := range all {
		require.NoError(t, all[i].Err)
		want, alone := mustRun(t, plans[i]), all[i].Result
		require.Equal(t, want.Performance, alone.Performance)
		require.Len(t, all[i].Track.Returns, int(want.Performance.Days))
		require.InDelta(t, float64(want.Performance.Exposure), all[i].Track.Exposure, 0.02)
		require.Len(t, all[i].Track.Hold, len(all[i].Track.Returns))
	}
	from, err := CommonFrom(slices.Values(plans))
	require.NoError(t, err)
	require.EqualValues(t, 1641081600_000_000_000, from, "the next midnight after 51 minutes")
}
