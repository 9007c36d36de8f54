package bot

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/runner"
	"github.com/tidemark-trading/tidemark/bot/version"
)

const runHelp = `Trade: run strategies until Ctrl-C on an exchange that speaks the API, like ` + "`bot exchange`" + `.

The bot writes each order to disk before it sends it. It queries an order without a clear answer and never sends it
again. Kill the bot at any moment and start it again: it goes on where it was. Ctrl-C stops the strategies, cancels
their orders (or keeps them, as configured), waits for the exchange to confirm, and lists the rest. A second Ctrl-C
cancels the orders without the strategies, and ends. docs/running.md shows the way from sandbox to live.`

const runExample = `  bot exchange                                  # in one terminal
  bot run -c configs/sandbox.toml               # in another
  bot run -c my.toml --set bot.log=debug`

// runFlags are the flags of the command.
type runFlags struct {
	config string
	sets   []string
}

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use: "run", SuggestFor: []string{"trade", "live", "paper", "dry-run"},
		Short: "Trade on an exchange", Long: runHelp, Example: runExample, Args: onlyFlags,
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.run(ctx, f) }),
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "config `FILE`")
	c.Flags().StringArrayVar(&f.sets, "set", nil, "change one setting: `a.b.c=value`; may be repeated")
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
	overrides, err := config.ParseSets(f.sets)
	if err != nil {
		return nil, err
	}
	source, err := config.ReadSource(f.config, overrides)
	if err != nil {
		return nil, err
	}
	return config.LoadRun(source)
}

// run runs the command.
func (a *app) run(ctx context.Context, f *runFlags) error {
	p, err := a.runPlanOf(f)
	if err != nil {
		return err
	}
	ignoreSIGPIPE()
	log := console.Logger(a.Stderr, p.Config.Bot.Log, a.Getenv)
	log.Info().Str("mode", p.Config.Bot.Mode).Str("exchange", p.Config.Exchange.Origin()).
		Str("state", p.Config.Bot.State).Str("version", version.Of(debug.ReadBuildInfo())).Msg("the bot starts")
	for _, hint := range p.Config.Source.Hints {
		log.Warn().Msg(hint)
	}
	options := runner.Options{Getenv: a.Getenv, Again: a.Again, Faults: a.faults}
	if _, person := console.TerminalOf(a.Stderr); person {
		options.Pulse = time.Duration(p.Config.Bot.Pulse)
	}
	return runner.Run(ctx, p, log, options)
}
