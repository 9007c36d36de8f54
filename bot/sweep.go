package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/strategy"
)

const sweepHelp = `Backtest many sets of settings, rank them, and say what the best one is worth.

--vary names a setting with its values: FROM:TO:STEP, FROM:TO:x2 (each twice the one before), FROM:TO:log12 (12 values
in equal ratios), or a list a,b,c. A set that the parameters' own rules refuse is left out. Results go to a file: the
same command goes on with it after a kill.

Methods: grid tries all sets; random and sobol try --sets of them; halving tries many on a part of the range and keeps
the best third for a longer part; cma-es moves to where the objective is higher.`

const sweepExample = `  bot sweep --vary strategies.trend.params.fast=20:200:20
  bot sweep -c configs/backtest.toml --objective "sharpe - drawdown" \
    --vary strategies.trend.params.fast=5:100:5 \
    --vary strategies.trend.params.slow=20:500:20 --require "trips >= 30"
  bot sweep -c configs/backtest.toml --method sobol --sets 200 \
    --vary strategies.trend.params.fast=5:500:x1.1 \
    --vary account.taker_fee=0.1%,0.25% --vary backtest.path=adaptive,ohlc`

// sweepFlags are the flags of the command.
type sweepFlags struct {
	config, from, to, data, out, method, objective string
	sets, vary, require                            []string
	number, workers                                int64
	seed                                           uint64
	json                                           bool
}

func (a *app) sweepCommand() *cobra.Command {
	f := &sweepFlags{}
	c := &cobra.Command{
		Use: "sweep", Short: "Backtest many sets of settings, and judge the best", Long: sweepHelp,
		Example: sweepExample, Args: onlyFlags,
	}
	c.RunE = a.enter(func(ctx context.Context, _ []string) error { return a.sweep(ctx, f, c.Flags().Changed) })
	flags := c.Flags()
	flags.StringVarP(&f.config, "config", "c", "", "config `FILE`; without it: a built-in example on synthetic candles")
	flags.StringArrayVar(&f.vary, "vary", nil, "vary a setting: `a.b.c=VALUES`; may be repeated")
	flags.StringVar(&f.method, "method", "grid", "`METHOD`: grid, random, sobol, halving or cma-es")
	flags.Int64Var(&f.number, "sets", 0, "how many sets to try; 0: all of a grid, else 1000")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the methods but the grid, and of the statistics")
	flags.StringVar(&f.objective, "objective", "sharpe",
		"what ranks the sets: sharpe, sortino, calmar, return, profit_factor, expectancy, or a `FORMULA` of figures")
	flags.StringArrayVar(&f.require, "require", nil,
		"rank only sets with this `CONDITION`, like \"trips >= 30\": a filter on the whole sample; may be repeated")
	flags.StringArrayVar(&f.sets, "set", nil, "change one setting of all sets: `a.b.c=value`; may be repeated")
	flags.StringVar(&f.from, "from", "", "first candle to trade on: 2021, 2021-06, 2021-06-30, RFC 3339 or Unix ms")
	flags.StringVar(&f.to, "to", "", "end of the range, exclusive")
	flags.StringVar(&f.data, "db", "", "candle store `FILE` instead of the config's")
	flags.StringVar(&f.out, "out", "", "`FILE` of the sweep; without it out/sweep-NAME-…, after the config")
	flags.Int64Var(&f.workers, "workers", 0, "how many sets run side by side; 0: as many as cores")
	console.AddJSON(flags, &f.json, nil, "print the outcome as JSON, and nothing else")
	return c
}

// section lays the flags over the section [sweep].
func (f *sweepFlags) section(s *config.SweepSection, given func(flag string) bool) error {
	for _, o := range [...]struct {
		flag string
		lay  func()
	}{
		{"method", func() { s.Method = f.method }}, {"objective", func() { s.Objective = f.objective }},
		{"sets", func() { s.Sets = f.number }}, {"seed", func() { s.Seed = f.seed }},
		{"workers", func() { s.Workers = f.workers }}, {"out", func() { s.Out = f.out }},
		{"require", func() { s.Require = f.require }}, {"vary", func() { s.Vary = f.vary }},
	} {
		if given(o.flag) {
			o.lay()
		}
	}
	if s.Sets < 0 || s.Workers < 0 {
		return config.Usagef("--sets and --workers are numbers from 0 up")
	}
	return nil
}

// where is the place of a setting of [sweep] in errors: the flag, or the config's key.
func where(flag string, given func(flag string) bool, err error) error {
	if given(flag) {
		return config.Usagef("--%s: %w", flag, err)
	}
	return config.Keyf([]string{"sweep", flag}, "%w", err)
}

// sweep runs the command.
func (a *app) sweep(ctx context.Context, f *sweepFlags, given func(flag string) bool) error {
	c, err := a.load(&backtestFlags{config: f.config, from: f.from, to: f.to, data: f.data, sets: f.sets})
	if err != nil {
		return err
	}
	a.warn(c.Source.Hints)
	if err := f.section(&c.Sweep, given); err != nil {
		return err
	}
	job, err := sweepJob(&c.Sweep, given)
	if err != nil {
		return c.Source.Place(err)
	}
	job.File = cmp.Or(c.Sweep.Out, filepath.Join("out", "sweep-"+c.Source.Label()+"-*.sweep"))
	candles, err := plan.OpenLibrary(c)
	if err != nil {
		return err
	}
	defer candles.Close()
	base, err := a.variants(c, plan.Shared(candles), &job)
	if err != nil {
		return err
	}
	screen := a.newSweepScreen(f.json)
	job.Began, job.Progress = screen.start, screen.progress
	screen.begin(base, &job)
	outcome, err := research.Sweep(ctx, job)
	screen.end()
	if err != nil {
		return sweepError(ctx, base, err)
	}
	if f.json {
		return console.PrintJSON(a.Stdout, outcome)
	}
	again := f.again(c)
	if len(outcome.Top) > 0 && c.Backtest.PathInterval == config.PathAuto {
		pin, err := a.pinned(c, base.Candles, outcome)
		if err != nil {
			return err
		}
		again = append(again, pin...)
	}
	_, err = fmt.Fprint(a.Stdout, sweepText(outcome, a.terminal(), again))
	return err
}

// pinned names the candles that moved the markets in the sweep, if path_interval = "auto" would
// choose others for the range of the best set's backtest: finer ones may be stored for it.
func (a *app) pinned(c *config.Backtest, candles plan.Library, o *research.Outcome) ([]string, error) {
	var sets []string
	for _, s := range o.Top[0].Settings {
		sets = append(sets, s.Key+"="+s.Value)
	}
	best, err := config.ParseSets(sets)
	if err != nil {
		return nil, err
	}
	var drives [2][]string
	for i, set := range [...][]config.Override{best, append(slices.Clone(best), config.Override{Flag: "--from",
		Path: []string{"backtest", "from"}, Text: market.Time(o.From).String(), Word: true})} {
		p, err := plan.NewVariants(c.Source, a.Definitions, candles).Base(set)
		if err != nil {
			return nil, err
		}
		for _, feed := range p.Run.Feeds {
			if feed.Drive {
				drives[i] = append(drives[i], feed.Interval.String())
			}
		}
	}
	if slices.Equal(drives[0], drives[1]) {
		return nil, nil
	}
	return []string{"--set", "backtest.path_interval=" + drives[0][0]}, nil
}

// sweepJob reads the section [sweep].
func sweepJob(s *config.SweepSection, given func(flag string) bool) (job research.Job, err error) {
	job = research.Job{Method: research.Method(s.Method), Sets: int(s.Sets), Seed: s.Seed,
		Workers: cmp.Or(int(s.Workers), runtime.GOMAXPROCS(0))}
	if err := job.Method.Check(); err != nil {
		return job, where("method", given, err)
	}
	if job.Objective, err = research.Objective(s.Objective); err != nil {
		return job, where("objective", given, err)
	}
	for _, text := range s.Require {
		condition, err := research.Requirement(text)
		if err != nil {
			return job, where("require", given, err)
		}
		job.Require = append(job.Require, condition)
	}
	var dims []research.Dimension
	for _, text := range s.Vary {
		d, err := research.ParseDimension(text)
		if err != nil {
			return job, where("vary", given, err)
		}
		dims = append(dims, d)
	}
	if len(dims) == 0 {
		return job, config.Usagef("%w; want --vary, like --vary strategies.trend.params.fast=5:100:5",
			research.ErrEmptySpace)
	}
	if job.Space, err = research.NewSpace(dims...); err != nil {
		return job, where("vary", given, err)
	}
	return job, nil
}

// overriding turns the settings of a set into overrides, as if by --set. The keys are read once.
func overriding(space *research.Space) (func(settings []research.Setting) []config.Override, error) {
	var paths [][]string
	for _, d := range space.Dimensions() {
		o, err := config.ParseSets([]string{d.Key + "=" + d.Values[0]})
		if err != nil {
			return nil, config.Usagef("--vary %s: it is no key; want one like strategies.trend.params.fast", d.Key)
		}
		paths = append(paths, o[0].Path)
	}
	return func(settings []research.Setting) []config.Override {
		list := make([]config.Override, len(settings))
		for i, s := range settings {
			list[i] = config.Override{Flag: "--vary " + s.Key, Path: paths[i], Text: s.Value}
		}
		return list
	}, nil
}

// firstOf is the backtest of the first set that the parameters' own rules allow.
func firstOf(space *research.Space, v *plan.Variants, overrides func([]research.Setting) []config.Override) (
	base *plan.Backtest, err error) {
	var refusal error
	for set := range min(space.Size(), maxRefused) {
		if base, err = v.Base(overrides(space.Settings(set))); !errors.As(err, new(strategy.InvalidError)) {
			return base, err
		}
		refusal = cmp.Or(refusal, err)
	}
	return nil, config.Usagef("--vary: %w: %w", research.ErrNoSets, refusal)
}

// maxRefused is how many sets at the beginning of a space may be refused.
const maxRefused = 100_000

// variants lets the job make plans of the config. It returns the backtest of an allowed set.
func (a *app) variants(c *config.Backtest, candles plan.Library, job *research.Job) (*plan.Backtest, error) {
	overrides, err := overriding(job.Space)
	if err != nil {
		return nil, err
	}
	looking := plan.NewVariants(c.Source, a.Definitions, candles)
	base, err := firstOf(job.Space, looking, overrides)
	if err != nil {
		return nil, err
	}
	if job.To, err = base.End(); err != nil {
		return nil, err
	}
	job.Identity.Code, job.Identity.Config = base.Options.CodeVersion, base.Options.ConfigHash
	job.Data = looking.DataHash
	job.Look = func(settings []research.Setting) (string, error) { return looking.Look(overrides(settings)) }
	worker := func(v *plan.Variants) research.Make {
		return func(settings []research.Setting) (*backtest.Plan, error) { return v.Plan(overrides(settings)) }
	}
	first := true // Sweep asks for the first before it starts others
	job.Worker = func() (research.Make, error) {
		if first {
			first = false
			return worker(looking), nil
		}
		return worker(plan.NewVariants(c.Source, a.Definitions, candles)), nil
	}
	return base, nil
}

// sweepInterrupted is the end of a sweep that goes on with the same command.
type sweepInterrupted struct{ error }

func (e sweepInterrupted) Unwrap() error { return e.error }

// sweepError explains the error of a sweep.
func sweepError(ctx context.Context, base *plan.Backtest, err error) error {
	if ctx.Err() != nil {
		return sweepInterrupted{err}
	}
	if errors.Is(err, research.ErrOneSet) || errors.Is(err, research.ErrNoSets) {
		return config.Usagef("--vary: %w", err)
	}
	return base.Explain(err)
}

// again is `bot backtest` with what the sweep was given beside its space.
func (f *sweepFlags) again(c *config.Backtest) []string {
	words := []string{"bot", "backtest"}
	if f.config != "" {
		words = append(words, "-c", f.config)
	}
	if f.data != "" {
		words = append(words, "--db", f.data)
	}
	for _, set := range f.sets {
		words = append(words, "--set", set)
	}
	if c.Backtest.Warmup != "before" {
		words = append(words, "--set", "backtest.warmup=before")
	}
	if f.to != "" {
		words = append(words, "--to", f.to)
	}
	return words
}

// shellWords writes words for a shell.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if strings.ContainsAny(w, " \t'\"\\$&|;<>()*?[]#~`!{}") || w == "" {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
