package dashboard

import (
	"bytes"
	"cmp"
	"net/http"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
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
	{path: "orders", title: "Orders", view: (*botPages).orders},
	{path: "order", title: "Order", inside: true, view: (*botPages).order},
	{path: "market", title: "Market", body: "bot_market", view: (*botPages).market},
	{path: "profit", title: "Profit", view: (*botPages).profit},
	{path: "risk", title: "Risk", view: (*botPages).risk},
	{path: "journal", title: "Journal", body: "bot_journal", view: (*botPages).journal},
	{path: "system", title: "System", view: (*botPages).system},
	{path: "seal", title: "Seal", view: (*botPages).seal},
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
		mux.HandleFunc("POST /api/v1"+actions[i].path, d.program(&actions[i]))
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
	var made any
	if err == nil {
		made, err = view(docs)
	}
	if err != nil {
		d.s.refuse(w, err)
		return
	}
	zone := ""
	if docs.Zone != nil {
		zone = docs.Zone.String()
	}
	var text bytes.Buffer
	err = d.s.pages.Write(&text, cmp.Or(e.body, partsPage), &Page{Title: e.title, Bot: d.Name, Here: "./" + e.path,
		Zone: zone, Navigation: d.links(callerOf(r)), Top: TopOf(docs.Status, docs.NowMS), View: made})
	if err != nil {
		d.s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
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

func (d *botPages) overview(_ *http.Request, docs *Documents) (any, error) {
	return OverviewOf(docs)
}

func (d *botPages) orders(r *http.Request, docs *Documents) (any, error) {
	all, err := operator.AskOrders(r.Context(), d.Of, true)
	if err != nil {
		return nil, err
	}
	with := *docs
	with.Orders = all.Value
	return OrdersOf(&with), nil
}

func (d *botPages) order(r *http.Request, docs *Documents) (any, error) {
	story, err := operator.AskStory(r.Context(), d.Of, r.FormValue("order"))
	if err != nil {
		return nil, err
	}
	return StoryPage(story.Value, docs.Zone), nil
}

func (d *botPages) profit(r *http.Request, _ *Documents) (any, error) {
	report, err := operator.AskProfit(r.Context(), d.Of, &profit.Query{By: r.FormValue("by")})
	if err != nil {
		return nil, err
	}
	trades, err := operator.AskTrades(r.Context(), d.Of, &profit.Query{Latest: 200})
	if err != nil {
		return nil, err
	}
	curve, err := operator.AskEquity(r.Context(), d.Of, &profit.Query{Since: "90d", Every: "6h"})
	if err != nil {
		return nil, err
	}
	return ProfitOf(report.Value, trades.Value, curve.Value)
}

func (d *botPages) seal(r *http.Request, docs *Documents) (any, error) {
	standing, err := operator.AskVerify(r.Context(), d.Of)
	if err != nil {
		return nil, err
	}
	return SealOf(standing.Value, docs.Zone), nil
}
