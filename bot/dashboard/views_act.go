package dashboard

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

// actTable is the table of a bot's strategies with the actions on them, all of them together in the
// first row.
func actTable(s *operator.Status, bot string) Table {
	t := Table{Title: "Strategies", Head: []string{"Strategy", "State", "Open orders", "Actions"}}
	all := row(left("all of "+bot), text(s.State), live("open-orders", fmt.Sprint(s.OpenOrders)),
		Cell{Class: "left", Links: linksOf("", ofStrategy, ofBot)})
	t.Rows = append(t.Rows, all)
	for _, one := range s.Strategies {
		id := "strategy/" + one.Name + "/"
		t.Rows = append(t.Rows, row(left(one.Name), live(id+"state", one.State),
			live(id+"orders", fmt.Sprint(one.OpenOrders)), Cell{Class: "left", Links: linksOf(one.Name, ofStrategy)}))
	}
	return t
}

// linksOf are the links to the actions of some kinds on a strategy, or where its name is empty, on
// all.
func linksOf(strategy string, of ...kind) (links []Link) {
	for i := range actions {
		if slices.Contains(of, actions[i].of) {
			links = append(links, Link{actions[i].title, actions[i].confirm("strategy", strategy)})
		}
	}
	return links
}

// confirm is the address of an action's confirmation.
func (a *action) confirm(of, name string) string {
	query := url.Values{"do": {a.verb()}}
	if name != "" {
		query.Set(of, name)
	}
	return "confirm?" + query.Encode()
}

// cancelTable is the table of open orders, each with the link that cancels it.
func cancelTable(d *Documents, open []operator.OrderRow) Table {
	cancel := actionOf("cancel")
	t := orderTable("Open orders", "No order is open.")
	t.Head = append(t.Head, "Action")
	for i := range slices.Backward(open) {
		r := orderRow(&open[i], d.Zone)
		r.Cells = append(r.Cells, Cell{Class: "left", Links: []Link{{cancel.title,
			cancel.confirm("order", fmt.Sprint(open[i].Number))}}})
		t.Rows = append(t.Rows, r)
	}
	return t
}

// ConfirmView asks a viewer to confirm an action.
type ConfirmView struct {
	Parts        Parts
	Does         string // title of the action, with its subject
	Says         []string
	Confirmation string // name of the form
	Asks         []Ask
	Wrong        string // why an earlier try was refused; empty: there was none
	Reason       string // as it was typed
}

// Ask is a word that a viewer has to type.
type Ask struct{ Name, What, Word string }

// asks are the words that confirm an action: the name of its subject, and in a site of several bots
// that of the bot.
func (d *botPages) asks(on *subject) []Ask {
	list := []Ask{{"word", on.noun, on.word}}
	if d.group != "" && (on.strategy != "" || on.order != "") {
		list = append(list, Ask{"bot", "the name of the bot", d.Name})
	}
	return list
}

// confirmOf makes the confirmation of an action: the sentences of its action, and the orders and
// positions that it concerns.
func (d *botPages) confirmOf(one *confirmation, docs *Documents, open []operator.OrderRow) *ConfirmView {
	view := &ConfirmView{Does: one.do.title + ": " + strings.TrimSuffix(one.on.name, ","), Confirmation: one.id,
		Asks: d.asks(one.on), Says: slices.Clone(one.do.says)}
	view.Says[0] = fmt.Sprintf(view.Says[0], one.on.name)
	if one.do.path == operator.PathResume {
		return view
	}
	orders := orderTable("Open orders that it concerns", "No order is open.")
	for i := range open {
		if one.on.concerns(open[i].Strategy, open[i].Number) {
			orders.Rows = append(orders.Rows, orderRow(&open[i], docs.Zone))
		}
	}
	view.Parts = append(view.Parts, orders)
	if one.on.order == "" {
		held := &operator.Positions{}
		for _, p := range docs.Positions.Positions {
			if one.on.concerns(p.Strategy, 0) {
				held.Positions = append(held.Positions, p)
			}
		}
		view.Parts = append(view.Parts, positionTable(&Documents{Positions: held, Exits: docs.Exits}))
	}
	return view
}

// ActedView is the page of an action's result.
type ActedView struct {
	Does  string
	Says  string
	Bad   bool // not everything was done
	Lines []string
}

// actedOf says what became of an action.
func actedOf(one *confirmation, begun bool, report *operator.ActResult, err error) *ActedView {
	view := &ActedView{Does: one.do.title + ": " + strings.TrimSuffix(one.on.name, ","), Bad: true}
	switch {
	case !begun:
		view.Says = "Nothing was done: this action has not been confirmed."
	case untaken(err):
		view.Says = "Nothing was done: " + err.Error() + "."
	case err != nil:
		view.Says = "It is not known how far the bot came: " + err.Error() + ". Look at its orders and its state " +
			"before you act again."
	default:
		view.Says, view.Bad = "Done. The exchange has confirmed it.", false
		if !report.Done {
			view.Says, view.Bad = "Not everything was confirmed in time. The bot goes on with it.", true
		}
		view.Lines = strings.Split(strings.TrimSpace(report.Words(one.do.path, &operator.Request{})), "\n")
	}
	return view
}
