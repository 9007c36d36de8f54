package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/placebo"
	"github.com/tidemark-trading/tidemark/research/report"
)

const placeboHelp = `Test a whole search: would it find as good a winner where there is nothing to find?

The search runs on the data, then on surrogates of the data. A surrogate keeps the size of every move, the drift, the
volumes, the holes, and what moves together; a coin decides the direction of each moment, for all markets at once. So
it has nothing to find. The winner of the data is ranked among the winners of the surrogates, by its Sharpe ratio in
excess of a hold at its own exposure. That corrects for the number of sets, for how alike they are, for the method, and
for --require at once. --walkforward tests a whole walk-forward, by its stitched test days. Results go to a file: the
same command goes on with it after a kill.

Where strategies hear signals, a surrogate turns the signals in time and keeps the candles: does it matter when they
come? --alter candles asks the other question.`

const placeboExample = `  bot placebo --vary strategies.trend.params.fast=20:200:20
  bot placebo -c configs/backtest.toml --method cma-es --sets 300 \
    --vary strategies.trend.params.fast=5:500:5 --require "trips >= 30" \
    --vary strategies.trend.params.slow=10:1000:10
  bot placebo -c configs/backtest.toml --walkforward --train 180d --test 30d \
    --vary strategies.trend.params.fast=5:100:5
  bot placebo -c configs/backtest.toml --surrogates 999 --keep 4h \
    --vary strategies.trend.params.fast=5:100:5`

// placeboFlags are the flags of the command.
type placeboFlags struct {
	searchFlags
	walkforward bool
	cut         walkFlags // how a walk-forward cuts the range; nothing else of it is used
	alter, out  string
	table       string
	json        bool
	surrogates  int64
	rules       placebo.Rules
}

func placeboCommand(a *app) *cobra.Command {
	f := &placeboFlags{}
	c := &cobra.Command{
		Use: "placebo", Short: "Test a search where there is nothing to find, and rank its winner",
		Long: placeboHelp, Example: placeboExample, Args: onlyFlags,
	}
	c.RunE = a.enter(func(ctx context.Context, _ []string) error { return a.placebo(ctx, f, c.Flags().Changed) })
	f.add(c.Flags())
	c.Flags().BoolVar(&f.walkforward, "walkforward", false,
		"test a walk-forward instead of a search; --train, --test, --gap, --anchored and --border cut its windows")
	f.cut.addCut(c.Flags())
	c.Flags().Int64Var(&f.surrogates, "surrogates", 199, "how many surrogates; more later go on with the same file")
	c.Flags().StringVar(&f.alter, "alter", "",
		"which `DATA` surrogates alter: candles or signals; left out: signals where strategies hear some")
	c.Flags().DurationVar(&f.rules.Keep, "keep", 0,
		"give candles within such a `DURATION` one direction: what is faster is kept, and not tested; signals turn by "+
			"whole ones")
	c.Flags().BoolVar(&f.rules.SeasonalDrift, "seasonal-drift", false,
		"keep the mean move of each hour of the week: an edge of the hour does not count as one; signals turn by "+
			"whole weeks")
	c.Flags().StringVar(&f.out, "out", "", "`FILE` of the placebo; without it out/placebo-NAME-…, after the config")
	c.Flags().StringVar(&f.table, "export", "", fmt.Sprintf(exportHint, "the winner of each surrogate"))
	c.Flags().BoolVar(&f.json, "json", false, "print the outcome as JSON, and nothing else")
	return c
}

// placebo runs the command.
func (a *app) placebo(ctx context.Context, f *placeboFlags, given func(flag string) bool) error {
	if err := checkTable("export", f.table); err != nil {
		return err
	}
	found, err := f.open(a, given)
	if err != nil {
		return err
	}
	defer found.close()
	base := found.base
	screen := &placeboScreen{sweepScreen: a.newSweepScreen(f.json), searched: 1}
	test, err := f.test(found, screen, given)
	if err != nil {
		return err
	}
	screen.begin(base, &found.job, test)
	outcome, err := placebo.Run(ctx, *test)
	screen.end()
	if errors.Is(err, placebo.ErrKeep) {
		return config.Usagef("--keep: %w", err)
	}
	if err != nil {
		return walkError(ctx, base, err)
	}
	if err := writeTable(f.table, outcome.WriteTable); err != nil {
		return err
	}
	doc := report.Placebo(outcome, base.Options.Title, base.Options.Synthetic)
	if outcome.Answer.Kind == research.HardByLuck && !f.walkforward {
		doc.Verdict.Next = f.next(outcome.Answer.Kind, found.job.Space, given)
	}
	return a.document(doc,
		strings.TrimSuffix(outcome.File, ".placebo")+".html", outcome, f.json,
		"The surrogates' winners are in "+outcome.File+".")
}

// test is the test that the flags ask for.
func (f *placeboFlags) test(found *search, screen *placeboScreen, given func(flag string) bool) (*placebo.Test, error) {
	c, job := found.config, found.job
	f.rules.Seed = job.Seed
	heard := len(found.base.Run.Signals) > 0
	switch f.alter {
	case "":
		f.rules.Signals = heard
	case "signals", "candles":
		f.rules.Signals = f.alter == "signals"
	default:
		return nil, config.Usagef("--alter %s: want signals or candles", config.Clip(f.alter))
	}
	job.File = cmp.Or(c.Sweep.Out, filepath.Join("out", "sweep-"+c.Source.Label()+"-*.sweep"))
	test := &placebo.Test{Rules: f.rules, Surrogates: int(f.surrogates), Workers: job.Workers, Data: job.Data,
		Began: screen.start, Progress: screen.progress,
		File:     cmp.Or(f.out, filepath.Join("out", "placebo-"+c.Source.Label()+"-*.placebo")),
		Identity: placebo.Identity{Code: job.Identity.Code, Config: job.Identity.Config, Procedure: procedureOf(&job)}}
	if f.surrogates == 0 {
		test.Surrogates = -1 // 0 would be the usual number
	}
	if err := test.Check(); err != nil {
		return nil, config.Usagef("%w", err)
	}
	if !f.walkforward {
		for _, flag := range [...]string{"train", "test", "gap", "anchored", "border"} {
			if given(flag) {
				return nil, config.Usagef("--%s cuts a walk-forward; say --walkforward, too", flag)
			}
		}
		job.Began, job.Trial, job.Progress = screen.search, screen.trial, screen.sweepScreen.progress
		test.Procedure = placebo.Search(job)
		return test, nil
	}
	cut, err := f.cut.config()
	if err != nil {
		return nil, err
	}
	if err := onlyParams(job.Space); err != nil {
		return nil, err
	}
	job.Began = screen.windows
	test.Identity.Procedure = append(test.Identity.Procedure,
		fmt.Sprintf("walk-forward: training %d days, test %d, gap "+
			"%d, anchored %v, border %s", cut.Train, cut.Test, cut.Gap, cut.Anchored, f.cut.border))
	test.Procedure = placebo.WalkForward(job, cut)
	return test, nil
}

// procedureOf is all that decides which set a search chooses.
func procedureOf(job *research.Job) (lines []string) {
	for _, d := range job.Space.Dimensions() {
		lines = append(lines, d.Key+"="+strings.Join(d.Values, ","))
	}
	method := string(job.Method)
	if job.Sets > 0 {
		method += fmt.Sprintf(" of %d sets", job.Sets)
	}
	lines = append(lines, fmt.Sprintf("method %s, objective %s", method, job.Objective))
	for _, r := range job.Require {
		lines = append(lines, "require "+r.String())
	}
	return lines
}

// placeboScreen says how a placebo goes, on standard error. The search on the data shows itself as
// a sweep does.
type placeboScreen struct {
	*sweepScreen
	searched float64   // the part of the search on the data that is not in its file yet
	started  time.Time // when the surrogates did
	kept     int       // surrogates in the file by then
	sets     int       // of all windows of a walk-forward
	done     int       // of those, in files already
}

// begin says what is tested, before anything runs.
func (s *placeboScreen) begin(base *plan.Backtest, job *research.Job, test *placebo.Test) {
	s.sweepScreen.begin(base, job)
	lines := test.Identity.Procedure
	what := "the search"
	if last := lines[len(lines)-1]; strings.HasPrefix(last, "walk-forward") {
		what = "the walk-forward"
		s.line("%s", last)
	}
	of := "that have nothing to find"
	if test.Signals {
		of = "whose signals are turned in time"
	}
	s.line("%s runs on the data first, then on %d surrogates %s", what, test.Surrogates, of)
	s.sweepScreen.began = time.Now()
}

// windows is called before a walk-forward, or a window of it, searches the data.
func (s *placeboScreen) windows(b research.Start) {
	s.sets, s.done = s.sets+b.Sets, s.done+b.Done
	s.searched = float64(s.sets-s.done) / float64(max(s.sets, 1))
}

// search is called before the search on the data runs.
func (s *placeboScreen) search(b research.Start) {
	s.searched = float64(b.Sets-b.Done) / float64(max(b.Sets, 1))
	s.sweepScreen.start(b)
}

// start is called when the search has run on the data: the time that it took tells how long the
// rest will take, unless its sets were in the file.
func (s *placeboScreen) start(b placebo.Start) {
	s.end()
	took := time.Since(s.began)
	if b.Torn != "" {
		s.line("the placebo's file was torn: %s", b.Torn)
	}
	if b.Done > 0 {
		s.line("%d surrogates are in the file already", b.Done)
	}
	if rest := b.Surrogates - b.Done; rest > 0 && s.searched > 0.1 {
		left, about := time.Duration(float64(rest)*float64(took)/s.searched), ""
		if left >= time.Second {
			about = "about "
		}
		s.line("%d surrogates of %d candles: %s%s", rest, b.Candles, about, short(left))
	}
	s.started, s.kept, s.shown = time.Now(), b.Done, time.Time{}
	if s.searched > 0.1 {
		s.shown = s.started
	}
}

// progress shows how far the placebo has come.
func (s *placeboScreen) progress(p placebo.Progress) {
	now, due := s.due()
	if !due {
		return
	}
	each := now.Sub(s.started) / time.Duration(p.Done-s.kept)
	s.draw(now, fmt.Sprintf("%d of %d surrogates, %s left; as good as the data or better: %d", p.Done, p.Surrogates,
		short(each*time.Duration(p.Surrogates-p.Done)), p.Better))
}
