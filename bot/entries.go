package bot

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/state/journal"
)

const entriesHelp = `The entries of the journal, the latest first: commands, answers, reports, fills, refusals,
differences, halts, transfers, actions of the operator, starts and stops, each in the words of bot explain. The bot may
run. An answer looks at 50,000 entries at most; if there are older ones, its last line says how to go on. bot state
export writes all entries of a bot that does not run.`

func (a *app) journalCommand() *cobra.Command {
	f, q := &callerFlags{}, &operator.JournalQuery{}
	c := &cobra.Command{
		Use: "journal", Short: "List the latest entries of a bot's journal", Args: onlyFlags, Long: entriesHelp,
		Example: "  bot journal -c configs/sandbox.toml --kind refusal --since 2h\n" +
			"  bot journal --state state --strategy maker --latest 20 --json",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			_, err := askAndShow(ctx, a, f, operator.AskJournal(q), printJournal)
			return err
		}),
	}
	f.register(c)
	flags := c.Flags()
	flags.StringVar(&q.Kind, "kind", "", "of these kinds: "+strings.Join(journal.EntryKinds(), ", "))
	flags.StringVar(&q.Strategy, "strategy", "", "about this strategy")
	flags.StringVar(&q.Market, "market", "", "about this market")
	flags.StringVar(&q.Order, "order", "", "about this `ORDER`, by its number or an id")
	flags.StringVar(&q.Since, "since", "", "from this `TIME` on: 2026-11-01, 2026-11-01T09:30, or 90d or 36h ago")
	flags.StringVar(&q.Until, "until", "", "before this `TIME`")
	flags.StringVar(&q.Zone, "zone", "", "`ZONE` of these times, like Europe/Berlin; without it bot.zone of the config")
	flags.IntVar(&q.Latest, "latest", 50, fmt.Sprintf("how many entries, at most %d", operator.MaxEntries))
	flags.Uint64Var(&q.Before, "before", 0, "only entries before this `NUMBER`")
	return c
}

// printJournal writes entries for a person, as bot explain does.
func printJournal(w io.Writer, j *operator.Journal) error {
	for i := range j.Entries {
		e := &j.Entries[i]
		head := fmt.Sprintf("%d  %s  %s", e.Number, operator.ClockOf(e.AtMS), e.Kind)
		if e.Strategy != "" {
			head += "  " + e.Strategy
		}
		if e.Market != "" {
			head += "  " + e.Market
		}
		if e.Order != 0 {
			head += fmt.Sprintf("  order %d", e.Order)
		}
		fmt.Fprintln(w, head)
		for _, line := range e.Lines {
			fmt.Fprintln(w, "    "+line)
		}
	}
	switch {
	case j.Older != 0:
		_, err := fmt.Fprintf(w, "older entries: --before %d\n", j.Older)
		return err
	case len(j.Entries) == 0:
		_, err := fmt.Fprintln(w, "no entries")
		return err
	}
	return nil
}
