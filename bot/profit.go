package bot

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

const profitHelp = `Realised is what sales brought, after all fees. Unrealised of a period is what open positions
gained or lost in it; of a strategy or a market it is what its positions stand at now.

The return of a period is time-weighted: what came to the account or left it changes the return as
little as the drawdown. The money-weighted return beside it is the rate at which the money earned
that was really there.`

// earnedRow and sampleRow are rows of CSV, which name the currency of the answer.
type (
	earnedRow struct {
		profit.Earned
		Currency string `json:"currency"`
	}
	sampleRow struct {
		profit.Sample
		Currency string `json:"currency"`
	}
)

func profitCommand(a *app) *cobra.Command {
	f := &bookFlags{}
	c := &cobra.Command{
		Use: "profit", Short: "Say what a bot has earned, by day, strategy, market or tag", Args: onlyFlags,
		Long: profitHelp,
		Example: "  bot profit -c configs/sandbox.toml --by week\n  bot profit --state state --by strategy --since " +
			"30d --csv",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			return askBooks(ctx, a, f, operator.AskProfit(&f.query), func(r *profit.ProfitReport) (rows []earnedRow) {
				for _, one := range append(r.Groups, r.Total) {
					rows = append(rows, earnedRow{one, r.Currency})
				}
				return rows
			}, func(w io.Writer, r *profit.ProfitReport) error { return printProfit(w, r, a.terminal().Width) })
		}),
	}
	f.register(c)
	c.Flags().StringVar(&f.query.Market, "market", "", "in this market alone")
	c.Flags().StringVar(&f.query.By, "by", profit.ByDay, "`GROUP`: "+strings.Join(profit.Groups(), ", "))
	return c
}

// spareOfProfit are the columns that a narrow terminal does without, the first one first.
var spareOfProfit = []string{"won", "turnover", "trips", "fees", "flows"}

func printProfit(w io.Writer, r *profit.ProfitReport, width int) error {
	if r.Currency == "" {
		_, err := fmt.Fprintln(w, "the bot has never run")
		return err
	}
	timed := r.By == profit.ByDay || r.By == profit.ByWeek || r.By == profit.ByMonth || r.By == profit.ByYear
	head := r.By
	if timed {
		head += " (" + r.Zone + ")"
	}
	shown := page.Grid{Head: []string{head, "realised", "unrealised", "fees", "turnover", "trips", "won", "flows",
		"equity", "return", "drawdown"}}
	for _, one := range append(r.Groups, r.Total) {
		shown.Rows = append(shown.Rows, []string{one.Name, profit.Signed(one.Realised),
			orNone(profit.Signed(one.Unrealised)), profit.Brief(one.Fees), profit.Brief(one.Turnover),
			strconv.Itoa(one.Trips), strconv.Itoa(one.Won), orNone(profit.Signed(one.Flows)),
			orNone(profit.Brief(one.Equity)), profit.Part(one.Return, "%+.2f%%"), one.DrawdownText()})
	}
	if !timed {
		shown.Drop("flows")
		shown.Drop("equity")
	}
	if err := view.WriteTable(w, shown, width, spareOfProfit...); err != nil {
		return err
	}
	fmt.Fprintf(w, "All money in %s.", r.Currency)
	if r.Total.Return != nil {
		fmt.Fprintf(w, " Return time-weighted %s, money-weighted %s.", profit.Part(r.Total.Return, "%+.2f%%"),
			profit.Part(r.MoneyWeighted, "%+.2f%%"))
	}
	if len(r.LeftOut) > 0 {
		fmt.Fprintf(w, " Left out, of another currency: %s.", strings.Join(r.LeftOut, ", "))
	}
	_, err := fmt.Fprintln(w)
	return err
}

func orNone(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// curveRows is about how many samples a terminal shows without --every.
const curveRows = 40

func equityCommand(a *app) *cobra.Command {
	f := &bookFlags{}
	c := &cobra.Command{
		Use: "equity", Short: "Show the equity of a bot, or what a strategy has earned, over time", Args: onlyFlags,
		Long: "The bot keeps a sample a minute for two days, one each quarter of an hour for three years, then one a " +
			"day, each with the lowest and the highest equity since the one before. The curve of a strategy without " +
			"an allocation is what it has earned: it shares its money.",
		Example: "  bot equity -c configs/sandbox.toml --since 7d --every 1h\n  bot equity --state state --strategy " +
			"maker --csv",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			return askBooks(ctx, a, f, operator.AskEquity(&f.query), func(curve *profit.Curve) []sampleRow {
				rows := make([]sampleRow, len(curve.Samples))
				for i, one := range curve.Samples {
					rows[i] = sampleRow{one, curve.Currency}
				}
				return rows
			}, printCurve)
		}),
	}
	f.register(c)
	c.Flags().StringVar(&f.query.Every, "every", "", "one sample for each such `SPAN`, like 15m, 1h or 1d")
	return c
}

func printCurve(w io.Writer, c *profit.Curve) error {
	if len(c.Samples) == 0 {
		_, err := fmt.Fprintln(w, "no samples: the bot writes one a minute")
		return err
	}
	zone, err := profit.Zone(c.Zone)
	if err != nil {
		return err
	}
	word := "equity"
	if c.Earned {
		word = "earned"
	}
	shown := c.Samples[max(0, len(c.Samples)-curveRows):]
	g := page.Grid{Head: []string{"time (" + c.Zone + ")", word, "low", "high", "exposure", "flow"}}
	for _, s := range shown {
		g.Rows = append(g.Rows, []string{time.UnixMilli(s.AtMS).In(zone).Format("2006-01-02 15:04:05"), s.Equity,
			s.Low, s.High, orNone(s.Exposure), orNone(profit.Signed(s.Flow))})
	}
	if err := view.WriteTable(w, g, 0); err != nil {
		return err
	}
	if before := len(c.Samples) - len(shown); before > 0 {
		fmt.Fprintf(w, "%d earlier samples: --every 1h shows fewer, --csv all\n", before)
	}
	if c.TimeWeighted == nil {
		_, err := fmt.Fprintf(w, "Money in %s; largest fall from a peak %s.\n", c.Currency, c.Fall)
		return err
	}
	_, err = fmt.Fprintf(w, "Money in %s; return time-weighted %s, money-weighted %s, drawdown %s.\n", c.Currency,
		profit.Part(c.TimeWeighted, "%+.2f%%"), profit.Part(c.MoneyWeighted, "%+.2f%%"), profit.Part(c.Drawdown,
			"%.2f%%"))
	return err
}
