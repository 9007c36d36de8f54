package dashboard

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/bot/books"
	"github.com/tidemark-trading/tidemark/chart"
	"github.com/tidemark-trading/tidemark/page"
)

// ProfitView is the page of trades and profit.
type ProfitView struct {
	Sections
	Groups []string
	By     string
}

// ProfitOf makes the page of profit, groups the latest first, and of the latest round trips.
func ProfitOf(report *books.ProfitReport, trades *books.TradeList, curve *books.Curve) (*ProfitView, error) {
	view := &ProfitView{Groups: books.Groups(), By: report.By}
	zone, err := books.Zone(report.Zone)
	if err != nil {
		return nil, err
	}
	if view.Equity, err = equityPicture(curve); err != nil {
		return nil, err
	}
	sum, unit := &report.Total, text(report.Currency)
	view.Cards = []Card{
		{"Realised", signed("", books.Brief(sum.Realised)), unit},
		{"Unrealised", signed("", books.Brief(sum.Unrealised)), unit},
		{"Fees", text(books.Brief(sum.Fees)), unit},
		{"Return", signed("", percent(sum.Return)), text("time-weighted")},
		{"Return on the money", signed("", percent(report.MoneyWeighted)), text("money-weighted")},
		{"Largest drawdown", text(percent(sum.Drawdown)), text(books.Brief(sum.Fall) + " " + report.Currency)},
	}
	groups := Table{Title: "Profit by " + report.By, Empty: "Nothing has been traded in this time.",
		Head: []string{report.By, "Realised", "Unrealised", "Fees", "Turnover", "Trips", "Won", "Flows", "Return",
			"Drawdown"}}
	for i := len(report.Groups) - 1; i >= 0; i-- {
		g := &report.Groups[i]
		groups.Rows = append(groups.Rows, row(left(g.Name), signed("", books.Brief(g.Realised)),
			signed("", books.Brief(g.Unrealised)), text(books.Brief(g.Fees)), text(books.Brief(g.Turnover)),
			text(fmt.Sprint(g.Trips)), text(fmt.Sprint(g.Won)), text(books.Brief(g.Flows)),
			signed("", percent(g.Return)), text(percent(g.Drawdown))))
	}
	view.Tables = []Table{groups, tradeTable(trades, zone)}
	return view, nil
}

// tradeTable lists at most 200 round trips, the latest first.
func tradeTable(list *books.TradeList, zone *time.Location) Table {
	t := Table{Title: "Trades", Empty: "No position has been closed.",
		Head: []string{"Order", "Strategy", "Market", "Entered", "Held", "Amount", "Entry", "Exit", "Fees", "Profit",
			"Reason"}}
	for i := len(list.Trades) - 1; i >= 0 && len(t.Rows) < 200; i-- {
		one := &list.Trades[i]
		number := Cell{Text: fmt.Sprint(one.Order), Path: fmt.Sprintf("order?order=%d", one.Order), Class: "left"}
		t.Rows = append(t.Rows, row(number, left(one.Strategy), text(one.Market), text(moment(one.EnteredMS, zone)),
			text(age(one.EnteredMS, one.ExitedMS)), text(one.Amount), text(books.Brief(one.Entry)),
			text(books.Brief(one.Exit)), text(books.Brief(one.Fees)), signed("", books.Brief(one.Profit)),
			left(one.Reason)))
	}
	return t
}

// equityPicture draws a curve; nil where it has fewer than two samples.
func equityPicture(c *books.Curve) (*page.Picture, error) {
	if c == nil || len(c.Samples) < 2 {
		return nil, nil
	}
	equity, fall := make([]chart.Point, 0, len(c.Samples)), make([]chart.Point, 0, len(c.Samples))
	peak := 0.0
	for i := range c.Samples {
		s := &c.Samples[i]
		value, err := strconv.ParseFloat(s.Equity, 64)
		if err != nil {
			return nil, fmt.Errorf("equity %q: %w", s.Equity, err)
		}
		peak = max(peak, s.Index)
		at := float64(s.AtMS) / 1000
		equity = append(equity, chart.Point{X: at, Y: value})
		fall = append(fall, chart.Point{X: at, Y: 100 * (s.Index/peak - 1)})
	}
	unit := c.Currency
	panels := []chart.Panel{{Height: 200, Y: chart.Axis{Unit: unit}, Layers: []chart.Layer{
		chart.Line{Name: "Equity", Points: equity}}}}
	if !c.Earned {
		panels = append(panels, chart.Panel{Height: 80, Y: chart.Axis{Unit: "%"}, Layers: []chart.Layer{
			chart.Area{Name: "Drawdown", Role: chart.Down, Points: fall}}})
	}
	picture, err := page.Draw(chart.Chart{Label: "Equity and drawdown over time", Times: true, Panels: panels})
	return &picture, err
}
