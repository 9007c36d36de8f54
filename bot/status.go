package bot

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

// printStatus writes a status for a person.
func printStatus(w io.Writer, s *operator.Status) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	line("state", "%s%s", s.State, processText(s))
	if s.Blocked != "" {
		line("blocked", "%s; bot cancel-all --direct -c CONFIG cancels without the loop", s.Blocked)
	}
	if s.Exchange != "" {
		line("exchange", "%s, %s", s.Exchange, s.Mode)
	}
	line("run", "%s since %s UTC, version %s%s", s.Run, operator.ClockOf(s.SinceMS), s.Version, configText(s))
	for _, x := range s.Strategies {
		printStrategy(line, &x)
	}
	if s.Equity != "" {
		line("equity", "%s %s, exposed %s%s%s", s.Equity, s.Currency, s.Exposure, s.ResultsText(), stampText(s, s.AtMS))
	}
	if s.Opening != "" {
		line("limit", "%s", s.Opening)
	}
	if s.AsOfMS != 0 {
		line("open orders", "%d%s", s.OpenOrders, stampText(s, s.OrdersMS))
	} else {
		line("open orders", "%d, of others on the account %d", s.OpenOrders, s.ForeignOrders)
	}
	for _, text := range canaryLines(s.Canary) {
		line("canary", "%s", text)
	}
	printConcerns(line, s)
	for _, x := range s.NotGuarded {
		line("timer", "%s", x.Text())
	}
	for _, x := range s.Unallocated {
		line("unallocated", "%s %s on the account beyond the strategies' books%s", x.Amount, x.Asset,
			stampText(s, x.AtMS))
	}
	for _, x := range s.Markets {
		line("market", "%s", x.Words())
	}
	for _, x := range s.Weight {
		line("weight "+x.Of, "%d points left until %s%s", x.Left, operator.ClockOf(x.ResetMS), banText(&x))
	}
	for _, x := range s.Feeds {
		if strings.HasPrefix(x.Feed, market.KindMarketStatus.String()) {
			continue // the exchange reports a status only when it changes, so its age means nothing
		}
		line("heard", "%s, %s", x.Feed, operator.ClockOf(x.LastMS))
	}
	if s.State != operator.Stopped {
		line("clock", "the exchange's is %d ms ahead; %.1f ms there and back", s.ClockOffsetMS, s.RoundTripMS)
	}
	line("journal", "%d entries%s", s.JournalEntries, stampText(s, s.AsOfMS))
	if s.JournalSinceMS != 0 {
		line("state file", "%.1f MB, its journal begins %s", float64(s.StateBytes)/1e6,
			operator.ClockOf(s.JournalSinceMS))
	}
	return table.Flush()
}

// configText is the hash of the settings, and the last reload.
func configText(s *operator.Status) string {
	text := fmt.Sprintf(", config %.12s", s.ConfigHash)
	if s.ReloadedMS != 0 {
		text += fmt.Sprintf(" (reloaded %s by %s)", operator.ClockOf(s.ReloadedMS), s.ReloadedBy)
	}
	return text
}

// printConcerns writes the positions without an exit, the sources of signals, and what someone else
// has changed.
func printConcerns(line func(name, format string, args ...any), s *operator.Status) {
	for _, x := range s.Unprotected {
		line("unprotected", "%s: %s %s since %s (%s)", x.Strategy, x.Amount, x.Market, operator.ClockOf(x.SinceMS),
			x.Cause)
	}
	for _, x := range s.Signals {
		line("signals", "%s", x.Text())
	}
	for _, x := range s.ChangedByOthers {
		line("changed by someone else", "%s", x)
	}
	if s.StreamAside != "" {
		line("stream", "%s", s.StreamAside)
	}
}

// printStrategy writes the lines of a strategy.
func printStrategy(line func(name, format string, args ...any), x *operator.StrategyStatus) {
	line("strategy", "%s", x.Text())
	for _, text := range universeLines(x.Universe) {
		line("", "%s", text)
	}
}

// universeLines is the universe of a strategy for a person; nil: it has none.
func universeLines(u *operator.Universe) []string {
	if u == nil {
		return nil
	}
	lines := []string{fmt.Sprintf("universe of %s, %s: %s", u.Date, u.Rule, strings.Join(u.Members, " "))}
	if u.Hint != "" {
		lines = append(lines, u.Hint)
	}
	return lines
}

// stampText is the time of a figure of a stopped bot; empty: the bot runs.
func stampText(s *operator.Status, ms int64) string {
	if s.AsOfMS == 0 {
		return ""
	}
	return asOfText(ms)
}

func processText(s *operator.Status) string {
	if s.PID == 0 {
		return ", this is what its state file says"
	}
	return fmt.Sprintf(", process %d", s.PID)
}

func banText(x *operator.Weight) string {
	switch {
	case x.BannedUntilMS != 0:
		return "; banned until " + operator.ClockOf(x.BannedUntilMS)
	case x.HeldUntilMS != 0:
		return "; a page that is no answer of the exchange: nothing is sent until " + operator.ClockOf(x.HeldUntilMS)
	}
	return ""
}

func statusCommand(a *app) *cobra.Command {
	f, healthy := &callerFlags{}, false
	c := &cobra.Command{
		Use: "status", Short: "Say how a bot stands", Args: onlyFlags,
		Example: "  bot status -c configs/sandbox.toml\n  bot status --state state --json",
		Long: "Shows the status of a running bot: strategies and halts, equity and today's result, orders, weight " +
			"budget, feeds,\nclock. For a stopped bot it shows the state file's figures.",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			s, err := askAndShow(ctx, a, f, operator.AskStatus(), printStatus)
			if err == nil && healthy && (s.State == operator.Stopped || s.State == operator.Blocked) {
				err = fmt.Errorf("the bot is %s", s.State)
			}
			return err
		}),
	}
	f.register(c)
	c.Flags().BoolVar(&healthy, "check", false, "exit code 1 if no bot runs, or if it is blocked")
	return c
}

const riskHelp = `Each limit of the account and of the strategies, by the name of its config key: how much of it is
used, how much is left, and whether it refuses orders now. Limits that are not set are listed too. Then the halts in
force. A bot that does not run answers as of its last minute, or its stop.`

func riskCommand(a *app) *cobra.Command {
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
