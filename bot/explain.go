package bot

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/state/journal"
)

const explainHelp = `Tells the story of an order from the journal, each step with its time: the event, the decision,
the gate's figures before and after, the request, the answers, the states, the fills, the fees. ORDER is its number,
its client order id, the exchange's order id, or at least four first digits of one of these ids that no other order
has.

--refused tells why a strategy, or any, did not trade: the orders that the gate or the exchange refused in the last
--since, the reasons, with the value and its limit, how often, and whether the strategy is halted. Of rules it says how
often the entry was true since the start, and how near it came otherwise.

--run explains a finished backtest instead: an order of its orders.csv, or with --refused all that was refused, in
words, with its share of all orders and what helps.`

func explainCommand(a *app) *cobra.Command {
	f, refused, since, ran := &callerFlags{}, false, "24h", ""
	c := &cobra.Command{
		Use: "explain ORDER | --refused [STRATEGY]", Short: "Tell the story of an order, or why there is none",
		Args: cobra.MaximumNArgs(1), Long: explainHelp,
		Example: "  bot explain 12 -c configs/sandbox.toml\n  bot explain 8254ec74 --json\n  bot explain --refused " +
			"maker --since 1h\n  bot explain 3 --run out/smacross-synthetic",
		RunE: a.enter(func(ctx context.Context, args []string) error {
			switch {
			case ran != "" && (f.config != "" || f.state != ""):
				return config.Usagef("--run is a finished backtest; -c and --state name a bot")
			case ran != "" && (refused || len(args) == 1):
				return a.explainRun(ran, strings.Join(args, ""), refused, f.json)
			case refused:
				return a.explainRefusals(ctx, f, strings.Join(args, ""), since)
			case len(args) == 0:
				return config.Usagef("want an order, or --refused")
			}
			_, err := askAndShow(ctx, a, f, operator.AskStory(args[0]),
				func(w io.Writer, s *operator.Story) error { return s.Write(w) })
			return err
		}),
	}
	f.register(c)
	c.Flags().StringVar(&ran, "run", "", "a finished backtest in this `FOLDER`, instead of a bot")
	c.Flags().BoolVar(&refused, "refused", false, "what the gate and the exchange refused, instead of an order")
	c.Flags().StringVar(&since, "since", since, "with --refused: how far back `AGO` reaches, like 30m or 7d")
	return c
}

func (a *app) explainRefusals(ctx context.Context, f *callerFlags, strategy, ago string) error {
	since, err := parseAgo(ago)
	if err != nil {
		return config.Usagef("--since %w", err)
	}
	_, err = askAndShow(ctx, a, f, operator.AskRefused(strategy, since), printRefused)
	return err
}

// printRefused writes the refusals for a person.
func printRefused(w io.Writer, r *operator.Refused) error {
	for i := range r.Strategies {
		s := &r.Strategies[i]
		fmt.Fprintf(w, "%s: %s and %d changes sent since %s UTC\n", s.Strategy,
			operator.OrdersText(int(s.Orders)), s.Changes, operator.ClockOf(r.SinceMS))
		if s.Halted != "" {
			fmt.Fprintf(w, "  halted since %s: %s\n", operator.ClockOf(s.HaltedMS), s.Halted)
		}
		for k := range s.Refused {
			printRefusal(w, &s.Refused[k])
		}
		switch {
		case len(s.Refused) > 0 || s.Halted != "":
		case s.Orders+s.Changes > 0:
			fmt.Fprintln(w, "  nothing was refused")
		default:
			fmt.Fprintln(w, "  nothing was refused: it did not ask for anything")
		}
		for _, note := range s.Notes {
			fmt.Fprintln(w, "  since its start: "+note)
		}
	}
	return nil
}

func printRefusal(w io.Writer, k *operator.RefusedKind) {
	times := "once, " + operator.ClockOf(k.LastMS)
	if k.Times > 1 {
		times = fmt.Sprintf("%d times, %s to %s", k.Times, operator.ClockOf(k.FirstMS), operator.ClockOf(k.LastMS))
	}
	fmt.Fprintf(w, "  %s, by the %s: %s %s\n", k.Reason, k.By, k.Command, times)
	line := "    " + k.Asked
	if k.Order != 0 && k.By == "exchange" {
		line += fmt.Sprintf(" (order %d)", k.Order)
	}
	if k.Market != "" {
		line += " in " + k.Market
	}
	if k.Rounded != "" {
		line += ", rounded to " + k.Rounded
	}
	line += ": " + k.Detail
	if k.Cause != "" {
		line += "; on " + k.Cause
	}
	fmt.Fprintln(w, line)
}

const entriesHelp = `The entries of the journal, the latest first: commands, answers, reports, fills, refusals,
differences, halts, transfers, actions of the operator, starts and stops, each in the words of bot explain. The bot may
run. An answer looks at 50,000 entries at most; if there are older ones, its last line says how to go on. bot state
export writes all entries of a bot that does not run.`

func journalCommand(a *app) *cobra.Command {
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
