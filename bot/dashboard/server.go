package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/books"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

// Config says which bot a Server shows, and to whom.
type Config struct {
	Of    operator.Target
	Name  string           // of the bot, as the pages show it
	Token string           // of those who may look: Token makes it
	Now   func() time.Time // of this machine; nil: time.Now
	Log   zerolog.Logger
}

// Server shows a bot. It only looks: no request changes anything.
type Server struct {
	Config
	pages *Pages
	from  source
	ended chan struct{} // closed when the server ends: the event streams end then
}

// The times of a connection. An event stream has no end of its own.
const (
	headTime  = 5 * time.Second
	readTime  = 10 * time.Second
	idleTime  = time.Minute
	endTime   = 2 * time.Second  // for the answers under way when the server ends
	eventTime = time.Second      // between two events
	stuckTime = 30 * time.Second // until a viewer that takes no event is given up
	aliveTime = 15 * time.Second
)

// New returns a server.
func New(c Config) (*Server, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	pages, err := NewPages()
	if err != nil {
		return nil, err
	}
	return &Server{Config: c, pages: pages, from: source{of: c.Of, now: c.Now}, ended: make(chan struct{})}, nil
}

// Handler answers requests to the address that the dashboard listens on.
func (s *Server) Handler(listen string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page("/", "Overview", "bot_overview", s.overview))
	mux.HandleFunc("GET /orders", s.page("/orders", "Orders", "bot_orders", s.orders))
	mux.HandleFunc("GET /order", s.page("/order", "Order", "bot_order", s.order))
	mux.HandleFunc("GET /profit", s.page("/profit", "Profit", "bot_profit", s.profit))
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /api/v1/{document}", s.document)
	mux.HandleFunc("GET /dashboard.css", file("text/css; charset=utf-8", Style()))
	mux.HandleFunc("GET /dashboard.js", file("text/javascript; charset=utf-8", Script()))
	return guarded(&door{token: s.Token, cookie: cookieOf(s.Token), now: s.Now, next: mux, ask: s.askToken}, listen)
}

// Serve answers on a listener until ctx ends.
func (s *Server) Serve(ctx context.Context, on net.Listener) error {
	over := make(chan struct{})
	server := &http.Server{Handler: s.Handler(on.Addr().String()), ReadHeaderTimeout: headTime, ReadTimeout: readTime,
		IdleTimeout: idleTime, MaxHeaderBytes: 16 << 10}
	unregister := context.AfterFunc(ctx, func() {
		defer close(over)
		close(s.ended)
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer cancel()
		if server.Shutdown(ending) != nil {
			_ = server.Close()
		}
	})
	err := server.Serve(on)
	if !unregister() {
		<-over // the answers under way
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
	}
	return fmt.Errorf("dashboard: %w", err)
}

// file answers with a file of the program.
func file(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(text))
	}
}

// page answers with a page whose view is made of the bot's answers.
func (s *Server) page(here, title, body string, view func(*http.Request, *Documents) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		docs, err := s.from.latest(r.Context())
		var made any
		if err == nil {
			made, err = view(r, docs)
		}
		if err != nil {
			s.refuse(w, err)
			return
		}
		var text bytes.Buffer
		err = s.pages.Write(&text, body, &Page{Title: title, Bot: s.Name, Here: here,
			Top: TopOf(docs.Status, docs.NowMS), View: made})
		if err != nil {
			s.refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text.Bytes())
	}
}

func (s *Server) overview(_ *http.Request, d *Documents) (any, error) { return OverviewOf(d) }

func (s *Server) orders(r *http.Request, d *Documents) (any, error) {
	all, err := operator.AskOrders(r.Context(), s.Of, true)
	if err != nil {
		return nil, err
	}
	with := *d
	with.Orders = all.Value
	return OrdersOf(&with), nil
}

func (s *Server) order(r *http.Request, d *Documents) (any, error) {
	story, err := operator.AskStory(r.Context(), s.Of, r.FormValue("order"))
	if err != nil {
		return nil, err
	}
	return StoryPage(story.Value, d.Zone), nil
}

func (s *Server) profit(r *http.Request, _ *Documents) (any, error) {
	report, err := operator.AskProfit(r.Context(), s.Of, &books.Query{By: r.FormValue("by")})
	if err != nil {
		return nil, err
	}
	trades, err := operator.AskTrades(r.Context(), s.Of, &books.Query{Latest: 200})
	if err != nil {
		return nil, err
	}
	curve, err := operator.AskEquity(r.Context(), s.Of, &books.Query{Since: "90d", Every: "6h"})
	if err != nil {
		return nil, err
	}
	return ProfitOf(report.Value, trades.Value, curve.Value)
}

// document answers with what a command prints with --json.
func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	ask := documents[r.PathValue("document")]
	if ask == nil {
		http.NotFound(w, r)
		return
	}
	value, err := ask(r.Context(), s.Of, r.URL.Query())
	status := http.StatusOK
	if err != nil {
		value, status = operator.Failure{Error: err.Error()}, statusOf(err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// statusOf is the status of an answer that is an error: a wrong question, or a bot that does not
// answer.
func statusOf(err error) int {
	if wrong := (config.UsageError{}); errors.As(err, &wrong) {
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

// events sends the texts that have changed, once a second, until the viewer goes.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	if err := out.SetReadDeadline(time.Time{}); err != nil {
		s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	again := time.NewTicker(eventTime)
	defer again.Stop()
	told, quiet := map[string]string{}, s.Now()
	for first := true; ; first = false {
		event, data := s.event(r.Context(), told)
		if out.SetWriteDeadline(time.Now().Add(stuckTime)) != nil {
			return
		}
		switch {
		case data != "":
			_, _ = fmt.Fprintf(w, "retry: 1000\nevent: %s\ndata: %s\n\n", event, data)
			quiet = s.Now()
		case first || s.Now().Sub(quiet) >= aliveTime:
			_, _ = fmt.Fprint(w, ": alive\n\n")
			quiet = s.Now()
		}
		if out.Flush() != nil {
			return
		}
		select {
		case <-again.C:
		case <-r.Context().Done():
			return
		case <-s.ended:
			return
		}
	}
}

// event is the next event of a stream: the texts that differ from those told, or that the bot does
// not answer. data is empty where nothing has changed.
func (s *Server) event(ctx context.Context, told map[string]string) (event, data string) {
	docs, err := s.from.latest(ctx)
	if err != nil {
		clear(told)
		return "lost", "{}"
	}
	top := TopOf(docs.Status, docs.NowMS)
	texts := top.Live()
	if view, err := OverviewOf(docs); err == nil {
		for id, text := range view.Live() {
			texts[id] = text
		}
	}
	changed := map[string]string{}
	for id, text := range texts {
		if was, known := told[id]; !known || was != text {
			changed[id], told[id] = text, text
		}
	}
	if len(changed) == 0 {
		return "", ""
	}
	text, err := json.Marshal(changed)
	if err != nil {
		return "lost", "{}"
	}
	return "cells", string(text)
}

// refuse answers with an error in words.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	status := statusOf(err)
	s.Log.Debug().Err(err).Int("status", status).Msg("a page of the dashboard")
	s.plain(w, status, "No answer", template.HTML("<p>"+template.HTMLEscapeString(err.Error())+"</p>"))
}

// askToken shows the form for the token.
func (s *Server) askToken(w http.ResponseWriter, status int, says string) {
	s.plain(w, status, "Token", template.HTML(`<p>`+template.HTMLEscapeString(says)+`</p>
<form method="post" action="/enter"><label>The token, from the file that bot dashboard names
<input name="token" type="password" required autocomplete="current-password"></label> <button>Look</button></form>`))
}

// plain is a page without the bot's figures.
func (s *Server) plain(w http.ResponseWriter, status int, title string, body template.HTML) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>%s</title></head>
<body><main><h1>%s</h1>%s<p><a href="/">Overview</a></p></main></body></html>
`, title, title, body)
}
