package bot

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/report"
)

const sweepHelp = `Backtest many sets of settings, rank them, and say what the best one is worth.

--vary names a setting with its values: FROM:TO:STEP, FROM:TO:x2 (each twice the one before), FROM:TO:log12 (12 values
in equal ratios), or a list a,b,c. A set that the parameters' own rules refuse is left out. Results go to a file: the
same command goes on with it after a kill.

Methods: grid tries all sets; random and sobol try --sets of them; halving tries many on a part of the range and keeps
the best third for a longer part; cma-es moves to where the objective is higher.

--within 10m measures for some seconds how long the search takes. Where it cannot end in that time, it takes the method
and the number of sets that can, and names both: they alone shape the result, and give the same again.

Each set counts as a try: see bot trials. --lock-last keeps the end of the candles out of the search and of all
backtests, until bot trials unseal.`

const sweepExample = `  bot sweep --vary strategies.trend.params.fast=20:200:20
  bot sweep -c configs/backtest.toml --objective "sharpe - drawdown" \
    --vary strategies.trend.params.fast=5:100:5 \
    --vary strategies.trend.params.slow=20:500:20 --require "trips >= 30"
  bot sweep -c configs/backtest.toml --method sobol --sets 200 \
    --vary strategies.trend.params.fast=5:500:x1.1 \
    --vary account.taker_fee=0.1%,0.25% --vary backtest.path=adaptive,ohlc`

// sweepFlags are the flags of the command.
type sweepFlags struct {
	searchFlags
	doorFlags
	out              string
	table, tableDays string
	within           time.Duration
	json             bool
}

// machines reports whether workers run the sets.
func (f *sweepFlags) machines() bool { return f.address != "" || f.url != "" }

func sweepCommand(a *app) *cobra.Command {
	f := &sweepFlags{}
	c := &cobra.Command{
		Use: "sweep", Short: "Backtest many sets of settings, and judge the best", Long: sweepHelp,
		Example: sweepExample, Args: onlyFlags,
	}
	c.RunE = a.enter(func(ctx context.Context, _ []string) error { return a.sweep(ctx, f, c.Flags().Changed) })
	f.searchFlags.add(c.Flags())
	c.Flags().StringVar(&f.out, "out", "", "`FILE` of the sweep; without it out/sweep-NAME-…, after the config")
	c.Flags().StringVar(&f.lock, "lock-last", "",
		"seal the last `PART` of the range, like 20%, for one honest look: the sweep ends before it")
	c.Flags().StringVar(&f.address, "listen", "",
		"let workers on other machines run the sets: `HOST:PORT`, or a port of this machine alone; see bot worker")
	f.doorFlags.add(c.Flags())
	c.Flags().StringVar(&f.key, "tls-key", "", "`FILE` with the secret key of --tls-cert")
	c.Flags().DurationVar(&f.within, "within", 0,
		"`TIME`, like 10m, in which the sweep is to end: where not all sets fit, it takes fewer by sobol or halving")
	c.Flags().StringVar(&f.table, "export", "", fmt.Sprintf(exportHint, "all sets with their figures"))
	c.Flags().StringVar(&f.tableDays, "export-days", "", fmt.Sprintf(exportHint, "the daily returns of all sets"))
	c.Flags().BoolVar(&f.json, "json", false, "print the outcome as JSON, and nothing else")
	return c
}

// sweep runs the command.
func (a *app) sweep(ctx context.Context, f *sweepFlags, given func(flag string) bool) error {
	err := cmp.Or(checkTable("export", f.table), checkTable("export-days", f.tableDays),
		f.checkWithin(given("within")))
	if err == nil && f.machines() {
		err = a.readyForWorkers()
	}
	if err != nil {
		return err
	}
	found, err := f.open(a, given)
	if err != nil {
		return err
	}
	defer found.close()
	screen := a.newSweepScreen(f.json)
	if given, err = f.ready(ctx, a, found, screen, given); err != nil {
		return err
	}
	c, base, job := found.config, found.base, found.job
	job.Began, job.Trial, job.Progress = screen.start, screen.trial, screen.progress
	if err = a.coordinate(f, found, &job); err != nil {
		return err
	}
	screen.begin(base, &job)
	screen.say(found.seals())
	page := &report.Sweep{Title: base.Options.Title, Synthetic: base.Options.Synthetic, Space: job.Space}
	err = a.guarded(ctx, &job, func() error { return searchFor(ctx, job, page) })
	screen.end()
	if page.Found != nil {
		defer page.Found.Close()
	}
	if err != nil {
		return searchError(ctx, base, err)
	}
	tries, outcome := page.Found, page.Outcome
	if page.Commands, err = a.commands(f.again(c), found, outcome); err != nil {
		return err
	}
	doc, err := page.Doc()
	if err != nil {
		return err
	}
	doc.Verdict.Next = f.next(outcome.Judged().Answer.Kind, job.Space, given)
	if err = cmp.Or(writeTable(f.table, tries.WriteSets), writeTable(f.tableDays, tries.WriteDays)); err != nil {
		return err
	}
	more := []string{"All sets are in " + outcome.File + "."}
	if len(page.Commands) > 0 {
		more = append(more, "The best again in full:", "  "+page.Commands[0])
	}
	return a.document(doc, strings.TrimSuffix(outcome.File, ".sweep")+".html", outcome, f.json, more...)
}

// ready names the file of a sweep, chooses what --within leaves open, and lets the sets count as
// tries. It returns which flags are given from then on.
func (f *sweepFlags) ready(ctx context.Context, a *app, s *search, screen *sweepScreen,
	given func(flag string) bool) (func(flag string) bool, error) {
	s.job.File = cmp.Or(f.out, s.config.Sweep.Out, filepath.Join("out", "sweep-"+s.config.Source.Label()+"-*.sweep"))
	if given("within") {
		if err := f.fit(ctx, a, s, screen); err != nil {
			return nil, searchError(ctx, s.base, err)
		}
		given = f.settled(given, &s.job)
	}
	if s.trials == nil {
		return given, nil
	}
	return given, s.trials.count(s, a)
}

// searchFor searches, judges the best set and runs it again, for a page.
func searchFor(ctx context.Context, job research.Job, page *report.Sweep) (err error) {
	if page.Found, err = research.Search(ctx, job); err != nil {
		return err
	}
	if page.Outcome, err = page.Found.Outcome(); err == nil {
		page.Again, err = page.Found.Again(ctx)
	}
	return err
}

// commands run the sets of the top again in full; the words come first in each.
func (a *app) commands(words []string, s *search, o *research.Outcome) ([]string, error) {
	var list []string
	for i := range o.Top {
		pin, err := a.pinned(s, o.Top[i].Settings, market.Time(o.From))
		if err != nil {
			return nil, err
		}
		line := append(slices.Clone(words), pin...)
		for _, s := range o.Top[i].Settings {
			line = append(line, "--set", s.Key+"="+s.Value)
		}
		list = append(list, shellWords(append(line, "--from", sweepDate(market.Time(o.From)))))
	}
	return list, nil
}

// pinned are the settings of what the sweep chose by itself, where the backtest of a set, over a
// range of its own, would choose otherwise: the candles that move the markets, and the tick sizes.
func (a *app) pinned(s *search, settings []research.Setting, from market.Time) (words []string, err error) {
	overrides, err := overriding(s.job.Space)
	if err != nil {
		return nil, err
	}
	best := overrides(settings)
	was, err := a.plansOf(s.config, s.candles, s.job.Space, overrides).Base(best)
	if err != nil {
		return nil, err
	}
	alone, err := plan.NewVariants(s.config.Source, a.Definitions, s.candles).Base(append(slices.Clone(best),
		config.Override{Flag: "--from", Path: []string{"backtest", "from"}, Text: from.String(), Word: true}))
	if err != nil {
		return nil, err
	}
	if drives := drivesOf(was); s.config.Backtest.PathInterval == config.PathAuto &&
		!slices.Equal(drives, drivesOf(alone)) {
		words = append(words, "--set", "backtest.path_interval="+drives[0])
	}
	for _, tick := range alone.Ticks(was) {
		words = append(words, "--set", tick)
	}
	return words, nil
}

// drivesOf are the intervals whose candles move the markets.
func drivesOf(p *plan.Backtest) (list []string) {
	for _, feed := range p.Run.Feeds {
		if feed.Drive {
			list = append(list, feed.Interval.String())
		}
	}
	return list
}

// The runtime collects garbage when the heap has grown by searchPercent of what is alive. Ballast
// counts as alive, so the least garbage between two collections is about 6 MB: a search keeps
// little, and would collect a hundred times a second otherwise.
const (
	searchPercent = 50
	searchBallast = 12 << 20
)

// paceCollector sets how often the Go runtime collects garbage during a search, unless the
// environment does. It takes addresses that are never touched: the system backs them with no
// memory. restore ends it.
func paceCollector(getenv func(string) string) (restore func()) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	ballast := make([]byte, searchBallast)
	before := debug.SetGCPercent(searchPercent)
	return func() {
		debug.SetGCPercent(before)
		runtime.KeepAlive(ballast)
	}
}
