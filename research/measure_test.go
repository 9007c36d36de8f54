package research_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
)

func TestAMeasurementRunsSetsAndKeepsNothing(t *testing.T) {
	job := jobOf(t, 3000, "fast=5:20:5", "slow=30:60:10")
	job.File = filepath.Join(t.TempDir(), "a.sweep")
	job.Tried = func(research.Tried) { t.Error("a measurement is no try") }
	clock := time.Unix(0, 0)
	p, err := research.Measure(t.Context(), job, 3*time.Second, func() time.Time {
		clock = clock.Add(time.Second)
		return clock
	})
	require.NoError(t, err)
	require.Equal(t, 16, p.Sets)
	require.Positive(t, p.Days)
	require.Equal(t, int64((p.To-p.From)/market.Time(time.Hour)), p.Candles)
	require.GreaterOrEqual(t, p.Expect(research.Grid, 16), time.Second)
	require.NoFileExists(t, job.File)
}

func TestALaterStartTakesTheChoiceOfTheFile(t *testing.T) {
	folder := t.TempDir()
	job := jobOf(t, 3000, "fast=5:20:5", "slow=30:60:10")
	job.File = filepath.Join(folder, "within-*.sweep")
	again, plain := job, job
	chosen, err := job.Resume(time.Minute)
	require.NoError(t, err)
	require.False(t, chosen)
	job.Method, job.Sets = research.Sobol, 7
	_, err = research.Sweep(t.Context(), job)
	require.NoError(t, err)

	chosen, err = again.Resume(time.Minute)
	require.NoError(t, err)
	require.True(t, chosen)
	require.Equal(t, job.File, again.File)
	require.Equal(t, research.Sobol, again.Method)
	require.Equal(t, 7, again.Sets)

	plain.Method, plain.Sets, plain.File = research.Sobol, 7, filepath.Join(folder, "plain.sweep")
	_, err = research.Sweep(t.Context(), plain)
	require.NoError(t, err)
	one, err := os.ReadFile(job.File)
	require.NoError(t, err)
	other, err := os.ReadFile(plain.File)
	require.NoError(t, err)
	require.Equal(t, other, one)

	longer := jobOf(t, 3000, "fast=5:20:5", "slow=30:60:10")
	longer.File = filepath.Join(folder, "within-*.sweep")
	chosen, err = longer.Resume(2 * time.Minute)
	require.NoError(t, err)
	require.False(t, chosen, "another time is another choice")
}
