package research_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research"
)

// shards runs a job in so many shards, and returns their files.
func shards(t *testing.T, job research.Job, of int) (files []string) {
	job.File = filepath.Join(t.TempDir(), "s-*.sweep")
	sets := 0
	for part := 1; part <= of; part++ {
		done, err := research.RunShard(t.Context(), job, research.Shard{Part: part, Of: of})
		require.NoError(t, err)
		require.Contains(t, done.File, fmt.Sprintf("-%dof%d.sweep", part, of))
		files, sets = append(files, done.File), sets+done.Sets
	}
	require.Equal(t, job.Sets, sets)
	return files
}

func TestShardsJoinToTheSweep(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, method := range []research.Method{research.Grid, research.Random, research.Sobol} {
		job, sets := jobOf(t, 600, "fast=2:12:1", "slow=15:40:5"), 66
		if job.Method = method; method != research.Grid {
			job.Sets, sets = 50, 50
		}
		outcome, whole := sweep(t, job)
		for _, of := range []int{1, 3, 11} { // there are 9 groups or fewer
			run := job
			run.File = filepath.Join(t.TempDir(), "s-*.sweep")
			var files []string
			for part := 1; part <= of; part++ {
				shard := research.Shard{Part: part, Of: of}
				done, err := research.RunShard(t.Context(), run, shard)
				require.NoError(t, err)
				// a kill leaves any beginning of a file, and the shard goes on
				content, err := os.ReadFile(done.File)
				require.NoError(t, err)
				require.NoError(t, os.Truncate(done.File, random.Int64N(int64(len(content)))))
				_, err = research.RunShard(t.Context(), run, shard)
				require.NoError(t, err)
				again, err := os.ReadFile(done.File)
				require.NoError(t, err)
				require.True(t, bytes.Equal(content, again))
				files = append(files, done.File)
			}
			random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
			merged, err := research.Merge("", files)
			require.NoError(t, err)
			require.Equal(t, sets, merged.Sets)
			require.NotContains(t, filepath.Base(merged.File), "of")
			content, err := os.ReadFile(merged.File)
			require.NoError(t, err)
			require.True(t, whole == string(content), "%s in %d shards", method, of)
			_, err = research.Merge("", files)
			require.NoError(t, err, "the same again")

			run.File = merged.File
			run.Progress = func(research.Progress) { t.Error("nothing runs") }
			again, _ := sweep(t, run)
			require.Equal(t, outcome, again)
		}
	}
}

func TestShardsThatDoNotJoinSayWhy(t *testing.T) {
	job := jobOf(t, 600, "fast=2:12:1", "slow=15:40:5")
	job.Method, job.Sets = research.Sobol, 40
	files := shards(t, job, 3)
	_, err := research.Merge("", []string{files[0], files[2]})
	require.EqualError(t, err, "missing: 2/3; run them, or name their files too")
	_, err = research.Merge("", nil)
	require.ErrorContains(t, err, "there is no file to merge")
	_, err = research.Merge("", append(files[:3:3], files[1]))
	require.ErrorContains(t, err, "another sweep is writing to this file") // it is open already
	content, err := os.ReadFile(files[1])
	require.NoError(t, err)
	double := filepath.Join(t.TempDir(), "double.sweep")
	require.NoError(t, os.WriteFile(double, content, 0o644))
	_, err = research.Merge("", append(files[:3:3], double))
	require.ErrorContains(t, err, "are both shard 2/3; leave one of them out")

	other := job
	other.Seed++
	_, err = research.Merge("", append(files[:2:2], shards(t, other, 3)[2]))
	require.ErrorContains(t, err, "belong to different sweeps, which differ in the seed")
	_, err = research.Merge("", append(files[:2:2], shards(t, job, 4)[2]))
	require.ErrorContains(t, err, "belong to different sweeps, which differ in the number of shards")

	job.File = filepath.Join(t.TempDir(), "whole.sweep")
	_, whole := sweep(t, job)
	_, err = research.Merge("", append(files[:2:2], job.File))
	require.ErrorContains(t, err, "is the file of a whole sweep, not of a shard")
	renamed := filepath.Join(t.TempDir(), "a.sweep")
	require.NoError(t, os.Rename(files[0], renamed))
	files[0] = renamed
	_, err = research.Merge("", files)
	require.ErrorContains(t, err, "want --out FILE")
	_, err = research.Merge(job.File, files)
	require.NoError(t, err, "the sweep has run, with the same bytes")
	require.NoError(t, os.WriteFile(job.File, []byte(whole[:len(whole)-1]), 0o644))
	_, err = research.Merge(job.File, files)
	require.ErrorContains(t, err, "is there already, with other content")

	for _, c := range []struct {
		content []byte
		want    string
	}{
		{content[:len(content)-1], "is not finished: it has 1 of the 2 groups of shard 2/3; run that shard again"},
		{content[:20], "is damaged at its beginning, or has hardly begun"},
		{[]byte("time,open"), "is no file of a shard"},
		{bytes.Replace(content, []byte(`"version":2`), []byte(`"version":9`), 1), "or has hardly begun"}, // its checksum
	} {
		require.NoError(t, os.WriteFile(files[1], c.content, 0o644))
		_, err = research.Merge(filepath.Join(t.TempDir(), "out.sweep"), files)
		require.ErrorContains(t, err, c.want)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(job.File), ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAShardIsRefusedWhereItCannotRun(t *testing.T) {
	job := jobOf(t, 600, "fast=2:12:1", "slow=15:40:5")
	shard := research.Shard{Part: 2, Of: 3}
	for _, method := range []research.Method{research.Halving, research.CMAES} {
		job.Method = method
		_, err := research.RunShard(t.Context(), job, shard)
		require.ErrorIs(t, err, research.ErrAdaptive)
		require.ErrorContains(t, err, string(method)+": it chooses its sets by the results")
	}
	job.Method = research.Grid
	_, err := research.RunShard(t.Context(), job, shard)
	require.NoError(t, err)
	_, err = research.RunShard(t.Context(), job, research.Shard{Part: 1, Of: 3})
	require.ErrorContains(t, err, "belongs to another sweep, which differs in the shard")
	_, err = research.Sweep(t.Context(), job)
	require.ErrorContains(t, err, "is the file of a shard; join all shards with bot sweep merge")
	for _, text := range []string{"", "3", "0/3", "4/3", "a/b", "1/0", "-1/3", "1/99999", "1/2/3"} {
		_, err := research.ParseShard(text)
		require.ErrorContains(t, err, "is no shard; want PART/OF, such as 3/8", text)
	}
	got, err := research.ParseShard("3/8")
	require.NoError(t, err)
	require.Equal(t, "3/8", strings.TrimSpace(got.String()))
}
