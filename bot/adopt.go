package bot

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/adopt"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
)

// adoptFlags are the flags of the command.
type adoptFlags struct {
	config, state string
	sets          []string
	json          bool
	check, fresh  bool
}

func adoptCommand(a *app) *cobra.Command {
	f := &adoptFlags{}
	c := &cobra.Command{
		Use: "adopt OLD NEW", Short: "Let a strategy take over what a dropped or renamed one has",
		Args:    cobra.ExactArgs(2),
		Example: "  bot adopt dip swing -c configs/sandbox.toml --check\n  bot adopt dip swing -c configs/sandbox.toml",
		Long: "Lets strategy NEW of the config take over what strategy OLD has in the state file of a stopped bot: " +
			"positions with\ntheir cost, open orders, exits, tactics and money of its own. OLD must not be in the " +
			"config any more. What OLD has\nearned so far stays OLD's in bot profit. If NEW is not in the file " +
			"yet and of the same kind, it is OLD under another\nname: it gets its saved state and its halt, too; " +
			"--fresh leaves them behind. All is written in one transaction, with a\njournal entry that names the user.",
		RunE: a.enter(func(ctx context.Context, args []string) error { return a.adopt(ctx, args[0], args[1], f) }),
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "the config `FILE`, without OLD and with NEW")
	c.Flags().StringVar(&f.state, "state", "", "state `FOLDER` of the bot; without it that of -c")
	c.Flags().StringArrayVar(&f.sets, "set", nil, "change a setting, as with bot run: `KEY=VALUE`")
	c.Flags().BoolVar(&f.check, "check", false, "only say what would go over")
	c.Flags().BoolVar(&f.fresh, "fresh", false, "NEW begins as a new strategy, without OLD's saved state and halt")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// adopt runs the command.
func (a *app) adopt(ctx context.Context, from, to string, f *adoptFlags) error {
	if f.config == "" {
		return config.Usagef("name the config with -c: it says what %s trades", to)
	}
	c, err := readConfig(f.config, f.sets, config.LoadRun)
	if err != nil {
		return err
	}
	if f.state != "" {
		c.Bot.State = f.state
	}
	r, err := adopt.Run(ctx, &adopt.Ask{Folder: c.Bot.State, From: from, To: to, Strategies: c.Strategies,
		Fresh: f.fresh, Check: f.check, By: "user " + userName(), Now: thisMoment(), Faults: a.faults})
	if err != nil {
		return err
	}
	if f.json {
		return console.PrintJSON(a.Stdout, r)
	}
	_, err = fmt.Fprint(a.Stdout, adoptText(r, filepath.Join(c.Bot.State, statedir.StateFile)))
	return err
}

// adoptText is a handover for a person.
func adoptText(r *adopt.Changes, file string) string {
	var text strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&text, "%-10s %s\n", what, fmt.Sprintf(format, args...))
	}
	if r.Before {
		return fmt.Sprintf("%s was handed over to %s at %s, by %s: journal entry %d; nothing is left to do\n", r.From,
			r.To, operator.ClockOf(r.AtMS), r.By, r.Entry)
	}
	for _, p := range r.Positions {
		line("position", "%s: %s, cost %s %s, since %s", p.Market, p.Amount, p.Cost, p.Currency,
			operator.ClockOf(p.OpenedMS))
		if p.Sum != p.Amount {
			line("", "%s has %s there then, cost %s %s", r.To, p.Sum, p.SumCost, p.Currency)
		}
	}
	for _, o := range r.Orders {
		line("order", "%d: %s %s, %s", o.Order, o.Market, o.Side, o.State)
	}
	for _, n := range [...]struct {
		what  string
		count int
	}{{"exits", r.Exits}, {"tactics", r.Tactics}, {"closes", r.Closes}} {
		if n.count > 0 {
			line(n.what, "%d", n.count)
		}
	}
	for _, m := range r.Money {
		line("money", "%s %s", m.Amount, m.Asset)
	}
	if r.Memory {
		line("memory", "%s is %s under another name: the saved state goes over", r.To, r.From)
	}
	if r.Halt != "" {
		line("halt", "%s is halted, as %s was: %s", r.To, r.From, r.Halt)
	}
	for _, note := range r.Notes {
		line("note", "%s", note)
	}
	if r.Check {
		return text.String() + fmt.Sprintf("nothing is written: this would go over from %s to %s\n", r.From, r.To)
	}
	return text.String() + fmt.Sprintf("%s has handed over to %s: entry %d of the journal in %s\n", r.From, r.To,
		r.Entry, file)
}
