package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

// ProfitOf makes the page of profit, groups the latest first, and of the latest round trips.
func ProfitOf(report *profit.ProfitReport, trades *profit.TradeList, curve *profit.Curve,
	days *profit.ProfitReport) (Parts, error) {
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
		{"Largest drawdown", text(percent(sum.Drawdown)), text(page.Number(cents(sum.Fall)) + " " + report.Currency)},
	}
	groups := Table{Title: "Profit by " + report.By + ", in " + report.Currency,
		Empty: "Nothing has been traded in this time.",
		Head: []string{report.By, "Realised", "Unrealised", "Fees", "Turnover", "Trips", "Won", "Flows", "Return",
			"Drawdown"}}
	for i := len(report.Groups) - 1; i >= 0; i-- {
		g := &report.Groups[i]
		groups.Rows = append(groups.Rows, row(left(g.Name), signed("", cents(g.Realised)),
			signed("", cents(g.Unrealised)), text(cents(g.Fees)), text(cents(g.Turnover)),
			text(fmt.Sprint(g.Trips)), text(fmt.Sprint(g.Won)), text(cents(g.Flows)),
			signed("", percent(g.Return)), text(percent(g.Drawdown))))
	}
	drawn, err := equityPicture(curve)
	if err != nil {
		return nil, err
	}
	p := Parts{cards}
	byDay, err := profit.DaysChart(days)
	if byDay != nil {
		p = append(p, view.Figure{Chart: *byDay})
	}
	return append(append(append(p, by, groups), drawn...), tradeTable(trades, zone)), err
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
			text(profit.Brief(one.Exit)), text(cents(one.Fees)), signed("", cents(one.Profit)),
			left(one.Reason)))
	}
	return t
}

// equityPicture is the picture of a curve; none where it has fewer than two samples.
func equityPicture(c *profit.Curve) (Parts, error) {
	drawn, err := profit.EquityChart(c)
	if drawn == nil {
		return nil, err
	}
	return Parts{view.Figure{Chart: *drawn}}, err
}

// SealOf makes the page of a bot's seal: what it promises, and whether it keeps it.
func SealOf(s *seal.SealStatus, zone *time.Location) Parts {
	if !s.Sealed {
		return Parts{Verdict{s.Sentence()}, view.Note("bot seal writes the promise of a backtest into the bot's " +
			"journal; from then on each UTC day is held against it.")}
	}
	p, changed := Parts{Verdict{s.Sentence()}}, Warnings(nil)
	if s.Broken {
		p = Parts{Warnings{s.Sentence()}}
	}
	for _, what := range s.Changed {
		changed = append(changed, "changed since the seal: "+what)
	}
	d, last := s.Document, s.Last
	if last == "" {
		last = "none yet"
	}
	p = append(p, Cards{
		{"Evidence against it", text(fmt.Sprintf("%.2f", s.Evidence["total"])),
			text(fmt.Sprintf("%.0f is an alarm", s.Alarm))},
		{"Days judged", text(fmt.Sprint(s.Days)),
			text(fmt.Sprintf("%d without a record; the last: %s", s.Missed, last))},
		{"Deepest drawdown", text(fmt.Sprintf("%.2f %%", 100*s.Deepest)), text("at the end of a day")},
		{"Sealed", text(moment(s.SealedMS, zone)), text("by " + s.By)},
	}, changed)
	promise := Table{Title: "The promise", Head: []string{"Quantity", "Promise", "Evidence against it"}}
	for _, p := range s.Promises() {
		promise.Rows = append(promise.Rows, row(left(p.Quantity), left(p.Promise), text(p.Evidence)))
	}
	b, tries := &d.Backtest, "not counted: there was no ledger"
	if d.Search.Counted {
		tries = fmt.Sprintf("%d of %d different series", d.Search.Tries, d.Search.Series)
	}
	origin := Table{Title: "Where it comes from", Head: []string{"Backtest", "Value"}}
	for _, line := range [...][2]string{{"title", b.Title}, {"range", b.From + " to " + b.To},
		{"days", fmt.Sprintf("%d, of which %d out of sample", b.Days, b.OutOfSampleDays)},
		{"tries", tries}, {"data", b.DataHash},
		{"config", b.ConfigHash}, {"document", s.Hash}, {"journal entry", fmt.Sprint(s.Entry)}} {
		origin.Rows = append(origin.Rows, row(left(line[0]), left(line[1])))
	}
	p = append(p, promise, origin)
	if s.Unknown > 0 {
		p = append(p, view.Note(fmt.Sprintf("Of %d fills the best price at arrival is not known: their slippage "+
			"is left out.", s.Unknown)))
	}
	if delay := d.Delay(); delay != "" && !s.Broken {
		p = append(p, view.Note(delay))
	}
	return append(p, view.Note("A kept promise is called broken in 5 of 100 cases at most, however often it is "+
		"looked at. An alarm halts nothing."))
}

// FleetOf makes the page of all bots.
func FleetOf(list []Glance, nowMS int64) Parts {
	t := Table{Title: "All bots", Empty: "No folder has the state of a bot. A bot appears here after its first start.",
		Head: []string{"Bot", "State", "Mode", "Equity", "Today", "Drawdown", "Halted", "Feed"}}
	for i := range list {
		m := &list[i]
		id, name := "bot/"+m.Name+"/", Cell{Text: m.Name, Path: folderOf(m.Name), Class: "left"}
		cells := []Cell{live(id+"state", "no answer: "+m.Error), text("–"), live(id+"equity", "–"),
			signed(id+"day", "–"), live(id+"drawdown", "–"), live(id+"halted", "–"), live(id+"feed", "–")}
		if s := m.Status; s != nil {
			drawdown := "–"
			if part, err := decimal.NewFromString(s.Drawdown); err == nil {
				drawdown = part.Shift(2).StringFixed(2) + " %"
			}
			cells = []Cell{live(id+"state", s.State), text(cmp.Or(s.Mode, "–")),
				live(id+"equity", strings.TrimSpace(page.Number(cmp.Or(s.Equity, "–"))+" "+s.Currency)),
				signed(id+"day", cmp.Or(s.DayResult, "–")), live(id+"drawdown", drawdown),
				live(id+"halted", haltedText(s)), live(id+"feed", feedAge(s, nowMS))}
		}
		cells[0].Class, cells[5].Class = "left", "left"
		if m.Status == nil || haltedText(m.Status) != "none" {
			cells[0].Class = "left bad"
		}
		t.Rows = append(t.Rows, Row{append([]Cell{name}, cells...)})
	}
	return Parts{fleetCards(list), t}
}

// fleetCards are the sums over all bots, of each currency.
func fleetCards(list []Glance) Cards {
	running, halted := 0, 0
	var currencies []string
	equity, today := map[string]decimal.Decimal{}, map[string]decimal.Decimal{}
	for i := range list {
		s := list[i].Status
		if s == nil {
			continue
		}
		if s.State != operator.Stopped {
			running++
		}
		if haltedText(s) != "none" {
			halted++
		}
		if s.Equity == "" {
			continue
		}
		if !slices.Contains(currencies, s.Currency) {
			currencies = append(currencies, s.Currency)
		}
		equity[s.Currency] = equity[s.Currency].Add(number(s.Equity))
		today[s.Currency] = today[s.Currency].Add(number(s.DayResult))
	}
	cards := Cards{{"Running", live("running", fmt.Sprintf("%d of %d", running, len(list))),
		live("all-halted", fmt.Sprintf("%d with a halt", halted))}}
	for _, c := range currencies {
		cards = append(cards, Card{"Equity, " + c, live("equity/"+c, equity[c].StringFixed(2)), text("of all bots")},
			Card{"Today, " + c, signed("day/"+c, today[c].StringFixed(2)), text("of those that say it")})
	}
	return cards
}

// haltedText lists the halted strategies of a bot.
func haltedText(s *operator.Status) string {
	var names []string
	for _, one := range s.Strategies {
		if one.State == operator.Halted {
			names = append(names, one.Name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
