package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/strategy"
)

// searchFlags are the flags of all commands that search: a config, its range, a space of settings,
// and a method.
type searchFlags struct {
	config, from, to, data, method, objective string
	sets, vary, require                       []string
	number, workers                           int64
	seed                                      uint64
	lock                                      string // the part of the range that is sealed; empty: none
}

// add adds the flags to a command.
func (f *searchFlags) add(flags *pflag.FlagSet) {
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
	flags.Int64Var(&f.workers, "workers", 0, "how many sets run side by side; 0: as many as cores")
}

// search is a search that a command runs.
type search struct {
	config  *config.Backtest
	candles plan.Library   // several goroutines may use it
	base    *plan.Backtest // the backtest of an allowed set
	job     research.Job
	trials  *tryLog // nil: made-up candles have none
	said    string  // of a seal; empty: nothing
	close   func() error
}

// open reads the config with the flags over its section [sweep], opens the candles, and makes the
// job. The caller closes the search.
func (f *searchFlags) open(a *app, given func(flag string) bool) (*search, error) {
	c, err := a.load(&backtestFlags{config: f.config, from: f.from, to: f.to, data: f.data, sets: f.sets})
	if err != nil {
		return nil, err
	}
	if err := f.section(&c.Sweep, given); err != nil {
		return nil, err
	}
	job, err := searchJob(&c.Sweep, given)
	if err != nil {
		return nil, c.Source.Place(err)
	}
	candles, err := plan.OpenLibrary(c)
	if err != nil {
		return nil, err
	}
	restore := paceCollector(a.Getenv)
	s := &search{config: c, candles: plan.Shared(candles), job: job, close: func() error {
		restore()
		return candles.Close()
	}}
	if s.base, err = a.variants(c, s.candles, &s.job); err == nil {
		err = f.unseal(a, s)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// unseal keeps the search out of sealed candles: it ends before those that the flag seals, and is
// refused over others.
func (f *searchFlags) unseal(a *app, s *search) (err error) {
	s.trials = a.trials(s.config)
	if f.lock == "" {
		return s.trials.refuse(s.base)
	}
	if s.trials == nil {
		return config.Usagef("--lock-last: the candles are made up; only those of a store can be sealed")
	}
	part, err := lockPart(f.lock)
	if err != nil {
		return err
	}
	to, said, err := s.trials.lock(s.base, part)
	if err != nil {
		return err
	}
	s.said, f.to = said, sweepDate(to)
	s.config.Source.Overrides = append(slices.Clone(s.config.Source.Overrides), config.Override{Flag: "--lock-last",
		Path: []string{"backtest", "to"}, Text: to.String(), Word: true})
	if s.base, err = a.variants(s.config, s.candles, &s.job); err != nil {
		return err
	}
	return s.trials.refuse(s.base)
}

// section lays the flags over the section [sweep].
func (f *searchFlags) section(s *config.SweepSection, given func(flag string) bool) error {
	for _, o := range [...]struct {
		flag string
		lay  func()
	}{
		{"method", func() { s.Method = f.method }}, {"objective", func() { s.Objective = f.objective }},
		{"sets", func() { s.Sets = f.number }}, {"seed", func() { s.Seed = f.seed }},
		{"workers", func() { s.Workers = f.workers }},
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

// searchJob reads the section [sweep].
func searchJob(s *config.SweepSection, given func(flag string) bool) (job research.Job, err error) {
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
	var flags []string
	for _, d := range space.Dimensions() {
		o, err := config.ParseSets([]string{d.Key + "=" + d.Values[0]})
		if err != nil {
			return nil, config.Usagef("--vary %s: it is no key; want one like strategies.trend.params.fast", d.Key)
		}
		paths, flags = append(paths, o[0].Path), append(flags, "--vary "+d.Key)
	}
	return func(settings []research.Setting) []config.Override {
		list := make([]config.Override, len(settings))
		for i, s := range settings {
			list[i] = config.Override{Flag: flags[i], Path: paths[i], Text: s.Value}
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

// plansOf makes plans of the sets of a space. Those of one dataset share their units.
func (a *app) plansOf(c *config.Backtest, candles plan.Library, space *research.Space,
	overrides func([]research.Setting) []config.Override) *plan.Variants {
	v := plan.NewVariants(c.Source, a.Definitions, candles)
	v.Sets = func(yield func([]config.Override) bool) {
		for _, set := range space.Sample() {
			if !yield(overrides(space.Settings(set))) {
				return
			}
		}
	}
	return v
}

// variants lets the job make plans of the config. It returns the backtest of an allowed set.
func (a *app) variants(c *config.Backtest, candles plan.Library, job *research.Job) (*plan.Backtest, error) {
	overrides, err := overriding(job.Space)
	if err != nil {
		return nil, err
	}
	looking := a.plansOf(c, candles, job.Space, overrides)
	base, err := firstOf(job.Space, looking, overrides)
	if err != nil {
		return nil, err
	}
	if job.To, err = base.End(); err != nil {
		return nil, err
	}
	job.DataWarnings = base.Options.Warnings
	job.Identity.Code, job.Identity.Config = base.Options.CodeVersion, base.Options.ConfigHash
	job.Data = looking.DataHash
	job.Look = func(settings []research.Setting) (string, error) { return looking.Look(overrides(settings)) }
	job.Warmup = func(settings []research.Setting) (string, error) { return looking.Warmup(overrides(settings)) }
	worker := func(v *plan.Variants) research.Make {
		return func(settings []research.Setting) (*backtest.Plan, error) { return v.Plan(overrides(settings)) }
	}
	first := true // Sweep asks for the first before it starts others
	job.Worker = func() (research.Make, error) {
		if first {
			first = false
			return worker(looking), nil
		}
		return worker(a.plansOf(c, candles, job.Space, overrides)), nil
	}
	return base, nil
}

// guarded runs a search of a job. Meanwhile it names callbacks of strategies that do not return.
func (a *app) guarded(ctx context.Context, job *research.Job, search func() error) error {
	guard := &hangGuard{Out: a.Stderr, Left: "the sets that ran are in the file"}
	job.Watch = guard.WatchSet
	return guard.Run(ctx, search)
}

// searchInterrupted is the end of a search that goes on with the same command.
type searchInterrupted struct{ error }

func (e searchInterrupted) Unwrap() error { return e.error }

// searchError explains the error of a search.
func searchError(ctx context.Context, base *plan.Backtest, err error) error {
	if ctx.Err() != nil {
		return searchInterrupted{err}
	}
	if errors.Is(err, research.ErrOneSet) || errors.Is(err, research.ErrNoSets) {
		return config.Usagef("--vary: %w", err)
	}
	return base.Explain(err)
}

// again is `bot backtest` with what the search was given beside its space.
func (f *searchFlags) again(c *config.Backtest) []string {
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

// next is the command that asks more after an answer, with the flags of this search: what luck may
// explain is searched again where there is nothing to find; else on days that the choice has not
// seen.
func (f *searchFlags) next(a research.AnswerKind, space *research.Space, given func(flag string) bool) []string {
	command := ""
	switch a {
	case research.ProbablyLuck, research.CannotTell:
		command = "placebo"
	case research.HardByLuck:
		if onlyParams(space) == nil {
			command = "walkforward"
		}
	}
	if command == "" {
		return nil
	}
	return []string{shellWords(f.words(command, given))}
}

// words are a command with the flags of this search that were given.
func (f *searchFlags) words(command string, given func(flag string) bool) []string {
	words := []string{"bot", command}
	for _, flag := range [...]struct {
		name  string
		texts []string
	}{{"config", []string{f.config}}, {"db", []string{f.data}}, {"set", f.sets}, {"method", []string{f.method}},
		{"sets", []string{fmt.Sprint(f.number)}}, {"seed", []string{fmt.Sprint(f.seed)}},
		{"objective", []string{f.objective}}, {"vary", f.vary}, {"require", f.require}, {"from", []string{f.from}},
		{"to", []string{f.to}}} {
		if given(flag.name) {
			for _, text := range flag.texts {
				words = append(words, strings.Replace("--"+flag.name, "--config", "-c", 1), text)
			}
		}
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
