package bot

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/bot/rerun/gap/rounds"
)

// alertsAtEnd is how long the end of a command waits for alerts.
const alertsAtEnd = 5 * time.Second

// read checks the flags, and reads the config of -c, which names the state folder; nil: there is
// none.
func (f *gapFlags) read() (bot *config.Run, err error) {
	switch {
	case f.config != "" && f.state != "":
		return nil, config.Usagef("-c and --state: one of them names the state folder; --backtest has the config " +
			"of a backtest")
	case f.every == 0 && f.listen != "":
		return nil, config.Usagef("--listen: only --every serves metrics")
	case f.every < 0 || f.every != 0 && f.every < time.Second:
		return nil, config.Usagef("--every %s: want a second at least, like 1h", f.every)
	case f.every != 0 && f.config == "":
		return nil, config.Usagef("--every: want the config of the running bot, like -c live.toml: it has the " +
			"receivers of alerts")
	case f.every != 0 && (f.to != "" || f.out != "" || f.assumptions != "" || f.json):
		return nil, config.Usagef("--every prints a line a round: --to, --out, --json and --write-assumptions are " +
			"for one comparison")
	case f.config == "":
		return nil, nil
	}
	bot, err = readConfig(f.config, nil, config.LoadRun)
	if err == nil {
		f.state = bot.Bot.State
	}
	return bot, err
}

// gapRounds compares again and again beside a running bot, until ctx ends.
func (a *app) gapRounds(ctx context.Context, f *gapFlags, bot *config.Run, o gap.Options) error {
	o.Beside = true
	receivers, err := alert.NewReceivers(&bot.Alerts, a.Getenv)
	if err != nil {
		return bot.Source.Place(err)
	}
	if f.backtest != "" { // a mistake in it ends the command now, not the first round
		store, err := gapModel(f.backtest, &gap.Options{Kinds: a.Definitions})
		if err != nil {
			return err
		}
		if store != nil {
			if err := store.Close(); err != nil {
				return err
			}
		}
	}
	sender := alert.NewSender(receivers, nil, console.Logger(a.Stderr, bot.Bot.Log, a.Getenv))
	defer sender.Stop(alertsAtEnd)
	r := rounds.New(rounds.Options{Every: f.every, Out: a.Stdout, Limit: bot.Alerts.Tracking, Alerts: sender,
		Bot:     (&plan.Live{Access: plan.Access{Config: bot}}).Name(),
		Compare: func(ctx context.Context) (*gap.Comparison, error) { return f.compare(ctx, o) }})
	if f.listen != "" {
		section := bot.Metrics
		section.Listen = f.listen
		if err := section.Check(); err != nil {
			return config.Usagef("--listen: %w", err)
		}
		server, err := host.Serve(f.listen, section.Hosts, r.Handler())
		if err != nil {
			return fmt.Errorf("--listen: %w", err)
		}
		defer server.Close()
		fmt.Fprintf(a.Stderr, "metrics are served at http://%s/metrics\n", server.Address())
	}
	return r.Run(ctx)
}
