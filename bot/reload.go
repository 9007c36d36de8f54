package bot

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

// reloadFlags are the flags of the command.
type reloadFlags struct {
	callerFlags
	wait  time.Duration
	check bool
}

func (a *app) reloadCommand() *cobra.Command {
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
