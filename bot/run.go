package bot

import (
	"context"
	"fmt"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/canary"
	"github.com/tidemark-trading/tidemark/bot/runner"
	"github.com/tidemark-trading/tidemark/bot/version"
)

const runHelp = `Trade: run strategies until Ctrl-C on an exchange that speaks the API, like ` + "`bot exchange`" + `.

The bot writes each order to disk before it sends it. It queries an order without a clear answer and never sends it
again. Kill the bot at any moment and start it again: it goes on where it was. Ctrl-C stops the strategies, cancels
their orders (or keeps them, as configured), waits for the exchange to confirm, and lists the rest. A second Ctrl-C
cancels the orders without the strategies, and ends. docs/operate.md shows the way from sandbox to live.

--canary NEW starts another program, or this one with another config, beside the bot. It gets what the bot records and
decides in shadow; it sends nothing and needs no key. bot canary shows whether it decides the same.`

const runExample = `  bot exchange                                  # in one terminal
  bot run -c configs/sandbox.toml               # in another
  bot run -c my.toml --set bot.log=debug
  bot run -c my.toml --canary new.toml`

// everyLine is the lowest of config.LogLevels.
const everyLine = "debug"

// runFlags are the flags of the command.
type runFlags struct {
	config   string
	sets     []string
	canary   string
	commands int
}

// register adds the flags that name the config.
func (f *runFlags) register(c *cobra.Command, file string) {
	c.Flags().StringVarP(&f.config, "config", "c", "", file)
	c.Flags().StringArrayVar(&f.sets, "set", nil, "change one setting: `a.b.c=value`; may be repeated")
}

func runCommand(a *app) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run",
		Short: "Trade on an exchange", Long: runHelp, Example: runExample, Args: onlyFlags,
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.run(ctx, f) }),
	}
	f.register(c, "config `FILE`")
	c.Flags().StringVar(&f.canary, "canary", "", "let `NEW` decide in shadow: a config FILE.toml, or another program")
	c.Flags().IntVar(&f.commands, "canary-commands", 1000, "promote the canary after `N` equal commands")
	return c
}

// runPlanOf reads the config that the flags name, and checks it.
func (a *app) runPlanOf(f *runFlags) (*plan.Live, error) {
	c, err := a.runConfigOf(f)
	if err != nil {
		return nil, err
	}
	return plan.NewLive(c, a.Definitions, a.Getenv)
}

// runConfigOf reads the config that the flags name.
func (a *app) runConfigOf(f *runFlags) (*config.Run, error) {
	if f.config == "" {
		return nil, config.Usagef("want a config: -c configs/sandbox.toml")
	}
	return readConfig(f.config, f.sets, config.LoadRun)
}

// readConfig reads a config file with the values of --set over it.
func readConfig[C any](file string, sets []string, load func(*config.Source) (C, error)) (none C, err error) {
	overrides, err := config.ParseSets(sets)
	if err != nil {
		return none, err
	}
	source, err := config.ReadSource(file, overrides)
	if err != nil {
		return none, err
	}
	return load(source)
}

// run runs the command.
func (a *app) run(ctx context.Context, f *runFlags) error {
	if f.commands < 1 {
		return config.Usagef("--canary-commands %d: want 1 at least", f.commands)
	}
	p, err := a.runPlanOf(f)
	if err != nil {
		return err
	}
	// a Ctrl-C ends a `tee` behind the bot too, and the bot must still cancel its orders
	signal.Ignore(syscall.SIGPIPE)
	level := console.NewLevel(p.Config.Bot.Log)
	log, end, err := a.runLog(&p.Config.Bot, level)
	if err != nil {
		return err
	}
	defer end()
	log.Info().Str("mode", p.Config.Bot.Mode).Str("exchange", p.Config.Exchange.Origin()).
		Str("state", p.Config.Bot.State).Str("version", version.Of(debug.ReadBuildInfo())).Msg("the bot starts")
	options := runner.Options{Getenv: a.Getenv, Again: a.Again, Faults: a.faults, Hangup: a.Hangup,
		SetLevel: level.Set, Reread: func() (*plan.Live, error) { return a.runPlanOf(f) }}
	if _, person := console.TerminalOf(a.Stderr); person {
		options.Pulse = time.Duration(p.Config.Bot.Pulse)
	}
	if f.canary != "" {
		if options.Canary, err = canary.Start(ctx, f.canary, a.Stderr); err != nil {
			return err
		}
		options.CanaryCommands = f.commands
	}
	ear := &lateEar{}
	options.Ear = ear.open
	hearing, err := a.hearing(p, ear, log)
	if err != nil {
		return err
	}
	return runBeside(ctx, log, append(a.companions(p, log), hearing...), func(ctx context.Context) error {
		return runner.Run(ctx, p, log, options)
	})
}

// companions are the services that the config wants beside the bot.
func (a *app) companions(p *plan.Live, log zerolog.Logger) []companion {
	token := p.Telegram
	if !p.Config.Telegram.Run {
		token = ""
	}
	all := a.chats(p.Config, token, log, operator.Target{Folder: p.Config.Bot.State, Beside: true})
	if p.Config.Dashboard.Listen != "" {
		all = append(all, companion{"dashboard", func(ctx context.Context) error {
			return serveBeside(ctx, p.Config, log)
		}})
	}
	return all
}

// runBeside runs a bot with its companions. They end after the bot: an operator may look at a bot
// that stops.
func runBeside(ctx context.Context, log zerolog.Logger, companions []companion, run func(context.Context) error) error {
	beside, end := context.WithCancel(context.WithoutCancel(ctx))
	wait := accompany(beside, log, companions)
	defer func() { end(); wait() }()
	return run(ctx)
}

// runLog opens the log of a bot, whose level may change. The caller calls end after the last line.
func (a *app) runLog(c *config.BotSection, level *console.Level) (log zerolog.Logger, end func(), err error) {
	if c.LogFile == "" {
		return console.Logger(a.Stderr, everyLine, a.Getenv).Hook(level), func() {}, nil
	}
	file, err := console.OpenLogFile(c.LogFile, int(c.LogMB), int(c.LogKeep))
	if err != nil {
		return log, nil, config.At([]string{"bot", "log_file"}, err)
	}
	log = console.Logger(a.Stderr, everyLine, a.Getenv, file).Hook(level)
	return log, func() {
		if err := file.Close(); err != nil {
			fmt.Fprintln(a.Stderr, "log file:", err)
		}
	}, nil
}

// companion is a service that runs beside a bot in its process, such as the dashboard. It speaks to
// the bot over its socket alone, so it can neither hold the loop nor change what the bot holds.
type companion struct {
	name string
	run  func(context.Context) error // until ctx ends
}

// longestPause is the longest time before a companion that has failed starts again.
const longestPause = time.Minute

// accompany runs companions until ctx ends. A companion that fails or panics is logged and starts
// again after a pause: the bot trades on. Call wait after the end of ctx.
func accompany(ctx context.Context, log zerolog.Logger, companions []companion) (wait func()) {
	var all sync.WaitGroup
	for _, c := range companions {
		all.Go(func() { c.keep(ctx, log) })
	}
	return all.Wait
}

// keep runs a companion until ctx ends.
func (c *companion) keep(ctx context.Context, log zerolog.Logger) {
	pauses := backoff.NewExponentialBackOff()
	pauses.MaxInterval = longestPause
	_, _ = backoff.Retry(ctx, func() (struct{}, error) { // its error is that of ctx
		err := c.try(ctx)
		if err == nil || ctx.Err() != nil {
			return struct{}{}, nil
		}
		log.Error().Err(err).Str("companion", c.name).Msg("the " + c.name + " has failed; the bot trades on")
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0))
}

// try runs a companion once. A panic of it is an error.
func (c *companion) try(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.run(ctx)
}
