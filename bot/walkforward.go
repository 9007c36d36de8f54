package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/parquet"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/report"
	"github.com/tidemark-trading/tidemark/research/walkforward"
)

const walkHelp = `Choose parameters on a part of the data, trade the next part with them, and so on: a walk-forward.

Each window searches its training days, then trades its test days with the winner. The test days, stitched together,
are one backtest with all its files, which no choice has seen. The search takes all flags of bot sweep; --vary names
parameters of strategies.

At a border, parameters change as in a bot that is started again with others: positions, exits and the strategies'
state go on, entries that rest are cancelled. --border flat closes all positions at the next open, with costs, and
starts the strategies anew. The report has both curves.

Winners by figures that follow from daily returns (sharpe, sortino, calmar, return, cagr, volatility, drawdown) come
from one sweep over the range, whose file bot sweep shares. For others, and for halving and cma-es, each window
searches by itself.`

const walkExample = `  bot walkforward --train 180d --test 30d \
    --vary strategies.trend.params.fast=20:200:20
  bot walkforward -c configs/backtest.toml --train 1y --test 60d --anchored \
    --gap 1d --vary strategies.trend.params.fast=5:100:5
  bot walkforward -c configs/backtest.toml --train 180d --test 30d \
    --border flat --objective "sharpe - drawdown" \
    --vary strategies.trend.params.fast=5:100:5 --out out/walk`

// walkFlags are the flags of the command.
type walkFlags struct {
	searchFlags
	train, test, gap, border, out string
	table                         string
	anchored, json                bool
}

func walkforwardCommand(a *app) *cobra.Command {
	f := &walkFlags{}
	c := &cobra.Command{
		Use:   "walkforward",
		Short: "Choose parameters on past days, trade the days that follow", Long: walkHelp,
		Example: walkExample, Args: onlyFlags,
	}
	c.RunE = a.enter(func(ctx context.Context, _ []string) error { return a.walkforward(ctx, f, c.Flags().Changed) })
	f.add(c.Flags())
	f.addCut(c.Flags())
	c.Flags().StringVar(&f.out, "out", "", "`DIR` for the files of the stitched run; without it out/walkforward-NAME")
	c.Flags().StringVar(&f.table, "export", "", fmt.Sprintf(exportHint, "the windows"))
	c.Flags().BoolVar(&f.json, "json", false, "print the outcome as JSON, and nothing else; files only with --out")
	return c
}

// addCut adds the flags that cut the range to a command.
func (f *walkFlags) addCut(flags *pflag.FlagSet) {
	flags.StringVar(&f.train, "train", "180d", "`DAYS` of training before each test: 180d, 26w or 1y")
	flags.StringVar(&f.test, "test", "30d", "`DAYS` of each test")
	flags.StringVar(&f.gap, "gap", "0d", "`DAYS` between training and test, which neither sees")
	flags.BoolVar(&f.anchored, "anchored", false, "let every training begin at the first day")
	flags.StringVar(&f.border, "border", "carry", "positions at a `BORDER`: carry, or flat to close them")
}

// config reads the flags that cut the range.
func (f *walkFlags) config() (c walkforward.Config, err error) {
	for _, d := range [...]struct {
		flag, text string
		days       *int
	}{{"train", f.train, &c.Train}, {"test", f.test, &c.Test}, {"gap", f.gap, &c.Gap}} {
		if *d.days, err = daysOf(d.text); err != nil {
			return c, config.Usagef("--%s: %w", d.flag, err)
		}
	}
	if f.border != "carry" && f.border != "flat" {
		return c, config.Usagef("--border %s: want carry or flat", config.Clip(f.border))
	}
	c.Anchored, c.Flat = f.anchored, f.border == "flat"
	return c, nil
}

// dayUnits are the units of a number of days.
var dayUnits = map[byte]int{'d': 1, 'w': 7, 'y': 365}

// daysOf reads a whole number of days: 180d, 26w, 1y, or a duration like 48h.
func daysOf(text string) (int, error) {
	if n := len(text); n > 0 && dayUnits[text[n-1]] > 0 {
		if count, err := strconv.Atoi(text[:n-1]); err == nil && count < 100_000 && count > -100_000 {
			return count * dayUnits[text[n-1]], nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d%(24*time.Hour) == 0 {
		return int(d / (24 * time.Hour)), nil
	}
	return 0, fmt.Errorf("%q is no whole number of days; write it like 180d, 26w or 1y", config.Clip(text))
}

// onlyParams refuses a space with more than parameters of strategies: nothing else changes inside a
// run.
func onlyParams(space *research.Space) error {
	for _, d := range space.Dimensions() {
		if config.ValueAt(strings.Split(d.Key, ".")) == "" {
			return config.Usagef("--vary %s: a walk-forward changes parameters of strategies inside one run, as in "+
				"strategies.trend.params.fast; try other values of this setting with bot sweep, or one by one with "+
				"--set", d.Key)
		}
	}
	return nil
}

// walkforward runs the command.
func (a *app) walkforward(ctx context.Context, f *walkFlags, given func(flag string) bool) error {
	cut, err := f.config()
	if err = cmp.Or(err, checkTable("export", f.table)); err != nil {
		return err
	}
	found, err := f.open(a, given)
	if err != nil {
		return err
	}
	defer found.close()
	if err := onlyParams(found.job.Space); err != nil {
		return err
	}
	if found.trials != nil {
		if err := found.trials.count(found, a); err != nil {
			return err
		}
	}
	screen := a.newSweepScreen(f.json)
	w, err := found.walk(cut, screen)
	if err != nil {
		return walkError(ctx, found.base, err)
	}
	outcome, err := w.Run(ctx)
	screen.end()
	if err != nil {
		return walkError(ctx, found.base, err)
	}
	dir := cmp.Or(f.out, filepath.Join("out", "walkforward-"+found.config.Source.Label()))
	if f.json && f.out == "" {
		dir = ""
	}
	halted, err := a.stitch(ctx, found, outcome, dir)
	if err != nil {
		return found.base.Explain(err)
	}
	if err := writeTable(f.table, outcome.WriteTable); err != nil {
		return err
	}
	path, more := "", []string(nil)
	if dir != "" {
		path = filepath.Join(dir, "walkforward.html")
		more = []string{"The stitched run is in " + dir + "; its report is " + filepath.Join(dir, "report.html") + "."}
	}
	doc := report.Walk(outcome, found.base.Options.Title, found.base.Options.Synthetic)
	doc.Verdict.Next = f.next(outcome.Answer().Kind, given)
	return errors.Join(a.document(doc, path, outcome, f.json, more...), a.halts(halted))
}

// next is the command that asks more after an answer: what luck may not explain is tested as a
// whole, where there is nothing to find.
func (f *walkFlags) next(a research.AnswerKind, given func(flag string) bool) []string {
	if a != research.CannotTell && a != research.HardByLuck {
		return nil
	}
	words := append(f.words("placebo", given), "--walkforward")
	for _, flag := range [...][2]string{{"train", f.train}, {"test", f.test}, {"gap", f.gap}, {"border", f.border}} {
		if given(flag[0]) {
			words = append(words, "--"+flag[0], flag[1])
		}
	}
	if f.anchored {
		words = append(words, "--anchored")
	}
	return []string{shellWords(words)}
}

// walk makes the walk-forward of a search, and says what it will do.
func (s *search) walk(cut walkforward.Config, screen *sweepScreen) (*walkforward.Walk, error) {
	job := s.job
	job.File = cmp.Or(s.config.Sweep.Out, filepath.Join("out", "sweep-"+s.config.Source.Label()+"-*.sweep"))
	screen.begin(s.base, &job)
	screen.say(s.seals())
	var spans []walkforward.Span
	apart := false
	job.Began = func(b research.Start) {
		if !apart {
			screen.start(b)
		}
	}
	job.Trial = func(part float64, over bool) bool { return apart || screen.trial(part, over) }
	job.Progress = func(p research.Progress) {
		if !apart {
			screen.progress(p)
		}
	}
	cut.Searching = func(window, of int) {
		w := spans[window-1]
		screen.line("window %d of %d: training %s to %s", window, of, sweepDate(w.From), sweepDate(w.TrainEnd))
	}
	w, err := walkforward.New(job, cut)
	if err != nil {
		return nil, err
	}
	spans, apart = w.Spans(), w.Apart() != ""
	screen.walk(w)
	return w, nil
}

// walk says how the range is cut and what that costs, before anything runs.
func (s *sweepScreen) walk(w *walkforward.Walk) {
	spans := w.Spans()
	last := spans[len(spans)-1]
	s.line("%d windows: the first trains %s to %s and tests from %s, the last tests %s to %s", len(spans),
		sweepDate(spans[0].From), sweepDate(spans[0].TrainEnd), sweepDate(spans[0].Test), sweepDate(last.Test),
		sweepDate(last.To))
	if len(spans) == 1 {
		s.line("there is one window only: one split of the data, with one choice")
	}
	if why := w.Apart(); why != "" {
		s.line("each window searches by itself, because %s: %d sets in each, about %.1f times one sweep over the range",
			why, w.Sets(), w.Cost())
		return
	}
	s.line("one sweep over the range serves all windows: a window's winner is chosen by the daily returns of its " +
		"training")
}

// walkError explains the error of a walk-forward.
func walkError(ctx context.Context, base *plan.Backtest, err error) error {
	if errors.Is(err, walkforward.ErrShort) || errors.Is(err, walkforward.ErrDays) {
		return config.Usagef("%w", err)
	}
	return searchError(ctx, base, err)
}

// stitch runs the stitched days in full, with all files; an empty folder: none.
func (a *app) stitch(ctx context.Context, s *search, outcome *walkforward.Result, dir string) (halted []backtest.Halted,
	err error) {
	if dir == "" {
		return nil, nil
	}
	o := s.base.Options
	o.Out, o.Curve, o.Warnings = dir, true, slices.Clone(o.Warnings)
	o.Envelope = s.config.Report.Envelope != "false"
	o.Title = "walk-forward: " + o.Title
	o.Halted = func(h backtest.Halted) { halted = append(halted, h) }
	if _, err = backtest.Run(ctx, outcome.Plan(), o); err != nil {
		return nil, err
	}
	_, err = parquet.Folder(dir, s.config.Report.Parquet)
	return halted, err
}
