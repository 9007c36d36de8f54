package bot

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

const riskHelp = `Each limit of the account and of the strategies, by the name of its config key: how much of it is
used, how much is left, and whether it refuses orders now. Limits that are not set are listed too. Then the halts in
force. A bot that does not run answers as of its last minute, or its stop.`

func (a *app) riskCommand() *cobra.Command {
	f := &callerFlags{}
	c := &cobra.Command{
		Use: "risk", Short: "Show the limits of a bot, how much of each is used, and the halts", Args: onlyFlags,
		Long:    riskHelp,
		Example: "  bot risk -c configs/sandbox.toml\n  bot risk --state state --json",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			answer, err := ask(f, func(of operator.Target) (operator.Answer[operator.Risk], error) {
				return operator.AskRisk(ctx, of)
			})
			if err != nil {
				return err
			}
			return show(a, f, answer, func(r *operator.Risk) error { return printRisk(a.Stdout, r) })
		}),
	}
	f.register(c)
	return c
}

// printRisk writes the limits and halts for a person.
func printRisk(w io.Writer, r *operator.Risk) error {
	if len(r.Limits) == 0 {
		fmt.Fprintln(w, "the state file has no limits: the bot has not run for a minute yet")
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Limits) > 0 {
		fmt.Fprintln(table, "scope\tlimit\tmarket\tused\tof\tleft\t")
	}
	for i := range r.Limits {
		l := &r.Limits[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Scope, l.Name, cmp.Or(l.Market, "-"),
			cmp.Or(l.Words(l.Used), "-"), cmp.Or(l.Words(l.Max), "-"), cmp.Or(l.Words(l.Left), "-"), l.Standing())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, h := range r.Halts {
		fmt.Fprintf(w, "halted: %s since %s UTC by %s: %s\n", h.Scope, operator.ClockOf(h.SinceMS), h.By, h.Reason)
	}
	if len(r.Limits) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "Money in %s, as of %s UTC.\n", r.Currency, operator.ClockOf(r.AtMS))
	return err
}
