package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/report"
	"github.com/tidemark-trading/tidemark/research/stress"
	"github.com/tidemark-trading/tidemark/state/journal"
)

const stressHelp = `Ask what breaks a backtest.

Its own days and round trips are drawn again at random. Then it runs again: at higher costs, spreads, slippage and
latency, with missed fills, from other days, without its best entries, over candles with noise, and with signals that
are lost, doubled, late and out of order. The end is a table of what breaks it first.

RESULT is the folder of a backtest: its config is taken from there. Nothing is searched, so nothing counts as a try.`

const stressExample = `  bot stress
  bot stress -c configs/backtest.toml --loss 10% --within 30d
  bot stress out/backtest --drawdown 30%`

// stressFlags are the flags of the command.
type stressFlags struct {
	backtestFlags
	result, loss, within, drawdown, delays, measured string
	seed                                             uint64
	resamples, workers                               int64
}

func stressCommand(a *app) *cobra.Command {
	f := &stressFlags{}
	c := &cobra.Command{
		Use: "stress [RESULT]", Short: "Ask what breaks a backtest", Long: stressHelp, Example: stressExample,
		Args: cobra.MaximumNArgs(1),
	}
	c.RunE = a.enter(func(ctx context.Context, args []string) error {
		if len(args) == 1 {
			f.result = args[0]
		}
		return a.stress(ctx, f)
	})
	flags := c.Flags()
	flags.StringVarP(&f.config, "config", "c", "", "config `FILE`; without it: a built-in example on synthetic candles")
	flags.StringArrayVar(&f.sets, "set", nil, "change one setting: `a.b.c=value`; may be repeated")
	flags.StringVar(&f.from, "from", "", "first candle to trade on: 2021, 2021-06, 2021-06-30, RFC 3339 or Unix ms")
	flags.StringVar(&f.to, "to", "", "end of the range, exclusive")
	flags.StringVar(&f.data, "db", "", "candle store `FILE` instead of the config's")
	flags.StringVar(&f.loss, "loss", "20%", "say the chance of losing this `PART` of the equity …")
	flags.StringVar(&f.within, "within", "90d", "… within this `TIME`, whole days")
	flags.StringVar(&f.drawdown, "drawdown", "",
		"a deeper drawdown than this `PART` counts as broken; without it max_drawdown of [risk], if it is set")
	flags.StringVar(&f.delays, "signal-delays", "",
		"let signals arrive so much later: `TIMES` like 2s,1m; left out: 1 s to 30 min")
	flags.StringVar(&f.measured, "measured-delays", "",
		"let signals arrive as late as those of the bot with this state `FOLDER`, drawn among them")
	flags.Int64Var(&f.resamples, "resamples", 1000, "how often days and trips are drawn again")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all draws")
	flags.Int64Var(&f.workers, "workers", 0, "how many groups of runs work side by side; 0: as many as cores")
	flags.StringVar(&f.out, "out", "", "`FILE` of the page; without it stress.html in RESULT, or out/stress-NAME.html")
	flags.BoolVar(&f.noFiles, "no-files", false, "write no page")
	flags.BoolVar(&f.json, "json", false, "print the outcome as JSON, and nothing else; a page only with --out")
	return c
}

// stress runs the command.
func (a *app) stress(ctx context.Context, f *stressFlags) error {
	job, err := f.job()
	if err == nil && f.measured != "" {
		job.Measured, err = measuredDelays(ctx, f.measured)
	}
	if err != nil {
		return err
	}
	c, before, err := a.stressConfig(f)
	if err != nil {
		return err
	}
	candles, err := plan.OpenLibrary(c)
	if err != nil {
		return err
	}
	defer candles.Close()
	lib := plan.Shared(candles)
	base, err := a.stressPlan(c, lib)
	if err == nil {
		err = a.trials(c).refuse(base)
	}
	if err != nil {
		return err
	}
	if job.Drawdown == 0 {
		job.Drawdown = float64(base.Limits.MaxDrawdown) / float64(config.WholeRate)
	}
	job.Worker = func() (stress.Make, error) {
		p, err := a.stressPlan(c, lib)
		if err != nil {
			return nil, err
		}
		return func() (*backtest.Plan, error) { return p.Run, nil }, nil
	}
	job.About = base.Options.About
	screen := newStressScreen(a, f.json, base, before)
	job.Began, job.Progress = screen.began, screen.progress
	guard := &hangGuard{Out: a.Stderr}
	job.Watch = guard.Watch
	var outcome *stress.Result
	err = guard.Run(ctx, func() (err error) { outcome, err = stress.Run(ctx, job); return err })
	screen.end()
	if err != nil {
		return base.Explain(err)
	}
	return a.showStress(f, c, outcome)
}

// job reads the flags.
func (f *stressFlags) job() (job stress.Job, err error) {
	job = stress.Job{Seed: f.seed, Resamples: int(f.resamples), Workers: int(f.workers)}
	if f.workers < 0 || f.resamples < 1 || f.resamples > maxResamples {
		return job, config.Usagef("--workers is a number from 0 up, --resamples one from 1 to %d", maxResamples)
	}
	if job.Loss, err = partOf("loss", f.loss); err != nil {
		return job, err
	}
	if f.drawdown != "" {
		if job.Drawdown, err = partOf("drawdown", f.drawdown); err != nil {
			return job, err
		}
	}
	for _, text := range strings.Split(f.delays, ",") {
		late, err := time.ParseDuration(text)
		if f.delays != "" && (err != nil || late <= 0) {
			return job, config.Usagef("--signal-delays %s: want times above 0, like 2s,1m; those of a bot: "+
				"--measured-delays FOLDER", config.Clip(text))
		}
		if f.delays != "" {
			job.Delays = append(job.Delays, late)
		}
	}
	days, found := strings.CutSuffix(f.within, "d")
	if job.Within, err = strconv.Atoi(days); err != nil || !found || job.Within < 1 || job.Within > maxWithin {
		return job, config.Usagef("--within %s: want whole days from 1d to %dd, like 90d", config.Clip(f.within),
			maxWithin)
	}
	return job, nil
}

// measuredDelays are how long after their senders' times the signals of a bot came, in the order of
// its journal.
func measuredDelays(ctx context.Context, dir string) (delays []market.Duration, err error) {
	store, err := operator.OpenCopy(ctx, dir, false)
	if err != nil {
		return nil, statedir.Wrap(err)
	}
	err = store.Entries(0, func(e *journal.Entry) error {
		if r, is := e.Record.(*journal.Signal); is && r.Verdict == "" && r.Sent != 0 {
			delays = append(delays, max(0, r.Came.Sub(r.Sent)))
		}
		return nil
	})
	if err = errors.Join(err, store.Close()); err == nil && len(delays) == 0 {
		err = config.Usagef("--measured-delays %s: no signal of that bot says when it was sent", config.Clip(dir))
	}
	return delays, err
}

// The largest numbers of resamples, and of days of --within.
const (
	maxResamples = 100_000
	maxWithin    = 3650
)

// partOf reads a part above 0 and below 1.
func partOf(flag, text string) (float64, error) {
	rate, err := market.ParseRate(text)
	if err != nil || rate <= 0 || rate >= config.WholeRate {
		return 0, config.Usagef("--%s %s: want a part above 0 and below 100 %%, like 20%%", flag, config.Clip(text))
	}
	return float64(rate) / float64(config.WholeRate), nil
}

// stressPlan plans the backtest of a config, with a catalog of its own.
func (a *app) stressPlan(c *config.Backtest, candles plan.Library) (*plan.Backtest, error) {
	p, err := plan.NewBacktest(c, a.Definitions)
	if err != nil {
		return nil, err
	}
	return p, p.Finish(candles)
}

// stressConfig reads the config of the flags or of a result. before is that result; nil: there is
// none.
func (a *app) stressConfig(f *stressFlags) (c *config.Backtest, before *backtest.Result, err error) {
	if f.result == "" {
		c, err = a.load(&f.backtestFlags)
		return c, nil, err
	}
	if f.config != "" {
		return nil, nil, config.Usagef("%s brings its own config; leave out -c", config.Clip(f.result))
	}
	source, err := readSettings(f.result)
	if err != nil {
		return nil, nil, err
	}
	overrides, err := f.overrides()
	if err != nil {
		return nil, nil, err
	}
	source.Overrides = append(source.Overrides, overrides...)
	if c, err = config.LoadBacktest(source); err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(filepath.Join(f.result, "result.json"))
	if err == nil {
		before = new(backtest.Result)
		err = json.Unmarshal(text, before)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s holds no whole result of a backtest: %w", f.result, err)
	}
	return c, before, nil
}

// showStress writes the page and prints the outcome.
func (a *app) showStress(f *stressFlags, c *config.Backtest, o *stress.Result) error {
	out := f.out
	if out == "" && !f.json && !f.noFiles {
		if out = filepath.Join("out", "stress-"+c.Source.Label()+".html"); f.result != "" {
			out = filepath.Join(f.result, "stress.html")
		}
	}
	return a.document(report.Stress(o), out, o, f.json)
}

// stressScreen says on standard error what is stressed and how far it is.
type stressScreen struct {
	sweepScreen
	base   *plan.Backtest
	before *backtest.Result
	opened time.Time
}

func newStressScreen(a *app, quiet bool, base *plan.Backtest, before *backtest.Result) *stressScreen {
	s := &stressScreen{sweepScreen: *a.newSweepScreen(quiet), base: base, before: before, opened: time.Now()}
	s.line("%s", base.Options.Title)
	return s
}

// began is called when the plain run has ended: it knows how long the others will take.
func (s *stressScreen) began(b stress.Start) {
	s.compare(b.Plain)
	for _, warning := range b.Plain.Warnings {
		s.line("beware: %s", warning)
	}
	took := time.Since(s.opened) / 2 // it has run twice
	p := &b.Plain.Performance
	s.line("the run itself: return %s, Sharpe %s, drawdown %s, %d trips, %d daily returns", p.Return.Percent(1),
		p.Sharpe.Text(2), p.Drawdown.Depth.Percent(1), b.Plain.Trips.Count, b.Days)
	s.line("%d runs to come; time: %s", b.Runs, short(took*time.Duration(b.Runs)/time.Duration(b.Workers)))
	s.shown = time.Now()
}

// compare says where the result differs from the one in the folder.
func (s *stressScreen) compare(plain *backtest.Result) {
	if s.before == nil {
		return
	}
	var why []string
	if old, now := s.before.Run.CodeVersion, s.base.Options.CodeVersion; old != now {
		why = append(why, fmt.Sprintf("the program was %s and is %s", old, now))
	}
	if s.before.Run.DataHash != s.base.Options.DataHash {
		why = append(why, "the candles are others")
	}
	if s.before.Run.ConfigHash != s.base.Options.ConfigHash {
		why = append(why, "the settings are others")
	}
	if old, now := s.before.Performance.Final, plain.Performance.Final; old != now {
		s.line("the run does not end as the one in the folder: %s, not %s (%s)", now, old,
			cmp.Or(strings.Join(why, ", "), "for no reason that the folder knows"))
	} else if len(why) > 0 {
		s.line("beware: %s; the run ends alike", strings.Join(why, ", "))
	}
}

// progress shows how many runs have ended.
func (s *stressScreen) progress(done, runs int) {
	if now, due := s.due(); due {
		s.draw(now, fmt.Sprintf("%d of %d runs", done, runs))
	}
}
