package bot

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
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
			_, err := askAndShow(ctx, a, f, operator.AskRisk(), printRisk)
			return err
		}),
	}
	f.register(c)
	return c
}

// printRisk writes the limits and halts for a person.
func printRisk(w io.Writer, r *operator.Risk) error {
	g := page.Grid{Head: []string{"scope", "limit", "market", "used", "of", "left", ""}}
	for i := range r.Limits {
		l := &r.Limits[i]
		g.Rows = append(g.Rows, []string{l.Scope, l.Name, orNone(l.Market), orNone(l.Words(l.Used)),
			orNone(l.Words(l.Max)), orNone(l.Words(l.Left)), l.Standing()})
	}
	if len(g.Rows) == 0 {
		fmt.Fprintln(w, "the state file has no limits: the bot has not run for a minute yet")
	} else if err := view.WriteTable(w, g, 0); err != nil {
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
