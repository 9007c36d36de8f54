package bot

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

// bookFlags are the flags of commands that ask the books of a bot.
type bookFlags struct {
	callerFlags
	query profit.Query
	csv   bool
}

func (f *bookFlags) register(c *cobra.Command) {
	f.callerFlags.register(c)
	flags, q := c.Flags(), &f.query
	flags.StringVar(&q.Since, "since", "", "from this `TIME` on: 2026-11-01, 2026-11-01T09:30, or 90d or 36h ago")
	flags.StringVar(&q.Until, "until", "", "before this `TIME`")
	flags.StringVar(&q.Strategy, "strategy", "", "of this strategy alone")
	flags.StringVar(&q.Zone, "zone", "",
		"`ZONE` of days and dates, like Europe/Berlin; without it bot.zone of the config")
	flags.BoolVar(&f.csv, "csv", false, "print CSV")
}

// askBooks asks a question of the books and prints the answer as the flags say. rows are the rows
// of the answer for --csv.
func askBooks[T, R any](ctx context.Context, a *app, f *bookFlags, question operator.Question[T],
	rows func(*T) []R, print func(io.Writer, *T) error) error {
	if f.csv && f.json {
		return config.Usagef("want --csv or --json, not both")
	}
	answer, err := ask(ctx, &f.callerFlags, question)
	if err != nil {
		return err
	}
	if f.csv {
		return writeRows(a.Stdout, rows(answer.Value))
	}
	return show(a, &f.callerFlags, answer, print)
}

// writeRows writes structs as CSV under the names of their JSON. Times are RFC 3339.
func writeRows[R any](w io.Writer, rows []R) error {
	out := csv.NewWriter(w)
	fields := slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[R]()), func(f reflect.StructField) bool {
		return f.Anonymous
	})
	var head []string
	for i := range fields {
		name, _, _ := strings.Cut(fields[i].Tag.Get("json"), ",")
		head = append(head, strings.TrimSuffix(name, "_ms"))
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range rows {
		var cells []string
		for j := range fields {
			cells = append(cells, cellOf(reflect.ValueOf(&rows[i]).Elem().FieldByIndex(fields[j].Index), fields[j]))
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// plainDecimal writes a number with ten significant digits, without a power of ten.
func plainDecimal(value float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 10, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func cellOf(v reflect.Value, field reflect.StructField) string {
	switch value := v.Interface().(type) {
	case int64:
		if strings.HasSuffix(strings.Split(field.Tag.Get("json"), ",")[0], "_ms") {
			if value == 0 {
				return ""
			}
			return time.UnixMilli(value).UTC().Format(time.RFC3339Nano)
		}
		return strconv.FormatInt(value, 10)
	case float64:
		return plainDecimal(value)
	case *float64:
		if value == nil {
			return ""
		}
		return plainDecimal(*value)
	default:
		return fmt.Sprint(value)
	}
}

// latestTrades is how many trips a terminal shows without --all.
const latestTrades = 40

func tradesCommand(a *app) *cobra.Command {
	f, all := &bookFlags{}, false
	c := &cobra.Command{
		Use: "trades", Short: "List a bot's round trips: entry, exit, fees, profit, reason", Args: onlyFlags,
		Long: "A round trip is what one closing order sold of a position, as in trades.csv of a backtest. Profits " +
			"are after the fees of both sides. The bot may run or not.",
		Example: "  bot trades -c configs/sandbox.toml --since 7d\n  bot trades --state state --csv",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			if !all && !f.csv && !f.json {
				f.query.Latest = latestTrades
			}
			return askBooks(ctx, a, f, operator.AskTrades(&f.query),
				func(list *profit.TradeList) []profit.RoundTrip { return list.Trades },
				func(w io.Writer, list *profit.TradeList) error { return printTrades(w, list, a.terminal().Width) })
		}),
	}
	f.register(c)
	c.Flags().StringVar(&f.query.Market, "market", "", "in this market alone")
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("all trips of the time, not only the latest %d", latestTrades))
	return c
}

// spareOfTrades are the columns that a narrow terminal does without, the first one first.
var spareOfTrades = []string{"order", "held", "fees", "amount", "entry", "reason", "strategy"}

func printTrades(w io.Writer, list *profit.TradeList, width int) error {
	if len(list.Sums) == 0 {
		_, err := fmt.Fprintln(w, "no round trips")
		return err
	}
	zone, err := profit.Zone(list.Zone)
	if err != nil {
		return err
	}
	shown := page.Grid{Head: []string{"exit (" + list.Zone + ")", "strategy", "market", "amount", "entry", "exit",
		"held", "fees", "profit", "part", "reason", "order"}}
	awaited := false
	for i := range list.Trades {
		t := &list.Trades[i]
		mark := ""
		if t.Awaited {
			mark, awaited = "*", true
		}
		shown.Rows = append(shown.Rows, []string{time.UnixMilli(t.ExitedMS).In(zone).Format(time.DateTime), t.Strategy,
			t.Market, t.Amount, t.Entry, t.Exit, heldText(t.ExitedMS - t.EnteredMS), profit.Brief(t.Fees),
			profit.Signed(t.Profit) + " " + t.Currency + mark, profit.Part(&t.Part, "%+.2f%%"), t.Reason,
			strconv.FormatInt(t.Order, 10)})
	}
	if err := view.WriteTable(w, shown, width, spareOfTrades...); err != nil {
		return err
	}
	if awaited {
		fmt.Fprintln(w, "* a fee is not settled yet")
	}
	if list.Before > 0 {
		fmt.Fprintf(w, "%d earlier trips: --all\n", list.Before)
	}
	for _, s := range list.Sums {
		if _, err := fmt.Fprintf(w, "%s, %d won, %d lost: %s %s after fees of %s\n", tripCount(s.Trips), s.Won, s.Lost,
			profit.Signed(s.Profit), s.Currency, profit.Brief(s.Fees)); err != nil {
			return err
		}
	}
	return nil
}

func tripCount(trips int) string {
	if trips == 1 {
		return "1 trip"
	}
	return fmt.Sprintf("%d trips", trips)
}

// heldText is a duration for a person: its two largest units.
func heldText(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%dd %dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh %dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm %ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return d.Round(time.Millisecond * 100).String()
}
