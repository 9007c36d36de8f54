package dashboard

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/results"
	"github.com/tidemark-trading/tidemark/research/compare"
	"github.com/tidemark-trading/tidemark/research/report"
	"github.com/tidemark-trading/tidemark/view"
)

// pageRows is the number of results on a page.
const pageRows = 50

// Choice is an entry of a list to choose from.
type Choice struct {
	Text, Path string
	Chosen     bool
}

// ResultsView is the page of all results.
type ResultsView struct {
	results.Standing
	Summary            string
	Query              results.Query
	Strategies         []string
	Markets            []string
	Sorts              []Choice
	Head               []string
	Rows               []ResultRow
	Older, Newer, Most string // links to the pages before and behind; the largest number to compare
}

// ResultRow is a result in the list. Its cells stand behind the box that chooses it.
type ResultRow struct {
	Name  string
	Error string
	Cells []Cell
}

// sorts are the orders that the page offers, with the direction that is asked for first.
var sorts = []struct {
	title, name string
	ascending   bool
}{
	{"newest", "changed", false}, {"return", "return", false}, {"Sharpe", "sharpe", false},
	{"drawdown", "max_drawdown", true}, {"trips", "round_trips", false}, {"p", "psr_p", true},
	{"tries", "tries", false}, {"range", "from", false}, {"name", "name", true},
}

// ResultsOf makes the page of results. number is that of the page, from 0.
func ResultsOf(list *results.Results, q results.Query, number int, nowMS int64) *ResultsView {
	last := max(len(list.Results)-1, 0) / pageRows
	number = min(max(number, 0), last)
	v := &ResultsView{Standing: list.Standing, Query: q, Strategies: list.Strategies, Markets: list.Markets,
		Most: strconv.Itoa(results.MaxCompared), Head: []string{"Result", "Strategy", "Market", "Range", "Return",
			"Sharpe", "p", "Drawdown", "Trips", "Tries", "Data", "Written"}}
	first := number * pageRows
	shown := list.Results[first:min(first+pageRows, len(list.Results))]
	if len(shown) > 0 {
		v.Summary = fmt.Sprintf("%d to %d of %d results", first+1, first+len(shown), len(list.Results))
	}
	if len(list.Results) < list.Total {
		v.Summary += fmt.Sprintf("; %d others are filtered out", list.Total-len(list.Results))
	}
	for i := range shown {
		v.Rows = append(v.Rows, resultRow(&shown[i], nowMS))
	}
	for _, s := range sorts {
		now := cmp.Or(q.Sort, "changed") == s.name
		ascending := s.ascending
		title := s.title
		if now {
			ascending = !q.Ascending
			title += map[bool]string{true: " ↑", false: " ↓"}[q.Ascending]
		}
		v.Sorts = append(v.Sorts, Choice{title, resultsPath(q, s.name, ascending, 0), now})
	}
	if number > 0 {
		v.Newer = resultsPath(q, q.Sort, q.Ascending, number-1)
	}
	if number < last {
		v.Older = resultsPath(q, q.Sort, q.Ascending, number+1)
	}
	return v
}

// resultsPath is the link to a list of results.
func resultsPath(q results.Query, sort string, ascending bool, number int) string {
	values := url.Values{}
	for name, value := range map[string]string{"strategy": q.Strategy, "market": q.Market, "sort": sort} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if ascending {
		values.Set("ascending", "true")
	}
	if number > 0 {
		values.Set("page", strconv.Itoa(number))
	}
	return "results?" + values.Encode()
}

// named is the link to a page of a name.
func named(page, name string) string { return page + "?" + url.Values{"name": {name}}.Encode() }

// resultRow is a result in the list.
func resultRow(e *results.Entry, nowMS int64) ResultRow {
	r := ResultRow{Name: e.Name, Error: e.Error}
	if e.Error != "" {
		r.Cells = []Cell{left(e.Name), text(age(e.ChangedMS, nowMS))}
		return r
	}
	name := Cell{Text: e.Name, Path: named("result", e.Name), Class: "left"}
	tries := "–"
	if e.Tries != nil {
		tries = fmt.Sprintf("%d, bar %s", e.Tries.Series, e.Tries.Bar.Text(2))
	}
	strategy := brief(e.Strategies)
	if e.Kind != results.Backtest {
		strategy += ", " + e.Kind
	}
	r.Cells = []Cell{name, left(strategy), left(brief(e.Markets)), text(e.From.Date() + " – " + e.To.Date()),
		signed("", figurePercent(e.Return)), text(e.Sharpe.Text(2)), text(e.P.Text(3)), text(e.Drawdown.Percent(1)),
		text(fmt.Sprint(e.Trips)), text(tries), text(clipped(e.Data, 8)), text(age(e.ChangedMS, nowMS))}
	if len(e.Warnings) > 0 {
		r.Cells[0].Text += fmt.Sprintf(" (warnings: %d)", len(e.Warnings))
	}
	return r
}

// brief names the first two of a list.
func brief(names []string) string {
	if len(names) > 2 {
		return fmt.Sprintf("%s and %d others", names[0], len(names)-1)
	}
	return strings.Join(names, ", ")
}

func figurePercent(f backtest.Figure) string { return f.Percent(1) }

// ResultOf makes the page of a result.
func ResultOf(r *results.Result) Parts {
	lead := fmt.Sprintf("%s · %s to %s", r.Title, r.From.Date(), r.To.Date())
	if r.Synthetic {
		lead += " · made-up candles"
	}
	p := Parts{Name(r.Name), view.Note(lead), Warnings(r.Warnings), resultCards(r), Choices{Of: fileLinks(r.Files)}}
	if r.Run != nil {
		p = append(p, view.Figure{Chart: report.Curves([]*compare.Run{r.Run}).Chart})
	}
	if r.NoCurve != "" {
		p = append(p, view.Note("There is no curve: "+r.NoCurve))
	}
	settings := Table{Title: "Settings", Head: []string{"Setting", "Value"}, Empty: "The result names no strategy."}
	for _, s := range r.Settings() {
		settings.Rows = append(settings.Rows, row(left(s[0]), left(s[1])))
	}
	return append(p, Section{"What it is worth", honest(r)}, settings, resultTrades(r),
		Section{"Assumptions", Parts{List(r.Whole.Assumptions)}},
		Hashes{"run " + r.Whole.Run.ID, "data " + r.Data, "config " + r.Config, "code " + r.Code})
}

// resultCards are the headline figures.
func resultCards(r *results.Result) Cards {
	p, hold := &r.Whole.Performance, &r.Whole.Hold
	return Cards{
		{"Return", signed("", figurePercent(p.Return)), text(p.CAGR.Percent(1) + " a year")},
		{"Sharpe", text(p.Sharpe.Text(2)), text("p " + r.P.Text(3) + " alone")},
		{"Deepest drawdown", text(p.Drawdown.Depth.Percent(1)), text("from " + p.Drawdown.Start.Date())},
		{"Buy and hold", signed("", figurePercent(hold.Return)), text(hold.Market)},
		{"Round trips", text(fmt.Sprint(r.Trips)), text(r.Whole.Trips.WinRate.Percent(1) + " won")},
		{"Final equity", text(profit.Brief(p.Final.String())), text("fees " + profit.Brief(p.Fees.String()) + " " +
			r.Currency)},
	}
}

// honest says how much was tried over the same candles, and what the p does not say.
func honest(r *results.Result) (lines Parts) {
	if r.P.Defined() {
		lines = append(lines, view.Text(fmt.Sprintf("p %s (1 − PSR, against cash): so large a share of records of "+
			"this length without any edge show a Sharpe ratio at least as high. It holds only for settings that were "+
			"fixed before their record was seen.", r.P.Text(3))))
	}
	switch {
	case r.Synthetic:
		lines = append(lines, view.Text("The candles are made up: no ledger counts tries over them."))
	case r.Tries == nil:
		lines = append(lines, view.Text("The ledger of tries has none over these candles. It stands beside the candle "+
			"store; bot dashboard --db names another one."))
	default:
		lines = append(lines, view.Text(fmt.Sprintf("Tries over candles that overlap these: %d of %d different series "+
			"of returns. The best of so many worthless ones shows a Sharpe above %s on this length in 5 of 100 cases, "+
			"in excess of a hold at its own exposure.", r.Tries.Tries, r.Tries.Series, r.Tries.Bar.Text(2))))
	}
	return lines
}

// fileTitles are the titles of pages and files.
var fileTitles = map[string]string{"report.html": "Report", "walkforward.html": "Walk-forward",
	"stress.html": "Stress", "gap.html": "The way from the backtest to live"}

// fileLinks are the links to files, by their paths.
func fileLinks(paths []string) (links []Choice) {
	for _, p := range paths {
		name := path.Base(p)
		links = append(links, Choice{Text: cmp.Or(fileTitles[name], name), Path: named("file", p)})
	}
	return links
}

// shownTrades is the number of round trips on the page of a result.
const shownTrades = 60

// resultTrades are the latest round trips of a result.
func resultTrades(r *results.Result) Table {
	t := Table{Title: "Round trips", Empty: "There is no round trip.", Head: []string{"Market", "Entered", "Exited",
		"Entry", "Exit", "Amount", "Fees", "Profit", "Reason"}}
	if r.Trades.Total > shownTrades {
		t.Title = fmt.Sprintf("The last %d of %d round trips", shownTrades, r.Trades.Total)
	}
	if r.Trades.Error != "" {
		t.Empty = r.Trades.Error
	}
	columns := make([]int, 0, len(t.Head))
	for _, name := range [...]string{"market", "entry_time_ms", "exit_time_ms", "entry_price", "exit_price", "amount",
		"fees", "pnl", "reason"} {
		columns = append(columns, r.Trades.Column(name))
	}
	if slices.Contains(columns, -1) {
		return t
	}
	for _, texts := range slices.Backward(r.Trades.Rows) {
		if len(t.Rows) == shownTrades {
			break
		}
		cell := func(column int) string { return texts[columns[column]] }
		t.Rows = append(t.Rows, row(left(cell(0)), text(minute(cell(1))), text(minute(cell(2))),
			text(profit.Brief(cell(3))), text(profit.Brief(cell(4))), text(cell(5)), text(profit.Brief(cell(6))),
			signed("", profit.Brief(cell(7))), left(cell(8))))
	}
	return t
}

// minute is a time in milliseconds to the minute, in UTC.
func minute(ms string) string {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return ms
	}
	return time.UnixMilli(n).UTC().Format("2006-01-02 15:04")
}

// CompareOf makes the page of a comparison.
func CompareOf(o *compare.Comparison) Parts {
	var runs []Choice
	for _, r := range o.Runs {
		runs = append(runs, Choice{Text: r.Name + ": " + r.Title, Path: named("result", r.Dir)})
	}
	return Parts{Choices{Of: runs}, report.Compare(o)}
}
