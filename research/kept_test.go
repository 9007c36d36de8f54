package research_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research"
)

// glance opens a file for reading alone, and looks at it.
func glance(t *testing.T, path string, before *research.Kept) (*research.Kept, error) {
	on, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = on.Close() })
	return research.Glance(on, before)
}

// A reader looks at the file after each group that the sweep, which holds the lock, has kept. What
// it finds at the end is what the sweep has found.
func TestAReaderSeesARunningSweep(t *testing.T) {
	for _, method := range []research.Method{research.Grid, research.Halving, research.CMAES} {
		job := jobOf(t, 600, "fast=2:20:3", "slow=5:50:5")
		if job.Method = method; method != research.Grid {
			job.Sets = 40
		}
		job.Workers = 1 // two may end their groups out of turn, and the file then takes several at once
		var kept *research.Kept
		looks := 0
		job.Progress = func(p research.Progress) {
			var err error
			kept, err = glance(t, job.File, kept)
			require.NoError(t, err)
			require.Equal(t, p.Done, kept.Sets)
			looks++
		}
		want, err := research.Sweep(t.Context(), job)
		require.NoError(t, err)
		require.Greater(t, kept.Groups, 2)
		require.GreaterOrEqual(t, looks, kept.Groups)
		total, _ := kept.Total()
		require.GreaterOrEqual(t, total, want.Tried)
		fresh, err := glance(t, job.File, nil)
		require.NoError(t, err)
		require.Equal(t, fresh.Bytes(), kept.Bytes())
		require.Equal(t, []int{want.Tried, fresh.Groups, fresh.Parts}, []int{kept.Sets, kept.Groups, kept.Parts})

		found, err := kept.Found(job.Objective)
		require.NoError(t, err)
		have, err := found.Outcome()
		require.NoError(t, err)
		require.Equal(t, said(t, want.Map), said(t, have.Map))
		require.Equal(t, []any{want.From, want.To, want.Days, want.Identity}, []any{have.From, have.To, have.Days,
			have.Identity})
		require.Equal(t, []int{want.Tried, want.Started, want.Distinct, want.Undefined, want.Halted},
			[]int{have.Tried, have.Started, have.Distinct, have.Undefined, have.Halted})
		if method == research.CMAES {
			require.NotEmpty(t, have.Verdict.DSR.Missing)
			continue
		}
		require.Equal(t, want.Top[0].Settings, have.Top[0].Settings)
		require.Equal(t, want.Verdict.Luck, have.Verdict.Luck)
		require.InDelta(t, float64(want.Verdict.DSR.Value), float64(have.Verdict.DSR.Value), 1e-12)
		require.Contains(t, have.Verdict.SPA.Missing, "bot sweep computes it")
	}
}

// said is a value as JSON, in which undefined figures are equal.
func said(t *testing.T, value any) string {
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

func TestTheNeighboursOfASetAreOneStepAway(t *testing.T) {
	job := jobOf(t, 600, "fast=2:8:2", "slow=10:30:10")
	_, _ = sweep(t, job)
	kept, err := glance(t, job.File, nil)
	require.NoError(t, err)
	found, err := kept.Found(job.Objective)
	require.NoError(t, err)
	values := map[[2]int]float64{}
	for _, try := range found.Tries {
		values[[2]int(kept.Space.Places(try.Set))] = try.Value
	}
	means, counts := found.Around(found.Tries...)
	for i, try := range found.Tries {
		at := kept.Space.Places(try.Set)
		sum, n := 0.0, 0
		for _, step := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			if v, ran := values[[2]int{at[0] + step[0], at[1] + step[1]}]; ran && !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		require.Equal(t, n, counts[i])
		require.InDelta(t, sum/float64(n), means[i], 1e-9)
	}
}

// Any beginning of a file is one that a writer or a kill has left. A reader takes its whole groups.
func TestAReaderTakesTheWholeGroupsOfAnyBeginning(t *testing.T) {
	job := jobOf(t, 600, "fast=2:20:3", "slow=5:50:5")
	_, content := sweep(t, job)
	whole, err := glance(t, job.File, nil)
	require.NoError(t, err)
	random, path := rand.New(rand.NewPCG(5, 6)), filepath.Join(t.TempDir(), "cut.sweep")
	for range 60 {
		cut := random.IntN(len(content))
		require.NoError(t, os.WriteFile(path, []byte(content[:cut]), 0o644))
		kept, err := glance(t, path, nil)
		if err != nil {
			require.Less(t, cut, 2000, "only the identity is needed: %v", err)
			continue
		}
		require.LessOrEqual(t, kept.Bytes(), int64(cut))
		require.LessOrEqual(t, kept.Sets, whole.Sets)
		found, err := kept.Found(job.Objective)
		require.NoError(t, err)
		require.Len(t, found.Tries, kept.Sets)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content[:cut], string(after), "a reader changes nothing")
	}
}

func FuzzGlance(f *testing.F) {
	real, err := os.ReadFile("testdata/v1.sweep")
	require.NoError(f, err)
	f.Add(real)
	f.Add([]byte("TMSWEEP\n"))
	f.Add([]byte("TIDESHD\n\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	path := filepath.Join(f.TempDir(), "a.sweep")
	f.Fuzz(func(t *testing.T, content []byte) {
		require.NoError(t, os.WriteFile(path, content, 0o644))
		on, err := os.Open(path)
		require.NoError(t, err)
		defer on.Close()
		if kept, err := research.Glance(on, nil); err == nil {
			sharpe, err := research.Objective("sharpe")
			require.NoError(t, err)
			_, _ = kept.Found(sharpe)
		}
	})
}
