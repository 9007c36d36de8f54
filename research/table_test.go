package research_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research"
)

// The table of sets has every set with all its figures, and the days their returns, to the bit.
func TestTheTableOfSetsHasEveryFigure(t *testing.T) {
	job := jobOf(t, 1500, "fast=2:6:2", "slow=5:20:5")
	found, err := research.Search(t.Context(), job)
	require.NoError(t, err)
	defer func() { require.NoError(t, found.Close()) }()
	outcome, err := found.Outcome()
	require.NoError(t, err)

	var sets, days bytes.Buffer
	require.NoError(t, found.WriteSets(&sets))
	require.NoError(t, found.WriteDays(&days))
	rows, err := csv.NewReader(&sets).ReadAll()
	require.NoError(t, err)
	returns, err := csv.NewReader(&days).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+len(found.Tries))
	at := func(name string) int { return slices.Index(rows[0], name) }
	read := func(text string) float64 {
		if text == "" {
			return math.NaN()
		}
		x, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return x
	}
	again, err := found.Again(t.Context())
	require.NoError(t, err)
	kept := make([]float64, found.Winner.Days())
	require.NoError(t, found.Returns(found.Winner, kept))
	require.Len(t, again.Returns, len(kept))
	for day, r := range again.Returns {
		require.Equal(t, kept[day], float64(float32(r)), "the winner runs again as it ran")
	}
	for _, try := range found.Tries {
		i := slices.IndexFunc(rows, func(row []string) bool { return row[0] == strconv.FormatUint(try.Set, 10) })
		for _, s := range job.Space.Settings(try.Set) {
			require.Equal(t, s.Value, rows[i][at(s.Key)])
		}
		for n, name := range research.FigureNames() {
			want := try.Figures[n]
			if math.IsInf(want, 0) {
				want = math.NaN()
			}
			require.Equal(t, math.Float64bits(want), math.Float64bits(read(rows[i][at(name)])), "%s of set %d", name,
				try.Set)
		}
		own := make([]float64, found.Days)
		require.NoError(t, found.Returns(try, own))
		first := slices.IndexFunc(returns, func(row []string) bool { return row[0] == rows[i][0] })
		for day := range own {
			require.Equal(t, own[day], read(returns[first+day][2]))
		}
	}
	best := slices.IndexFunc(rows, func(row []string) bool {
		return row[0] == strconv.FormatUint(outcome.Top[0].Set, 10)
	})
	require.Equal(t, float64(outcome.Verdict.Excess), read(rows[best][at("excess_sharpe")]))
	require.Len(t, returns, 1+len(found.Tries)*found.Days)
	require.Less(t, returns[1][1], returns[2][1], "dates")
}
