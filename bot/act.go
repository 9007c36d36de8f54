package bot

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

// actFlags are the flags of commands that act.
type actFlags struct {
	callerFlags
	directFlags
	wait    time.Duration
	reason  string
	foreign bool
}

// actCommand makes a command that acts, on one strategy or on all.
func (a *app) actCommand(c *cobra.Command, path string, f *actFlags) *cobra.Command {
	c.RunE = a.enter(func(ctx context.Context, args []string) error {
		if f.direct {
			return a.direct(ctx, f)
		}
		if f.flatten || f.log != "" || len(f.sets) > 0 {
			return config.Usagef("--flatten, --log and --set belong to --direct; bot flatten asks a running bot")
		}
		ask := &operator.Request{Strategy: strings.Join(args, ""), Reason: f.reason, Foreign: f.foreign,
			WaitMS: f.wait.Milliseconds()}
		return a.act(ctx, f, path, ask)
	})
	f.register(c)
	c.Flags().DurationVar(&f.wait, "wait", 90*time.Second, "how long to wait for the exchange to confirm")
	return c
}

// errUnconfirmed ends a command that was not confirmed in time.
var errUnconfirmed = errors.New("not everything was confirmed in time; bot status and bot orders tell how it goes on")

func (a *app) haltCommand() *cobra.Command {
	f := &actFlags{}
	c := a.actCommand(&cobra.Command{
		Use: "halt [STRATEGY]", Short: "Stop a strategy, or all, until bot resume", Args: cobra.MaximumNArgs(1),
		Example: "  bot halt -c configs/sandbox.toml\n  bot halt maker --reason 'exchange maintenance'",
		Long: "Stops a strategy, or all: it is not called any more, and its orders are cancelled. The exits of its " +
			"brackets stay:\nthey protect its positions. A halt lasts over restarts until bot resume. The command " +
			"succeeds once the exchange has\nconfirmed the cancels.",
	}, operator.PathHalt, f)
	c.Flags().StringVar(&f.reason, "reason", "", "`WHY`, for the journal")
	return c
}

func (a *app) resumeCommand() *cobra.Command {
	return a.actCommand(&cobra.Command{
		Use: "resume [STRATEGY]", Short: "Let a halted strategy, or all, trade again", Args: cobra.MaximumNArgs(1),
		Example: "  bot resume -c configs/sandbox.toml\n  bot resume maker",
	}, operator.PathResume, &actFlags{})
}

func (a *app) cancelCommand() *cobra.Command {
	f := &actFlags{}
	c := a.actCommand(&cobra.Command{
		Use: "cancel ORDER", Short: "Cancel one order of a bot", Args: cobra.ExactArgs(1),
		Example: "  bot cancel 12 -c configs/sandbox.toml\n  bot cancel 12 --reason 'too far away'",
		Long: "Cancels an open order of the bot, and succeeds once the exchange has confirmed it. ORDER is a number " +
			"of bot orders, or a\nclient order id. Its strategy goes on and may place another one. The bracket of a " +
			"position places a cancelled exit again.",
	}, operator.PathCancel, f)
	c.RunE = a.enter(func(ctx context.Context, args []string) error {
		ask := &operator.Request{Order: args[0], Reason: f.reason, WaitMS: f.wait.Milliseconds()}
		return a.act(ctx, f, operator.PathCancel, ask)
	})
	c.Flags().StringVar(&f.reason, "reason", "", "`WHY`, for the journal")
	return c
}

func (a *app) cancelAllCommand() *cobra.Command {
	f := &actFlags{}
	c := a.actCommand(&cobra.Command{
		Use: "cancel-all", Short: "Cancel all open orders of a bot", Args: onlyFlags,
		Example: "  bot cancel-all -c configs/sandbox.toml\n  bot cancel-all --including-foreign --wait 1m\n" +
			"  bot cancel-all --direct --flatten -c live.toml",
		Long: "Cancels every open order of the bot, exits of positions too, and succeeds once the exchange has " +
			"confirmed each.\nStrategies go on: halt them first, or they place new orders. --including-foreign also " +
			"cancels orders of others on the\naccount, in the markets that this bot trades." + directHelp,
	}, operator.PathCancelAll, f)
	c.Flags().BoolVar(&f.foreign, "including-foreign", false, "orders of others on the same account too")
	c.Flags().BoolVar(&f.direct, "direct", false, "without a bot: straight at the exchange of -c")
	c.Flags().BoolVar(&f.flatten, "flatten", false, "with --direct: sell what the strategies hold, too")
	c.Flags().StringVar(&f.log, "log", "",
		"with --direct: write what is sent to this `FILE` instead of direct.log in the state folder")
	c.Flags().StringArrayVar(&f.sets, "set", nil, "with --direct: change one setting, `a.b.c=value`; may be repeated")
	return c
}

func (a *app) flattenCommand() *cobra.Command {
	f := &actFlags{}
	c := a.actCommand(&cobra.Command{
		Use: "flatten [STRATEGY]", Short: "Halt a strategy, or all, and sell what it holds",
		Args: cobra.MaximumNArgs(1), Example: "  bot flatten maker -c configs/sandbox.toml\n  bot flatten --wait 2m",
		Long: "Halts a strategy, or all, cancels its orders, exits included, and sells its positions at market once " +
			"the cancels are\nconfirmed. It succeeds once nothing is open and nothing is held. An amount below the " +
			"market's minimum cannot be sold;\nthe command lists it.",
	}, operator.PathFlatten, f)
	c.Flags().StringVar(&f.reason, "reason", "", "`WHY`, for the journal")
	return c
}
