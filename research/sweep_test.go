package research_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// jobOf is a small sweep of smacross over hours of the made-up market.
func jobOf(t *testing.T, hours int, vary ...string) research.Job {
	var dims []research.Dimension
	for _, text := range vary {
		d, err := research.ParseDimension(text)
		require.NoError(t, err)
		dims = append(dims, d)
	}
	space, err := research.NewSpace(dims...)
	require.NoError(t, err)
	sharpe, err := research.Objective("sharpe")
	require.NoError(t, err)
	make, err := exampleMake(hours)
	require.NoError(t, err)
	p, err := make(nil)
	require.NoError(t, err)
	source, err := p.Open(backtest.Feed{}, 0, 0)
	require.NoError(t, err)
	candles, err := source.Next()
	require.NoError(t, err)
	return research.Job{Space: space, Method: research.Grid, Objective: sharpe, Workers: 2, Seed: 7,
		File: filepath.Join(t.TempDir(), "a.sweep"), To: candles[len(candles)-1].End(),
		Look: func(settings []research.Setting) (string, error) {
			values := map[string]any{}
			for _, s := range settings {
				values[s.Key] = s.Value
			}
			_, err := shipped.SMACross.Resolve(values)
			return "", err
		},
		Worker: func() (research.Make, error) { return exampleMake(hours) }}
}

// sweep runs a job to its end; it returns the outcome as JSON, and the file.
func sweep(t *testing.T, job research.Job) (outcome, file string) {
	o, err := research.Sweep(t.Context(), job)
	require.NoError(t, err)
	o.File = ""
	text, err := json.Marshal(o)
	require.NoError(t, err)
	content, err := os.ReadFile(job.File)
	require.NoError(t, err)
	return string(text), string(content)
}

// kills is how often each method's sweep is cut off, for each number of workers.
var kills = flag.Int("kills", 1, "cut each sweep off so many times")

func TestAFileIsTheSameWhateverTheCoresAndKills(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, method := range research.Methods() {
		if testing.Short() && method != research.CMAES {
			continue
		}
		job := jobOf(t, 600, "fast=2:20:2", "slow=5:50:5")
		job.Method = method
		if method != research.Grid {
			job.Sets = 100
		}
		outcome, file := sweep(t, job)
		for _, workers := range []int{1, 3} {
			job.Workers, job.File = workers, filepath.Join(t.TempDir(), "b.sweep")
			again, content := sweep(t, job)
			require.Equal(t, outcome, again, "%s with %d workers", method, workers)
			require.True(t, file == content, "%s: the file depends on the workers", method)
			for range *kills { // a kill leaves any beginning of the file
				require.NoError(t, os.Truncate(job.File, random.Int64N(int64(len(file)))))
				again, content = sweep(t, job)
				require.Equal(t, outcome, again, "%s goes on", method)
				require.True(t, file == content, "%s: the file depends on the kill", method)
			}
		}
	}
}

func TestACancelledSweepGoesOn(t *testing.T) {
	job := jobOf(t, 600, "fast=2:20:2", "slow=5:50:5")
	_, file := sweep(t, job)
	job.File = filepath.Join(t.TempDir(), "b.sweep")
	ran := 0
	for starts := 1; ; starts++ {
		ctx, cancel := context.WithCancel(t.Context())
		job.Progress = func(research.Progress) { cancel() }
		var began research.Start
		job.Began = func(s research.Start) { began = s }
		_, err := research.Sweep(ctx, job)
		cancel()
		require.GreaterOrEqual(t, began.Done, ran, "what is in the file is not computed again")
		if ran = began.Done; err == nil {
			require.Greater(t, starts, 1)
			break
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	content, err := os.ReadFile(job.File)
	require.NoError(t, err)
	require.True(t, file == string(content))
}

func TestADamagedEndLosesItsLastGroupAlone(t *testing.T) {
	job := jobOf(t, 900, "fast=2:12:2", "slow=15:40:5")
	_, file := sweep(t, job)
	var started research.Start
	job.Began = func(s research.Start) { started = s }
	sets := 36
	for i := 1; i < 1500; i += 211 { // the last group has more bytes than that
		damaged := []byte(file)
		damaged[len(damaged)-i] ^= 0x40
		require.NoError(t, os.WriteFile(job.File, damaged, 0o644))
		_, content := sweep(t, job)
		require.True(t, file == content)
		require.NotEmpty(t, started.Torn)
		require.Equal(t, sets-7, started.Done, "byte %d from the end", i)
	}
}

func TestAnotherSweepsFileIsRefused(t *testing.T) {
	job := jobOf(t, 900, "fast=2:12:2", "slow=15:40:5")
	_, file := sweep(t, job)
	for _, c := range []struct {
		change func(*research.Job)
		want   string
	}{
		{func(j *research.Job) { j.Seed++ }, "the seed"},
		{func(j *research.Job) { j.Identity.Data = "others" }, "the candles"},
		{func(j *research.Job) { j.Identity.Code, j.Identity.Config = "a", "b" },
			"the version of the program, the config"},
		{func(j *research.Job) { j.Method = research.Random }, "the method"},
	} {
		other := job
		c.change(&other)
		_, err := research.Sweep(t.Context(), other)
		require.ErrorContains(t, err, "belongs to another sweep, which differs in "+c.want)
	}
	for _, c := range []struct{ content, want string }{
		{"time,open,high\n1,2,3\n", "is no file of a sweep"},
		{file[:9] + "\x00" + file[10:], "damaged at its beginning"},
	} {
		require.NoError(t, os.WriteFile(job.File, []byte(c.content), 0o644))
		_, err := research.Sweep(t.Context(), job)
		require.ErrorContains(t, err, c.want)
		after, err := os.ReadFile(job.File)
		require.NoError(t, err)
		require.Equal(t, c.content, string(after), "it is left as it is")
	}
}

func TestTheSameGridIsRankedByAnotherObjectiveWithoutRunningAgain(t *testing.T) {
	job := jobOf(t, 900, "fast=2:12:2", "slow=15:40:5")
	sweep(t, job)
	var err error
	job.Objective, err = research.Objective("return - drawdown")
	require.NoError(t, err)
	job.Progress = func(research.Progress) { t.Error("nothing runs") }
	o, err := research.Sweep(t.Context(), job)
	require.NoError(t, err)
	require.Equal(t, 36, o.Tried)
	require.InDelta(t, float64(o.Top[0].Figure("return")-o.Top[0].Figure("drawdown")), float64(o.Top[0].Value), 1e-12)
	require.NotEmpty(t, o.Verdict.PBO.Missing)
}

func TestTheFiguresOfASetAreThoseOfItsBacktest(t *testing.T) {
	job := jobOf(t, 1500, "fast=3:23:5", "slow=20,40", "share=20%,90%")
	o, err := research.Sweep(t.Context(), job)
	require.NoError(t, err)
	make, err := exampleMake(1500)
	require.NoError(t, err)
	for _, ranked := range o.Top {
		p, err := make(ranked.Settings)
		require.NoError(t, err)
		p.From = market.Time(o.From)
		result, err := backtest.Run(t.Context(), p, backtest.Options{})
		require.NoError(t, err)
		require.Equal(t, int64(o.Days), result.Performance.Days)
		for i, want := range research.FiguresOf(result) {
			require.Equal(t, backtest.Figure(want), ranked.Figures[i].Value, "%s %s", ranked.Settings,
				ranked.Figures[i].Name)
		}
	}
}

func TestBadSweepsSayWhatIsWrong(t *testing.T) {
	never := func(research.Progress) {}
	for _, c := range []struct {
		vary   []string
		change func(*research.Job)
		is     error
		want   string
	}{
		{[]string{"fast=5"}, func(*research.Job) {}, research.ErrOneSet, ""},
		{[]string{"fast=60,70", "slow=20,30"}, func(*research.Job) {}, research.ErrNoSets,
			"fast: 60 is not below slow"},
		{[]string{"fast=10,70", "slow=30"}, func(*research.Job) {}, research.ErrOneSet,
			"1 are left out: fast=70 slow=30"},
		{[]string{"fast=5,6", "slow=4000"}, func(*research.Job) {}, backtest.ErrNoCandles, "longest warm-up"},
		{[]string{"fats=5,6"}, func(*research.Job) {}, nil, `unknown parameter "fats": the nearest is "fast"`},
		{[]string{"fast=5,6000"}, func(*research.Job) {}, nil, "6000 is out of bounds, want 1 to 1000"},
		{[]string{"fast=5,6"}, func(j *research.Job) { j.Sets = 5 }, nil, "a grid tries all sets"},
		{[]string{"fast=5,6"}, func(j *research.Job) { j.Method = "anneal" }, nil, `"anneal" is no method`},
		{[]string{"fast=5,6"}, func(j *research.Job) { j.Objective, _ = research.Objective("log(-1)") },
			research.ErrUndefined, "log(-1) in 2 sets"},
		{[]string{"fast=5,6"}, func(j *research.Job) { j.Space = nil }, research.ErrEmptySpace, ""},
	} {
		job := jobOf(t, 900, c.vary...)
		job.Progress = never
		job.Began = func(b research.Start) {
			require.Less(t, b.From, b.To, "%v: a range that is told goes forward", c.vary)
		}
		c.change(&job)
		_, err := research.Sweep(t.Context(), job)
		require.Error(t, err, c.vary)
		if c.is != nil {
			require.ErrorIs(t, err, c.is, c.vary)
		}
		require.ErrorContains(t, err, c.want, c.vary)
		require.NotErrorIs(t, err, os.ErrNotExist)
	}
}

func TestUndefinedObjectivesRankLastAndUnfitSetsAreNotRanked(t *testing.T) {
	job := jobOf(t, 900, "fast=2:12:2", "slow=15:40:5")
	job.Objective, _ = research.Objective("trips > 20 ? sqrt(-1) : trips")
	need, err := research.Requirement("trips >= 15")
	require.NoError(t, err)
	job.Require = []*research.Formula{need}
	o, err := research.Sweep(t.Context(), job)
	require.NoError(t, err)
	require.Positive(t, o.Undefined)
	require.Positive(t, o.Unfit)
	require.LessOrEqual(t, float64(o.Top[0].Value), 20.0)
	for _, r := range o.Top {
		require.GreaterOrEqual(t, float64(r.Figure("trips")), 15.0)
	}
}

// A set without a loss, or without days that fall, has an infinite figure: it never wins.
func TestAnInfiniteObjectiveRanksLastAndIsCounted(t *testing.T) {
	for _, objective := range []string{"sharpe / (trips - 4)", "min(sharpe / (trips - 4), 100)", "profit_factor"} {
		job := jobOf(t, 500, "fast=2:12:2", "slow=10:100:10")
		job.Objective, _ = research.Objective(objective)
		found, err := research.Search(t.Context(), job)
		require.NoError(t, err, objective)
		o, err := found.Outcome()
		require.NoError(t, err, objective)
		without := 0
		for i, try := range found.Tries {
			if !try.Valued() {
				without++
			} else {
				require.Equal(t, i+without, i, "%s: set %d stands behind one without a value", objective, try.Set)
			}
		}
		require.Positive(t, without, objective)
		require.Equal(t, without, o.Undefined, objective)
		require.Contains(t, o.Counts(), fmt.Sprintf("%d without a value", without))
		for _, r := range o.Top {
			require.True(t, r.Value.Defined(), objective)
		}
		require.Equal(t, o.Top[0].Figure("trips") < 10, o.Verdict.Few)
		require.NoError(t, found.Close())
	}
}

func TestAnErrorOfASetEndsTheSweepAndNamesTheSet(t *testing.T) {
	job := jobOf(t, 900, "fast=2:12:2", "slow=15:40:5")
	broken := errors.New("a wire is cut")
	job.Worker = func() (research.Make, error) {
		make, err := exampleMake(900)
		return func(s []research.Setting) (*backtest.Plan, error) {
			p, err := make(s)
			if s[0].Value == "12" && s[1].Value == "40" {
				p.Open = func(backtest.Feed, market.Time, market.Time) (backtest.Source, error) { return nil, broken }
			}
			return p, err
		}, err
	}
	_, err := research.Sweep(t.Context(), job)
	if err != nil { // it is not the one that opens the candles of its group
		require.ErrorIs(t, err, broken)
	}
	job.Worker = func() (research.Make, error) {
		return func([]research.Setting) (*backtest.Plan, error) { return nil, broken }, nil
	}
	_, err = research.Sweep(t.Context(), job)
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "fast=2 slow=15")
	require.NotErrorIs(t, err, strategy.InvalidError{})
}

func TestSetsThatWarmUpAlikeAreAskedOnce(t *testing.T) {
	job := jobOf(t, 900, "fast=2:12:2", "slow=15:40:5")
	var asked int
	worker := job.Worker
	job.Worker = func() (research.Make, error) {
		make, err := worker()
		return func(s []research.Setting) (*backtest.Plan, error) {
			asked++
			return make(s)
		}, err
	}
	job.Workers = 1
	each, file := sweep(t, job)
	askedEach := asked
	job.Warmup = func(s []research.Setting) (string, error) { return s[1].Value, nil }
	asked, job.File = 0, filepath.Join(t.TempDir(), "b.sweep")
	once, again := sweep(t, job)
	require.Equal(t, each, once)
	require.True(t, file == again)
	require.Equal(t, 36-6, askedEach-asked, "six averages, not 36 pairs")
}

func TestASweepSaysWhatItWillDoBeforeItKeepsAGroup(t *testing.T) {
	job := jobOf(t, 600, "fast=2:20:2", "slow=5:50:5")
	_, file := sweep(t, job)
	for _, method := range research.Methods() {
		for _, enough := range []bool{false, true} {
			job.Method, job.File = method, filepath.Join(t.TempDir(), "b.sweep")
			if job.Sets = 0; method != research.Grid {
				job.Sets = 60
			}
			var started research.Start
			var parts []float64
			ended := false
			size := func() int64 {
				info, err := os.Stat(job.File)
				require.NoError(t, err)
				return info.Size()
			}
			var empty int64
			job.Began = func(s research.Start) { started, empty = s, size() }
			job.Trial = func(part float64, over bool) bool {
				require.False(t, ended)
				require.Equal(t, empty, size(), "nothing is kept yet")
				parts, ended = append(parts, part), over || enough
				return enough
			}
			job.Progress = func(p research.Progress) {
				require.True(t, ended)
				parts = append(parts, p.Part)
			}
			o, err := research.Sweep(t.Context(), job)
			require.NoError(t, err)
			require.Equal(t, o.Days, started.Days, method)
			require.Equal(t, o.To, backtest.Moment(started.To), method)
			require.True(t, slices.IsSorted(parts), "%s %v", method, parts)
			if method != research.CMAES { // which may end before its budget
				require.InDelta(t, 1, parts[len(parts)-1], 1e-9, method)
			}
			if method == research.Grid {
				content, err := os.ReadFile(job.File)
				require.NoError(t, err)
				require.True(t, file == string(content), "the trial changes no byte")
			}
		}
	}
}
