package dashboard

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/seal"
)

// Bot is a bot that a Server shows.
type Bot struct {
	Of   operator.Target
	Name string // as the pages show it
}

// botPages has the pages of one bot.
type botPages struct {
	Bot
	s             *Server
	from          source
	beats         beats
	confirmations confirmations
	group         string // link to all bots of the site; empty: there is one
}

// entry is a page of a bot: a row of the table of its pages.
type entry struct {
	path, title string
	body        string // name of its template; empty: parts
	inside      bool   // it has no link in the navigation: another page leads to it
	alone       bool   // it is shown without the bot's answers, too
	view        func(d *botPages, r *http.Request, docs *Documents) (any, error)
}

// entries are the pages of a bot, in the order of the navigation.
var entries = []entry{
	{path: "", title: "Overview", view: (*botPages).overview},
	{path: "orders", title: "Orders", view: answered(
		func(*http.Request) operator.Question[operator.Orders] { return operator.AskOrders(true) },
		func(all *operator.Orders, docs *Documents) any { return OrdersOf(all, docs.Zone) })},
	{path: "order", title: "Order", inside: true, view: answered(
		func(r *http.Request) operator.Question[operator.Story] {
			return operator.AskStory(r.FormValue("order"))
		},
		func(s *operator.Story, docs *Documents) any { return StoryPage(s, docs.Zone) })},
	{path: "market", title: "Market", body: "bot_market", view: (*botPages).market},
	{path: "profit", title: "Profit", view: (*botPages).profit},
	{path: "risk", title: "Risk", view: func(_ *botPages, _ *http.Request, docs *Documents) (any, error) {
		return RiskOf(docs.Risk, docs.Zone), nil
	}},
	{path: "journal", title: "Journal", body: "bot_journal", view: (*botPages).journal},
	{path: "system", title: "System", view: answered(
		func(*http.Request) operator.Question[operator.System] { return operator.AskSystem() },
		func(y *operator.System, docs *Documents) any { return SystemPage(docs, y) })},
	{path: "seal", title: "Seal", view: answered(
		func(*http.Request) operator.Question[seal.SealStatus] { return operator.AskVerify() },
		func(s *seal.SealStatus, docs *Documents) any { return SealOf(s, docs.Zone) })},
}

// overview is the first page. Those who may act have its actions before all else.
func (d *botPages) overview(r *http.Request, docs *Documents) (any, error) {
	name := cmp.Or(r.FormValue("show"), shownSpans[0].name)
	i := slices.IndexFunc(shownSpans[:], func(s shownSpan) bool { return s.name == name })
	if i < 0 {
		return nil, config.Usagef("show %q: want week, month or all", config.Clip(name))
	}
	if i > 0 {
		own := *docs
		var err error
		if own.Curve, own.Days, err = askShown(r.Context(), d.Of, &shownSpans[i]); err != nil {
			return nil, err
		}
		docs = &own
	}
	parts, err := OverviewOf(docs, name)
	if err == nil && callerOf(r).acts && docs.Status.State != operator.Stopped {
		parts = append(Parts{Buttons{{"Sell everything", "./" + actionOf("flatten").confirm("", "")},
			{"Cancel all orders", "./" + actionOf("cancel-all").confirm("", "")}}}, parts...)
	}
	return parts, err
}

// stop is the link that stops everything; empty: the viewer may not, or nothing runs.
func (d *botPages) stop(v *caller, docs *Documents) string {
	if !v.acts || docs.Status.State == operator.Stopped {
		return ""
	}
	return "./" + actionOf("halt").confirm("", "")
}

// answered makes the view of a page of the answer to one question.
func answered[T any](question func(*http.Request) operator.Question[T],
	show func(*T, *Documents) any) func(*botPages, *http.Request, *Documents) (any, error) {
	return func(d *botPages, r *http.Request, docs *Documents) (any, error) {
		answer, err := question(r).Of(r.Context(), d.Of)
		if err != nil {
			return nil, err
		}
		return show(answer.Value, docs), nil
	}
}

// botLinks are the links of a bot's pages. They are relative: all pages of a bot stand in one
// folder of the site.
func botLinks() (links []Link) {
	for _, e := range entries {
		if !e.inside {
			links = append(links, Link{e.title, "./" + e.path})
		}
	}
	return links
}

// handler answers requests for the bot's pages, under paths without the folder in which they stand.
func (d *botPages) handler() http.Handler {
	mux := http.NewServeMux()
	for _, e := range entries {
		pattern := "GET /" + e.path
		if e.path == "" {
			pattern += "{$}"
		}
		mux.HandleFunc(pattern, d.page(e))
	}
	for _, e := range actPages {
		mux.HandleFunc("GET /"+e.path, onlyActors(d.page(e)))
	}
	mux.HandleFunc("POST /act", d.act)
	for i := range actions {
		mux.HandleFunc("POST /api/v1"+actions[i].path, func(w http.ResponseWriter, r *http.Request) {
			report, err := d.programActs(r, &actions[i])
			d.s.answer(w, report, err)
		})
	}
	mux.HandleFunc("GET /events", d.events)
	all := d.questions()
	if d.group == "" && d.s.rack != nil {
		all = append(all, d.s.rack.questions()...)
	}
	d.s.register(mux, all, true)
	return mux
}

// page answers with a page whose view is made of the bot's answers.
func (d *botPages) page(e entry) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d.write(w, r, &e, http.StatusOK, func(docs *Documents) (any, error) { return e.view(d, r, docs) })
	}
}

// write writes a page.
func (d *botPages) write(w http.ResponseWriter, r *http.Request, e *entry, status int,
	view func(*Documents) (any, error)) {
	docs, err := d.from.latest(r.Context())
	if err != nil && e.alone {
		docs, err = &Documents{Status: &operator.Status{State: "no answer"}}, nil
	}
	page := &Page{Title: e.title, Bot: d.Name, Here: "./" + e.path, Navigation: d.links(callerOf(r))}
	if err == nil {
		page.View, err = view(docs)
	}
	if err == nil {
		page.Top, page.Stop = TopOf(docs.Status, docs.NowMS), d.stop(callerOf(r), docs)
		if docs.Zone != nil {
			page.Zone = docs.Zone.String()
		}
	}
	d.s.write(w, cmp.Or(e.body, partsPage), page, status, err)
}

// links are the links of a page for a viewer.
func (d *botPages) links(v *caller) []Link {
	var links []Link
	if d.group != "" {
		links = append(links, Link{"All bots", d.group})
	}
	links = append(links, botLinks()...)
	if v.acts {
		links = append(links, Link{actPages[0].title, "./" + actPages[0].path})
	}
	if d.s.rack != nil {
		links = append(links, sheetLinks()...)
	}
	return links
}

func (d *botPages) profit(r *http.Request, _ *Documents) (any, error) {
	report, err := operator.AskProfit(&profit.Query{By: r.FormValue("by")}).Of(r.Context(), d.Of)
	if err != nil {
		return nil, err
	}
	trades, err := operator.AskTrades(&profit.Query{Latest: 200}).Of(r.Context(), d.Of)
	if err != nil {
		return nil, err
	}
	curve, err := operator.AskEquity(&profit.Query{Since: "90d", Every: "6h"}).Of(r.Context(), d.Of)
	if err != nil {
		return nil, err
	}
	days, err := operator.AskProfit(&profit.Query{Since: "90d", By: profit.ByDay}).Of(r.Context(), d.Of)
	if err != nil {
		return nil, err
	}
	return ProfitOf(report.Value, trades.Value, curve.Value, days.Value)
}
