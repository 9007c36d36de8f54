package bot

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/parquet"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
)

//go:embed builtin.toml
var builtin string

const backtestHelp = `Replay stored candles through a strategy, and report.

Without -c it runs a shipped strategy on three years of synthetic candles: it needs no files. With -c, candles come
from the store that the config names. --set changes any setting for one run.`

const backtestExample = `  bot backtest
  bot backtest --set strategies.trend.params.fast=20 --no-files
  bot backtest -c configs/backtest.toml --from 2021-01-01 --out out/late
  bot backtest -c configs/backtest.toml --json > result.json
  bot backtest -c configs/backtest.toml --check-lookahead`

// backtestFlags are the flags of the command.
type backtestFlags struct {
	config, from, to, out, envelope, data, log string
	sets                                       []string
	noFiles, json, lookahead, warmup, parquet  bool
}

func backtestCommand(a *app) *cobra.Command {
	f := &backtestFlags{}
	c := &cobra.Command{
		Use:   "backtest",
		Short: "Replay candles through a strategy", Long: backtestHelp, Example: backtestExample,
		Args: onlyFlags,
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.backtest(ctx, f) }),
	}
	flags := c.Flags()
	flags.StringVarP(&f.config, "config", "c", "", "config `FILE`; without it: a built-in example on synthetic candles")
	f.addRange(flags)
	flags.StringVar(&f.data, "db", "", "candle store `FILE` instead of the config's")
	flags.BoolVar(&f.parquet, "parquet", false, "write the tables as Parquet too, for notebooks")
	flags.BoolVar(&f.json, "json", false, "print result.json and nothing else; files only with --out")
	flags.StringVar(&f.envelope, "envelope", "",
		"run the pessimistic and optimistic path too: `MODE` auto, true or false; auto: unless --json")
	flags.Lookup("envelope").NoOptDefVal = "true"
	flags.StringVar(&f.log, "log", "warn", "log `LEVEL` of strategies on standard error: off, error, warn, info, debug")
	flags.BoolVar(&f.lookahead, "check-lookahead", false,
		"instead: change the future at many places and see whether earlier decisions change")
	flags.BoolVar(&f.warmup, "check-warmup", false, "instead: find out how much history the decisions depend on")
	return c
}

// addRange adds the flags that each run of a config has.
func (f *backtestFlags) addRange(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.sets, "set", nil, "change one setting: `a.b.c=value`; may be repeated")
	flags.StringVar(&f.from, "from", "", "first candle to trade on: 2021, 2021-06, 2021-06-30, RFC 3339 or Unix ms")
	flags.StringVar(&f.to, "to", "", "end of the range, exclusive")
	flags.StringVar(&f.out, "out", "", "`DIR` for the result files; without it out/NAME, after the config")
	flags.BoolVar(&f.noFiles, "no-files", false, "write no files")
}

// given reports whether any of them was given.
func (f *backtestFlags) given() bool {
	return len(f.sets) > 0 || f.from+f.to+f.out != "" || f.noFiles
}

// onlyFlags refuses arguments. Its error names the two usual mistakes: a config without -c, and a
// switch without its =.
func onlyFlags(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var switches string
	if c.Flags().Lookup("envelope") != nil {
		switches = ", and = before the value of a switch: --envelope=false"
	}
	return fmt.Errorf("%q stands alone; want -c before a config%s", config.Clip(args[0]), switches)
}

// overrides are the flags as settings; the special ones come after --set, so that they win.
func (f *backtestFlags) overrides() (list []config.Override, err error) {
	if list, err = config.ParseSets(f.sets); err != nil {
		return nil, err
	}
	for _, flag := range [...]struct{ name, key, text string }{
		{"from", "backtest.from", f.from}, {"to", "backtest.to", f.to},
		{"db", "data.candles", f.data}, {"out", "report.out", f.out},
		{"envelope", "report.envelope", f.envelope},
	} {
		if flag.text != "" {
			list = append(list, config.Override{Flag: "--" + flag.name + " " + flag.text,
				Path: strings.Split(flag.key, "."), Text: flag.text, Word: true})
		}
	}
	if f.parquet {
		list = append(list, config.Override{Flag: "--parquet", Path: []string{"report", "parquet"}, Text: "true"})
	}
	if f.data != "" {
		list = append(list, config.Override{Flag: "--db", Path: []string{"data", "source"}, Text: config.SourceStore})
	}
	return list, nil
}

// load reads the config that the flags name.
func (a *app) load(f *backtestFlags) (*config.Backtest, error) {
	overrides, err := f.overrides()
	if err != nil {
		return nil, err
	}
	source := &config.Source{Text: builtinFor(a.Definitions), Overrides: overrides}
	if f.config != "" {
		if source, err = config.ReadSource(f.config, overrides); err != nil {
			return nil, err
		}
	}
	c, err := config.LoadBacktest(source)
	if err == nil && c.Report.Out == "" {
		c.Report.Out = "out/" + source.Label()
	}
	return c, err
}

// backtest runs the command.
func (a *app) backtest(ctx context.Context, f *backtestFlags) error {
	if !slices.Contains(config.LogLevels, f.log) {
		return config.Usagef("--log %s: want one of %s", config.Clip(f.log), strings.Join(config.LogLevels, ", "))
	}
	c, err := a.load(f)
	if err != nil {
		return err
	}
	if c.Data.Recording != "" {
		return a.backtestRecorded(ctx, c, f)
	}
	p, err := plan.NewBacktest(c, a.Definitions)
	if err != nil {
		return err
	}
	lib, err := plan.OpenLibrary(c)
	if err != nil {
		return err
	}
	defer lib.Close()
	if f.warmup {
		p.WholeHistory = true
	}
	if err := p.Finish(lib); err != nil {
		return err
	}
	p.Run.Log = a.strategyLog(f.log)
	guard := &hangGuard{Out: a.Stderr, Left: "temporary files of the run may be left"}
	p.Options.Watch = guard.Watch
	return p.Explain(guard.Run(ctx, func() error {
		switch {
		case f.lookahead:
			return a.checkLookahead(ctx, p, f.json)
		case f.warmup:
			return a.checkWarmup(ctx, p, f.json)
		}
		return a.runBacktest(ctx, p, f)
	}))
}

// backtestRecorded is backtest of a config with data.recording.
func (a *app) backtestRecorded(ctx context.Context, c *config.Backtest, f *backtestFlags) error {
	switch {
	case f.lookahead || f.warmup:
		return config.Usagef("a check changes candles of a store, and data.recording is a recording; run it with " +
			"--set data.recording=")
	case c.Report.Envelope == "true":
		return config.Usagef("an envelope has paths through candles, and data.recording has the prices themselves; " +
			"leave out envelope")
	}
	return a.runRecorded(ctx, c.Data.Recording, c, f)
}

// strategyLog is the log of the strategies of a backtest. It drops halts: halts prints them at the
// end, with the stack.
func (a *app) strategyLog(level string) zerolog.Logger {
	dropHalts := func(e *zerolog.Event, _ zerolog.Level, message string) {
		if strings.HasPrefix(message, engine.HaltedMessage) {
			e.Discard()
		}
	}
	return console.Logger(a.Stderr, level, a.Getenv).Hook(zerolog.HookFunc(dropHalts))
}

// halts prints the stacks of halted strategies. It returns the error with which the command ends.
func (a *app) halts(all []backtest.Halted) (err error) {
	for _, h := range all {
		if len(h.Stack) > 0 {
			fmt.Fprintf(a.Stderr, "strategy %s was halted at %s: %s\n\n%s\n", h.Name, h.At, h.Reason, h.Stack)
		}
		if err == nil {
			err = fmt.Errorf("strategy %s was halted at %s: %s", h.Name, h.At, h.Reason)
		}
	}
	return err
}

// runBacktest runs the plan and shows its result.
func (a *app) runBacktest(ctx context.Context, p *plan.Backtest, f *backtestFlags) error {
	o := &p.Options
	o.Curve, o.Late = !f.json, true
	o.Envelope = p.Config.Report.Envelope == "true" || p.Config.Report.Envelope == config.EnvelopeAuto && !f.json
	if !f.noFiles && (!f.json || f.out != "") {
		o.Out = p.Config.Report.Out
	}
	for _, line := range p.Unused() {
		fmt.Fprintln(a.Stderr, line)
	}
	if err := a.countTry(p); err != nil {
		return err
	}
	if !f.json {
		if len(p.Unlimited()) > 0 {
			fmt.Fprintln(a.Stderr, "Some risk limits are not set: fine for a backtest; a live bot will name them.")
		}
	}
	var err error
	if o.Config, err = settingsOf(p.Config.Source); err != nil {
		return err
	}
	var halted []backtest.Halted
	o.Halted = func(h backtest.Halted) { halted = append(halted, h) }
	result, err := a.runWithBar(ctx, p, f)
	var tables []string
	if err == nil && o.Out != "" {
		tables, err = parquet.Folder(o.Out, p.Config.Report.Parquet)
	}
	if err != nil {
		return err
	}
	err = a.show(result, f.json)
	if len(tables) > 0 && !f.json {
		fmt.Fprintln(a.Stdout, strings.Join(tables, ", "))
	}
	return errors.Join(err, a.halts(halted))
}

// runWithBar runs the plan under a bar that is gone before anything else is printed.
func (a *app) runWithBar(ctx context.Context, p *plan.Backtest, f *backtestFlags) (*backtest.Result, error) {
	if !f.json {
		bar := a.bar(ctx, p)
		defer bar.End()
		p.Options.Progress = bar.Reach
	}
	return backtest.Run(ctx, p.Run, p.Options)
}

// bar returns the progress bar of a backtest. It draws nothing if the end of the range is unknown.
func (a *app) bar(ctx context.Context, p *plan.Backtest) *console.Bar {
	if len(p.Run.Feeds) == 0 {
		return &console.Bar{}
	}
	f := p.Run.Feeds[len(p.Run.Feeds)-1]
	stored, err := p.Candles.Span(f.Market.Name, f.Interval)
	if err != nil {
		return &console.Bar{} // the run will return the error
	}
	to, runs := stored.To, 1
	if p.Run.To != 0 {
		to = min(p.Run.To, to)
	}
	if path := p.Run.Venue.Path; p.Options.Envelope && (path == sim.Pessimistic || path == sim.Optimistic) {
		runs = 2
	} else if p.Options.Envelope {
		runs = 3
	}
	return console.NewBar(ctx, a.Stderr, "backtest", max(p.Run.From, stored.From), to, runs)
}

func (a *app) show(result *backtest.Result, asJSON bool) error {
	if !asJSON {
		return backtest.WriteSummary(a.Stdout, result, a.terminal())
	}
	text, err := result.JSON()
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(text, '\n'))
	return err
}

// terminal returns width and colour of the standard output, if it is a terminal.
func (a *app) terminal() (o backtest.SummaryOptions) {
	file, ok := console.TerminalOf(a.Stdout)
	if !ok {
		return o
	}
	o.Color = a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil {
		o.Width = width
	}
	return o
}
