package bot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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

func haltCommand(a *app) *cobra.Command {
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

func resumeCommand(a *app) *cobra.Command {
	return a.actCommand(&cobra.Command{
		Use: "resume [STRATEGY]", Short: "Let a halted strategy, or all, trade again", Args: cobra.MaximumNArgs(1),
		Example: "  bot resume -c configs/sandbox.toml\n  bot resume maker",
	}, operator.PathResume, &actFlags{})
}

func cancelCommand(a *app) *cobra.Command {
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

func cancelAllCommand(a *app) *cobra.Command {
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

func flattenCommand(a *app) *cobra.Command {
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

// resolveWord is the word that the user types to confirm.
const resolveWord = "resolve"

func resolveCommand(a *app) *cobra.Command {
	f, exchange, absent, gone := &actFlags{}, false, false, ""
	c := a.actCommand(&cobra.Command{
		Use:     "resolve ORDER --as-exchange|--as-absent, or resolve --gone MARKET",
		Short:   "Decide about a disputed order, or a market that has gone",
		Args:    cobra.MaximumNArgs(1),
		Example: "  bot resolve 12 --as-exchange -c configs/sandbox.toml\n  bot resolve 12 --as-absent --wait 1m",
		Long: "Decides about an order whose answers were not booked, because they break a rule (docs/recovery.md). " +
			"Look at the\nexchange's own page first. --as-exchange books the next answer to a query as it is; " +
			"--as-absent ends the order in the\nbooks with the booked fills. Type the word " + resolveWord +
			" to confirm. Both values go to the journal: bot explain ORDER\nshows them.\n\n--gone MARKET takes " +
			"what strategies hold in a market that the exchange lists no more out of the books, as a\nwithdrawal " +
			"at cost: no profit, no loss. What the account still has of it is then unallocated.",
	}, operator.PathResolve, f)
	c.RunE = a.enter(func(ctx context.Context, args []string) error {
		request := &operator.Request{Gone: gone, WaitMS: f.wait.Milliseconds()}
		what := "what is held in " + gone + " is written off"
		switch {
		case gone != "" && (exchange || absent || len(args) > 0):
			return config.Usagef("--gone takes no order")
		case gone != "":
		case exchange == absent || len(args) == 0:
			return config.Usagef("give one of --as-exchange and --as-absent with an order, or --gone MARKET")
		default:
			request.Order, request.As = args[0], operator.AsExchange
			if absent {
				request.As = operator.AsAbsent
			}
			what = "order " + request.Order + " is resolved as " + request.As
		}
		fmt.Fprintf(a.Stderr, "%s; type %q to go on: ", what, resolveWord)
		word, _ := bufio.NewReader(a.Stdin).ReadString('\n')
		if strings.TrimSpace(word) != resolveWord {
			return config.Usagef("nothing is done: the word is %q", resolveWord)
		}
		return a.act(ctx, f, operator.PathResolve, request)
	})
	c.Flags().BoolVar(&exchange, "as-exchange", false, "the exchange is right: its next answer is booked")
	c.Flags().BoolVar(&absent, "as-absent", false,
		"the exchange does not have it: the order ends with the fills that are booked")
	c.Flags().StringVar(&gone, "gone", "", "write off what is held in a market that the exchange lists no more")
	return c
}

// reloadFlags are the flags of the command.
type reloadFlags struct {
	callerFlags
	wait  time.Duration
	check bool
}

func reloadCommand(a *app) *cobra.Command {
	f := &reloadFlags{}
	c := &cobra.Command{
		Use: "reload", Short: "Let a running bot take over its changed config", Args: onlyFlags,
		Example: "  bot reload -c configs/sandbox.toml --check\n  bot reload -c configs/sandbox.toml",
		Long: "Lets a running bot read its config file again and take over limits, parameters of strategies, alerts " +
			"and log level.\nPositions, exits, halts and the use of limits stay; a raised limit lifts no halt. A " +
			"strategy with other parameters is\nwarmed up beside the running one; its resting entries are cancelled. " +
			"Any other changed setting needs a restart: then,\nand after any error, nothing is applied. SIGHUP does " +
			"the same for a bot without a terminal. --check only says what\nwould change.",
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.reload(ctx, f) }),
	}
	f.register(c)
	c.Flags().BoolVar(&f.check, "check", false, "only say what would change, after a warm-up of the new strategies")
	c.Flags().DurationVar(&f.wait, "wait", 2*time.Minute, "how long the preparation may take")
	return c
}

// reload runs the command.
func (a *app) reload(ctx context.Context, f *reloadFlags) error {
	dir, err := f.folder()
	if err != nil {
		return err
	}
	ask := &operator.Request{Check: f.check, WaitMS: f.wait.Milliseconds(), By: "user " + userName()}
	answer, err := operator.AskReload(ctx, dir, ask)
	if err != nil {
		return err
	}
	return show(a, &f.callerFlags, answer, func(w io.Writer, r *operator.Reload) error {
		_, err := io.WriteString(w, reloadText(r))
		return err
	})
}

// reloadText is the outcome of a reload for a person.
func reloadText(r *operator.Reload) string {
	if len(r.Changed) == 0 {
		return "no setting has changed\n"
	}
	var text strings.Builder
	for _, line := range r.Changed {
		fmt.Fprintln(&text, line)
	}
	head := "reloaded"
	if r.Check {
		head = "nothing is applied: this would change"
	}
	fmt.Fprintf(&text, "%s; config %.12s", head, r.ConfigHash)
	if len(r.Strategies) > 0 {
		fmt.Fprintf(&text, "; warmed up anew: %s", strings.Join(r.Strategies, ", "))
	}
	if r.Cancelled > 0 {
		fmt.Fprintf(&text, "; cancels of %s are sent", operator.OrdersText(r.Cancelled))
	}
	return text.String() + "\n"
}
