package bot

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
)

// ranOrder is an order of a finished backtest: its row of orders.csv and its fills of fills.csv, by
// the titles of their columns.
type ranOrder struct {
	Order map[string]string   `json:"order"`
	Fills []map[string]string `json:"fills"`
}

// ranRefusals are the refusals of a finished backtest.
type ranRefusals struct {
	Refused []ranRefusal `json:"refused"`
}

// ranRefusal is one reason.
type ranRefusal struct {
	Reason string `json:"reason"`
	Times  string `json:"times"`
	Share  string `json:"share"`
	Cure   string `json:"cure"`
}

// explainRun tells the story of an order of a finished backtest, or what was refused.
func (a *app) explainRun(folder, asked string, refused, asJSON bool) error {
	text, err := os.ReadFile(filepath.Join(folder, "result.json"))
	if errors.Is(err, os.ErrNotExist) {
		return config.Usagef("--run %s: there is no result.json: want the folder that bot backtest has written, like "+
			"out/smacross-synthetic", config.Clip(folder))
	}
	if err != nil {
		return err
	}
	var res backtest.Result
	if err := json.Unmarshal(text, &res); err != nil {
		return fmt.Errorf("%s holds no whole result of a backtest: %w", folder, err)
	}
	if refused {
		return a.explainRunRefusals(&res, asked, asJSON)
	}
	o, err := orderOfRun(folder, asked)
	if err != nil {
		return err
	}
	if asJSON {
		return console.PrintJSON(a.Stdout, o)
	}
	return o.write(a.Stdout, res.Strategies)
}

// explainRunRefusals prints the refusals of one strategy and of the exchange, or of all.
func (a *app) explainRunRefusals(res *backtest.Result, strategy string, asJSON bool) error {
	var all ranRefusals
	for i, row := range res.RefusalRows() {
		if of, _, found := strings.Cut(res.Refusals[i].Reason, ": "); found && strategy != "" && of != strategy {
			continue
		}
		all.Refused = append(all.Refused, ranRefusal{row[0], row[1], row[2], row[3]})
	}
	if asJSON {
		return console.PrintJSON(a.Stdout, &all)
	}
	for _, r := range all.Refused {
		a.printf("%s\n  %s times, %s\n  %s\n", r.Reason, r.Times, r.Share, r.Cure)
	}
	if len(all.Refused) == 0 {
		a.printf("nothing was refused\n")
	}
	return nil
}

// orderOfRun reads an order, by its number or by the first digits of one of its ids, and its fills.
func orderOfRun(folder, asked string) (o ranOrder, err error) {
	number, notNumber := strconv.ParseUint(asked, 10, 63)
	of := func(row map[string]string) bool { return row["order"] == strconv.FormatUint(number, 10) }
	var found []map[string]string
	if notNumber == nil {
		found, err = rowsOf(filepath.Join(folder, "orders.csv"), of)
	}
	if err == nil && len(found) == 0 && len(asked) >= 4 {
		found, err = rowsOf(filepath.Join(folder, "orders.csv"), func(row map[string]string) bool {
			return strings.HasPrefix(row["client_order_id"], asked) || strings.HasPrefix(row["order_id"], asked)
		})
	}
	switch {
	case err != nil:
		return o, err
	case len(found) == 0:
		return o, config.Usagef("no order %s in %s", config.Clip(asked), filepath.Join(folder, "orders.csv"))
	case len(found) > 1:
		return o, config.Usagef("%s begins the ids of %d orders: type more digits", config.Clip(asked), len(found))
	}
	o.Order = found[0]
	o.Fills, err = rowsOf(filepath.Join(folder, "fills.csv"),
		func(row map[string]string) bool { return row["order"] == o.Order["order"] })
	return o, err
}

// rowsOf are the rows of a table that a question is about, by the titles of its columns.
func rowsOf(file string, about func(map[string]string) bool) (rows []map[string]string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	table := csv.NewReader(f)
	table.ReuseRecord = true
	record, err := table.Read()
	head := append([]string{}, record...)
	for err == nil {
		if record, err = table.Read(); err != nil {
			break
		}
		row := make(map[string]string, len(head))
		for i, title := range head {
			row[title] = record[i]
		}
		if about(row) {
			rows = append(rows, row)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rows, nil
}

// write tells the story in lines, each with its time.
func (o *ranOrder) write(w io.Writer, strategies []backtest.StrategyInfo) error {
	row, lines := o.Order, []string{}
	add := func(ms, text string) {
		at, _ := strconv.ParseInt(ms, 10, 64) // the column has milliseconds
		lines = append(lines, time.UnixMilli(at).UTC().Format(time.DateTime)+"  "+text)
	}
	name := row["strategy"]
	if i, err := strconv.Atoi(name); err == nil && i >= 1 && i <= len(strategies) {
		name = strategies[i-1].Name
	}
	asked := fmt.Sprintf("%s asks in %s: %s %s", name, row["market"], row["type"], row["side"])
	for _, part := range [...]struct{ column, before string }{{"amount", " of "}, {"amount_quote", " for "},
		{"price", " at "}, {"trigger_price", ", trigger "}, {"reason", ", tag "}} {
		if row[part.column] != "" {
			asked += part.before + row[part.column]
		}
	}
	add(row["created_ms"], asked)
	for _, f := range o.Fills {
		role := "maker"
		if f["taker"] == "true" {
			role = "taker"
		}
		add(f["time_ms"], fmt.Sprintf("filled %s at %s, fee %s %s as %s", f["amount"], f["price"], f["fee"],
			f["fee_currency"], role))
	}
	end := row["status"]
	if why := row["restatement_reason"]; why != "" {
		end += ": " + why
	}
	add(row["updated_ms"], "the order is "+end+"; "+row["filled_amount"]+" traded, fees "+row["fee_paid"])
	_, err := fmt.Fprintf(w, "order %s\n%s\n", row["order"], strings.Join(lines, "\n"))
	return err
}
