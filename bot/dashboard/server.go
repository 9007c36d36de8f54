package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/results"
)

// Config says which bots a Server shows, and to whom.
type Config struct {
	Bot
	// Fleet finds the bots of a site of several; nil: the site has Bot alone. It is called for each
	// page.
	Fleet  func() ([]Bot, error)
	Out    string              // folder of results, which need not exist; empty: no pages of files
	Ledger string              // file of the tries of all searches; empty: none
	Look   *host.Fresh[string] // token of those who may look: Token makes it
	Act    *host.Fresh[string] // token that allows to act, too; nil: no token does
	// Certificate is nil where the connections are plain: on the loopback, or behind a proxy.
	Certificate *host.Certificate
	Proxied     bool             // a proxy that does TLS says in headers who asks
	Hosts       []string         // names to answer for, beside this machine's own
	Public      bool             // strangers see percentages
	PublicNames bool             // with the names of bot and strategies
	Now         func() time.Time // of this machine; nil: time.Now
	Log         zerolog.Logger
}

// Server shows a bot. Those with the token of acting can halt and resume strategies, cancel orders
// and sell positions; nothing else changes anything.
type Server struct {
	Config
	pages *Pages
	desk  *botPages // of the one bot; nil: there is a fleet
	fleet *allBots  // nil: there is one bot
	rack  *filePages
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
	if c.Act == nil {
		c.Act = host.Fixed(secret())
	}
	pages, err := NewPages()
	if err != nil {
		return nil, err
	}
	s := &Server{Config: c, pages: pages, ended: make(chan struct{})}
	if c.Fleet != nil {
		s.fleet = &allBots{s: s, find: c.Fleet, members: map[string]*member{}}
	} else {
		s.desk = s.newDesk(c.Bot, "")
	}
	if c.Out != "" {
		s.rack = &filePages{s: s, files: results.New(results.Config{Folder: c.Out, Ledger: c.Ledger, Now: c.Now})}
	}
	return s, nil
}

// newDesk has the pages of a bot. group is the link to all bots of the site; empty: there is one.
func (s *Server) newDesk(bot Bot, group string) *botPages {
	return &botPages{Bot: bot, s: s, group: group, from: source{of: bot.Of, now: s.Now}}
}

// crown sets the line above a page that belongs to no bot: that of the one bot, or the halts of the
// fleet.
func (s *Server) crown(r *http.Request, page *Page) {
	if s.fleet != nil {
		list, err := s.fleet.glance(r.Context())
		if err == nil {
			page.Top.Alarm = alarmOf(list)
		}
		return
	}
	docs, err := s.desk.from.latest(r.Context())
	if err != nil {
		return // these pages need no bot
	}
	page.Bot, page.Top, page.Stop = s.desk.Name, TopOf(docs.Status, docs.NowMS), s.desk.stop(callerOf(r), docs)
}

// links are the links of a page that belongs to no bot of a fleet.
func (s *Server) links(c *caller) []Link {
	if s.fleet == nil {
		return s.desk.links(c)
	}
	links := []Link{{"All bots", "/"}}
	if s.rack != nil {
		links = append(links, sheetLinks()...)
	}
	return links
}

// Handler answers requests to the address that the dashboard listens on.
func (s *Server) Handler(listen string) http.Handler {
	mux := http.NewServeMux()
	if s.fleet != nil {
		s.fleet.register(mux)
	} else {
		mux.Handle("/", s.desk.handler())
	}
	if s.rack != nil {
		s.rack.register(mux)
	}
	mux.HandleFunc("GET /dashboard.js", file("text/javascript; charset=utf-8", Script()))
	site := http.Handler(&access{look: looks(s.Look), act: acts(s.Act), secure: s.Certificate != nil || s.Proxied,
		proxied: s.Proxied, now: s.Now, next: mux, ask: askToken})
	open := http.NewServeMux()
	open.Handle("/", site)
	open.HandleFunc("GET /dashboard.css", file("text/css; charset=utf-8", Style())) // for the form of the token, too
	if s.Public {
		strangers := &public{desks: s.desks, names: s.PublicNames, pages: s.pages, now: s.Now}
		open.Handle(publicPath, strangers)
	}
	return guarded(open, listen, s.Hosts)
}

// desks are the bots of the site.
func (s *Server) desks() ([]*botPages, error) {
	if s.fleet != nil {
		return s.fleet.desks()
	}
	return []*botPages{s.desk}, nil
}

// Serve answers on a listener until ctx ends.
func (s *Server) Serve(ctx context.Context, on net.Listener) error {
	server := &http.Server{Handler: s.Handler(on.Addr().String()), ReadHeaderTimeout: headTime, ReadTimeout: readTime,
		IdleTimeout: idleTime, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(host.QuietLog{Log: s.Log}, "", 0)}
	if s.Certificate != nil {
		server.TLSConfig = s.Certificate.TLS()
	}
	server.RegisterOnShutdown(func() { close(s.ended) })
	if err := host.ServeUntil(ctx, server, on, endTime); err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	return nil
}

// file answers with a file of the program.
func file(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(text))
	}
}

// statusOf is the status of an answer that is an error: a wrong question, or a bot that does not
// answer.
func statusOf(err error) int {
	if status := fileStatus(err); status != 0 {
		return status
	}
	if errors.As(err, new(config.UsageError)) || errors.As(err, new(profit.WrongError)) {
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

// write answers with a page of a template, or with an error.
func (s *Server) write(w http.ResponseWriter, template string, one *Page, status int, err error) {
	var text bytes.Buffer
	if err == nil {
		err = s.pages.Write(&text, template, one)
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
}

// refuse answers with an error in words.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	status := statusOf(err)
	s.Log.Debug().Err(err).Int("status", status).Msg("a page of the dashboard")
	WritePage(w, status, "No answer", template.HTML("<p>"+template.HTMLEscapeString(err.Error())+"</p>"))
}

// askToken shows the form for the token.
func askToken(w http.ResponseWriter, status int, says string) {
	WritePage(w, status, "Token", template.HTML(`<p>`+template.HTMLEscapeString(says)+`</p>
<form class="confirm enter" method="post" action="/enter"><label>The token, from the file that bot dashboard names
<input name="token" type="password" required autocomplete="current-password"></label> <button>Enter</button></form>`))
}

// answer answers a program with a document, or an error.
func (s *Server) answer(w http.ResponseWriter, value any, err error) {
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

// WritePage writes a page that has no figures of a running bot.
func WritePage(w http.ResponseWriter, status int, title string, body template.HTML) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><link rel="stylesheet" href="/dashboard.css"><title>%s</title></head>
<body class="dashboard"><main><h1>%s</h1>%s<p><a href="/">Overview</a></p></main></body></html>
`, title, title, body)
}
