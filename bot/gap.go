package bot

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/bot/rerun/gap/bridge"
	"github.com/tidemark-trading/tidemark/bot/rerun/orders"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/state/signals"
)

const gapHelp = `Says why a bot has earned something else than a backtest of the same time. It runs the bot's
strategies again over what the bot has recorded, each time with one more kind of fact in the place of the model:

  S0  nothing: a backtest on candles and the bot's signals, with the costs and
      the latency of --backtest
  S1  data     recorded data with its times of arrival
  S2  people   halts, restarts, reloads, transfers, allocations
  S3  orders   latency and outcomes of orders
  S4  fills    which orders filled, and how much
  S5  prices   at which prices
  S6  fees     at which fees: the live books

The difference of two neighbours is a step, so that all steps add up to the whole difference, to the last unit. What a
fact changes may depend on the facts that came before it. So data, people, orders and fills are also added in every
order in which they can be (fills need orders: 12 of 24). The column mean has the mean over these, which adds up too;
least and most are its range. Where less than 90 % of a run's orders stand for live orders, the mean is left out.

A bot that hears signals has one step more, before data: S0 hears each signal when its sender says that it was known,
also those that the bot refused; with signals.NAME.file in -c it hears the rows of that file, also those that never
came. S1 hears them as the bot did.

What the run with all facts does not reach is unexplained; more than 1 bp of the turnover is a reason to ask why:
bot replay, events that were lost.

By order: an episode lasts from a strategy's first order that differs until live and backtest hold the same again. Its
first cause carries its gap, others contribute; bot explain tells the story of the order. The largest ten are shown.

The bot may run. The command reads a copy of the state file, which stands in the state folder for a moment and changes
nothing there. --out writes gap.html, a page with the way from the backtest to
live; gap.csv, its steps; and episodes.csv, all episodes. docs/rerun.md

--every 1h compares again and again beside a running bot, and prints a line a round: the tracking error of each
strategy, which is live less backtest in hundredths of a per cent (bps) of the money at the beginning, and its parts.
--listen serves them to Prometheus. Where one exceeds alerts.tracking_bps of -c, its receivers get the alert
tracking. A round that cannot compare says why, and raises no alert.

--write-assumptions measures instead, from the bot's orders, what a backtest assumes: half spread, slippage, latency,
and the chance that a touch fills a resting order. It writes them as a [backtest] section. The next backtest with that
section says from how many live orders its assumptions were measured.`

// gapFlags are the flags of `bot gap`.
type gapFlags struct {
	state, config, backtest, from, to, out string
	assumptions                            string // file for the measured ones; empty: nothing is measured
	json                                   bool
	every                                  time.Duration // 0: once
	listen                                 string
}

func gapCommand(a *app) *cobra.Command {
	f := &gapFlags{}
	c := &cobra.Command{
		Use: "gap", Args: onlyFlags,
		Short: "Say why a bot earned something else than a backtest", Long: gapHelp,
		Example: "  bot gap --state bots/live\n" +
			"  bot gap --state bots/live --backtest configs/backtest.toml --out out/gap\n" +
			"  bot gap -c live.toml --every 1h --listen 127.0.0.1:9091\n" +
			"  bot gap --state bots/live --write-assumptions measured.toml",
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.gap(ctx, f) }),
	}
	flags := c.Flags()
	flags.StringVar(&f.state, "state", "", "state `FOLDER`; without it that of -c, or state")
	flags.StringVarP(&f.config, "config", "c", "", "the bot that runs with this config `FILE`; --every needs it")
	flags.StringVar(&f.backtest, "backtest", "",
		"config `FILE` of a backtest: its candles, costs and latency; without it recorded candles, and fees alone")
	flags.StringVar(&f.from, "from", "", "begin at this time, in full minutes; before it, all runs do what the bot did")
	flags.StringVar(&f.to, "to", "", "end, exclusive; without it all that is recorded")
	flags.StringVar(&f.out, "out", "", "write the page gap.html, gap.csv and episodes.csv to this `FOLDER`")
	flags.StringVar(&f.assumptions, "write-assumptions", "",
		"measure a backtest's assumptions from the bot's orders, and write them as a [backtest] section to `FILE`")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.DurationVar(&f.every, "every", 0, "compare again and again beside a running bot, like each 1h")
	flags.StringVar(&f.listen, "listen", "", "`ADDRESS` of /metrics of --every, like 127.0.0.1:9091; without it none")
	return c
}

// gap runs the command.
func (a *app) gap(ctx context.Context, f *gapFlags) (err error) {
	bot, err := f.read()
	if err != nil {
		return err
	}
	o := gap.Options{Dir: gapFolder(f.state), Kinds: a.Definitions}
	if o.From, o.To, err = config.ParseRange(f.from, f.to); err != nil {
		return err
	}
	if f.assumptions != "" {
		return a.measureAssumptions(ctx, f, orders.Range{From: o.From, To: o.To})
	}
	if f.every != 0 {
		return a.gapRounds(ctx, f, bot, o)
	}
	r, err := f.compare(ctx, o)
	if err != nil {
		return err
	}
	path := ""
	if f.out != "" {
		path = filepath.Join(f.out, "gap.html")
		if err := writeSteps(f.out, r); err != nil {
			return err
		}
	}
	return a.document(bridge.Page(r, o.Dir), path, r, f.json)
}

// compare compares with the candles and assumptions of --backtest.
func (f *gapFlags) compare(ctx context.Context, o gap.Options) (*gap.Comparison, error) {
	if f.backtest != "" {
		store, err := gapModel(f.backtest, &o)
		if err != nil {
			return nil, err
		}
		if store != nil {
			defer store.Close()
		}
	}
	return gap.Run(ctx, o)
}

// writeSteps writes the CSVs of a gap, and their folder.
func writeSteps(dir string, r *gap.Comparison) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the CSVs: %w", err)
	}
	for name, write := range map[string]func(io.Writer, *gap.Comparison) error{"gap.csv": bridge.WriteSteps,
		"episodes.csv": bridge.WriteEpisodes} {
		to := filepath.Join(dir, name)
		if err := console.WriteTo(nil, to, func(w io.Writer) error { return write(w, r) }); err != nil {
			return fmt.Errorf("write %s: %w", to, err)
		}
	}
	return nil
}

// gapFolder is the state folder: the file in it names it too. No path: the default one.
func gapFolder(path string) string {
	if path == "" {
		path = config.DefaultRun().Bot.State
	}
	if filepath.Base(path) == statedir.StateFile {
		path = filepath.Dir(path)
	}
	return path
}

// gapModel takes candles and assumptions from the config of a backtest. The caller closes the
// store; nil: there is none.
func gapModel(path string, o *gap.Options) (*candles.Store, error) {
	c, err := readConfig(path, nil, config.LoadBacktest)
	if err != nil {
		return nil, err
	}
	p, err := plan.NewBacktest(c, o.Kinds)
	if err != nil {
		return nil, err
	}
	o.Model = gap.Model{Venue: p.Run.Venue, DataLatency: p.Run.DataLatency, SyntheticBook: p.Run.SyntheticBook,
		Fees: &p.Fees}
	if o.Signals, err = sentSignals(p); err != nil {
		return nil, c.Source.Place(err)
	}
	if c.Data.Source == config.SourceSynthetic {
		return nil, nil
	}
	library, err := plan.OpenLibrary(c)
	if err != nil {
		return nil, err
	}
	o.Candles = library.(plan.Stored).Store
	return o.Candles, nil
}

// sentSignals are the sources of signals of a backtest, with their files.
func sentSignals(p *plan.Backtest) (map[string]gap.Sent, error) {
	all := map[string]gap.Sent{}
	for name, s := range p.Config.Signals.Sources {
		o, err := p.SignalOptions(name)
		one := gap.Sent{Options: o}
		if err == nil && s.File != "" {
			one.File, err = signals.Read(s.File, name, o)
		}
		if err != nil {
			return nil, config.At([]string{"signals", name, "file"}, err)
		}
		all[name] = one
	}
	return all, nil
}
