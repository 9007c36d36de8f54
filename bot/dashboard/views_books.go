package dashboard

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/bot/picture"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/view"
)

// ProfitOf makes the page of profit, groups the latest first, and of the latest round trips.
func ProfitOf(report *profit.ProfitReport, trades *profit.TradeList, curve *profit.Curve) (Parts, error) {
	by := Choices{Label: "By"}
	for _, name := range profit.Groups() {
		by.Of = append(by.Of, Choice{name, "profit?by=" + name, name == report.By})
	}
	zone, err := profit.Zone(report.Zone)
	if err != nil {
		return nil, err
	}
	sum, unit := &report.Total, text(report.Currency)
	cards := Cards{
		{"Realised", signed("", cents(sum.Realised)), unit},
		{"Unrealised", signed("", cents(sum.Unrealised)), unit},
		{"Fees", text(cents(sum.Fees)), unit},
		{"Return", signed("", percent(sum.Return)), text("time-weighted")},
		{"Return on the money", signed("", percent(report.MoneyWeighted)), text("money-weighted")},
		{"Largest drawdown", text(percent(sum.Drawdown)), text(profit.Brief(sum.Fall) + " " + report.Currency)},
	}
	groups := Table{Title: "Profit by " + report.By + ", in " + report.Currency,
		Empty: "Nothing has been traded in this time.",
		Head: []string{report.By, "Realised", "Unrealised", "Fees", "Turnover", "Trips", "Won", "Flows", "Return",
			"Drawdown"}}
	for i := len(report.Groups) - 1; i >= 0; i-- {
		g := &report.Groups[i]
		groups.Rows = append(groups.Rows, row(left(g.Name), signed("", profit.Brief(g.Realised)),
			signed("", profit.Brief(g.Unrealised)), text(profit.Brief(g.Fees)), text(profit.Brief(g.Turnover)),
			text(fmt.Sprint(g.Trips)), text(fmt.Sprint(g.Won)), text(profit.Brief(g.Flows)),
			signed("", percent(g.Return)), text(percent(g.Drawdown))))
	}
	drawn, err := equityPicture(curve)
	return append(append(Parts{by, cards}, drawn...), groups, tradeTable(trades, zone)), err
}

// cents is an amount with two decimals.
func cents(amount string) string { return number(amount).StringFixed(2) }

// tradeTable lists at most 200 round trips, the latest first.
func tradeTable(list *profit.TradeList, zone *time.Location) Table {
	t := Table{Title: "Trades, money in each market's quote", Empty: "No position has been closed.",
		Head: []string{"Order", "Strategy", "Market", "Entered", "Held", "Amount", "Entry", "Exit", "Fees", "Profit",
			"Reason"}}
	for i := len(list.Trades) - 1; i >= 0 && len(t.Rows) < 200; i-- {
		one := &list.Trades[i]
		number := Cell{Text: fmt.Sprint(one.Order), Path: fmt.Sprintf("order?order=%d", one.Order), Class: "left"}
		t.Rows = append(t.Rows, row(number, left(one.Strategy), text(one.Market), text(moment(one.EnteredMS, zone)),
			text(age(one.EnteredMS, one.ExitedMS)), text(one.Amount), text(profit.Brief(one.Entry)),
			text(profit.Brief(one.Exit)), text(profit.Brief(one.Fees)), signed("", profit.Brief(one.Profit)),
			left(one.Reason)))
	}
	return t
}

// equityPicture is the picture of a curve; none where it has fewer than two samples.
func equityPicture(c *profit.Curve) (Parts, error) {
	drawn, err := picture.Equity(c)
	if drawn == nil {
		return nil, err
	}
	return Parts{view.Figure{Chart: *drawn}}, err
}
