package bot

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/canary"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/strategy"
)

const canaryHelp = `Shows how far the canary of a running bot is: another program or config that decides in shadow
(bot run --canary NEW). It replays what the bot records, and each of its commands is compared with the bot's.

After --canary-commands equal commands the bot promotes it. A difference wants a person: --accept or --refuse. Either
goes to the journal, with the difference. A promotion starts nothing: stop the bot, then start what was tested.`

// canaryFlags are the flags of the command.
type canaryFlags struct {
	callerFlags
	accept, refuse, follow bool
	reason                 string
}

func canaryCommand(a *app) *cobra.Command {
	f := &canaryFlags{}
	c := &cobra.Command{
		Use: canary.Command, Args: onlyFlags,
		Short: "Show, accept or refuse the canary of a running bot", Long: canaryHelp,
		Example: "  bot canary --state bots/live\n  bot canary -c live.toml --accept --reason 'the new stop, as " +
			"planned'",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			if f.follow {
				return a.followAsCanary(context.WithoutCancel(ctx), f)
			}
			return a.canary(ctx, f)
		}),
	}
	f.register(c)
	c.Flags().BoolVar(&f.accept, "accept", false, "promote it in spite of its difference")
	c.Flags().BoolVar(&f.refuse, "refuse", false, "refuse it")
	c.Flags().StringVar(&f.reason, "reason", "", "`WHY`, for the journal")
	c.Flags().BoolVar(&f.follow, canary.FollowFlag, false, "")
	_ = c.Flags().MarkHidden(canary.FollowFlag) // bot run starts the child with it
	return c
}

// canary runs the command.
func (a *app) canary(ctx context.Context, f *canaryFlags) error {
	decide := ""
	switch {
	case f.accept && f.refuse:
		return config.Usagef("--accept and --refuse exclude each other")
	case f.accept:
		decide = operator.CanaryAccept
	case f.refuse:
		decide = operator.CanaryRefuse
	}
	folder, err := f.folder()
	if err != nil {
		return err
	}
	answer, err := operator.AskCanary(ctx, folder, decide, f.reason)
	if err != nil {
		return err
	}
	if f.json {
		return console.PrintJSON(a.Stdout, answer)
	}
	return printCanary(a.Stdout, answer)
}

// printCanary writes an answer for a person.
func printCanary(w io.Writer, c *operator.Canary) error {
	_, err := fmt.Fprintln(w, strings.Join(canaryLines(c), "\n"))
	return err
}

// canaryLines is a canary for a person; nil: there is none.
func canaryLines(c *operator.Canary) []string {
	if c == nil {
		return nil
	}
	if c.Program == "" && c.Ended == "" {
		return []string{"the canary has not answered yet"}
	}
	lines := []string{fmt.Sprintf("%s: %s of %s commands equal, %s unchecked, %s events", c.Program, thousands(c.Equal),
		thousands(c.Wanted), thousands(c.Unchecked), thousands(c.Events))}
	if c.Difference != "" {
		lines = append(lines, "differs: "+c.Difference)
	}
	if c.Ended != "" {
		lines = append(lines, c.Ended)
	}
	if c.Dropped > 0 {
		lines = append(lines, fmt.Sprintf("%d parts of the records were dropped: it does not keep up", c.Dropped))
	}
	lines = append(lines, c.Notes...)
	switch c.Decided {
	case "accepted":
		lines = append(lines, "accepted: stop the bot and start what was tested")
	case "refused":
		lines = append(lines, "refused")
	}
	return lines
}

// followAsCanary is the child: it replays what comes on the standard input.
func (a *app) followAsCanary(ctx context.Context, f *canaryFlags) error {
	p := canary.Player{Hello: canary.Hello{Program: version.Of(debug.ReadBuildInfo())}, Kinds: a.Definitions}
	if f.config != "" {
		c, err := readConfig(f.config, nil, config.LoadRun)
		if err != nil {
			return err
		}
		if _, err := plan.NewCanary(c, a.Definitions); err != nil {
			return err
		}
		p.Change = func(m *core.Manifest) (*core.Manifest, string, error) { return a.shadowOf(c, m) }
	}
	return p.Play(ctx, a.Stdin, a.Stdout)
}

// shadowOf is what the engine of a bot would be made of with another config, and the hash of its
// settings.
func (a *app) shadowOf(c *config.Run, m *core.Manifest) (changed *core.Manifest, hash string, err error) {
	made, err := m.Core(a.Definitions)
	if err != nil {
		return nil, "", err
	}
	p, err := plan.NewCanary(c, a.Definitions)
	if err == nil {
		err = p.Follow(made.Catalog)
	}
	if err == nil {
		err = followable(made.Strategies, p.Strategies)
	}
	if err != nil {
		return nil, "", err
	}
	made.Strategies, made.Limits, made.Fees = p.Strategies, p.Limits, p.Fees
	changed, err = core.NewManifest(made, m.Program)
	return changed, p.SettingsHash, err
}

// followable refuses strategies for which the bot's records do not have all data.
func followable(then, now []backtest.StrategyPlan) error {
	if len(then) != len(now) {
		return config.Usagef("the bot runs %d strategies, the canary's config has %d; they have to be the same",
			len(then), len(now))
	}
	for i := range then {
		was, is := &then[i], &now[i]
		if was.Name != is.Name || !slices.Equal(was.Markets, is.Markets) || was.Interval != is.Interval ||
			was.Own != is.Own {
			return config.Usagef("strategy %s of the bot, %s of the canary's config: name, markets, interval and "+
				"whether it has an allocation have to be the same", was.Name, is.Name)
		}
		had, err := was.Kind.Needs(was.Values)
		if err != nil {
			return err
		}
		needs, err := is.Kind.Needs(is.Values)
		if err != nil {
			return err
		}
		if needs.Ticker && !had.Ticker || needs.Book && !had.Book {
			return config.Usagef("strategy %s: the canary needs tickers or books that the bot does not ask for",
				is.Name)
		}
		known := had.Of(was.Interval)
		for _, c := range needs.Of(is.Interval) {
			if !slices.ContainsFunc(known, func(k strategy.Candles) bool {
				return k.Interval == c.Interval && k.Warmup >= c.Warmup
			}) {
				return config.Usagef("strategy %s: the canary needs %d %s candles for its warm-up, and the bot has "+
					"fewer", is.Name, c.Warmup, c.Interval)
			}
		}
	}
	return nil
}
