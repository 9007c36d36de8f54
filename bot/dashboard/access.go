package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/host"
)

// maxBody is the largest body of a request, in bytes.
const maxBody = 4 << 10

// policy lets a page load the dashboard's own style, script and pictures, and nothing else.
const policy = "default-src 'self'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// access lets in those with a token: with that of looking to the pages, with that of acting also to
// what acts, which is every request but GET and HEAD. Everyone else sees the form that asks for it.
type access struct {
	look, act right
	secure    bool // browsers send the cookies over TLS alone
	proxied   bool // a proxy says in headers who asks
	now       func() time.Time
	next      http.Handler
	ask       func(w http.ResponseWriter, status int, says string) // writes the form
	tries     host.Tries
}

// Entrance lets those with a token to pages that are not the dashboard's own. Requests with the
// token of acting may change something.
type Entrance struct {
	Look, Act *host.Fresh[string] // tokens: Token makes them
	Secure    bool                // browsers come over TLS
	Proxied   bool                // a proxy that does TLS says in headers who asks
	Hosts     []string            // names to answer for, beside this machine's own
	Now       func() time.Time
}

// Handler is next behind the entrance, at an address that it listens on.
func (e *Entrance) Handler(next http.Handler, listen string) http.Handler {
	open := http.NewServeMux()
	open.Handle("/", &access{look: looks(e.Look), act: acts(e.Act), secure: e.Secure, proxied: e.Proxied, now: e.Now,
		next: next, ask: askToken})
	open.HandleFunc("GET /dashboard.css", file("text/css; charset=utf-8", Style()))
	return guarded(open, listen, e.Hosts)
}

// MayAct reports whether a request behind an Entrance has shown the token of acting.
func MayAct(r *http.Request) bool { return callerOf(r).acts }

// From is where a request behind an Entrance comes from, for a journal.
func From(r *http.Request) string { return callerOf(r).from }

// guarded is a handler with what every page has: it answers only requests for the server's own
// names, from its own pages, small ones, with the headers of a page that nothing may frame or
// change.
func guarded(next http.Handler, listen string, hosts []string) http.Handler {
	cross := http.NewCrossOriginProtection()
	inner := http.MaxBytesHandler(cross.Handler(next), maxBody)
	guard := host.NewGuard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", policy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("X-Frame-Options", "DENY")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Cache-Control", "no-store")
		inner.ServeHTTP(w, r)
	}), listen, hosts)
	guard.Refusal = "the dashboard does not answer for that host; name it with --host, or in dashboard.hosts\n"
	return guard
}

// onlyLooks is said to those who want to act with the token of looking.
const onlyLooks = "this token only looks; acting wants the token in dashboard.act.token"

// ServeHTTP answers those who may look, and lets those act who may.
func (d *access) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/enter" {
		d.enter(w, r)
		return
	}
	v, says, status := d.caller(r)
	switch {
	case status == 0 && (v.acts || r.Method == http.MethodGet || r.Method == http.MethodHead):
		d.next.ServeHTTP(w, v.with(r))
	case status == 0:
		http.Error(w, onlyLooks, http.StatusForbidden)
	case strings.Contains(r.URL.Path, "/api/v1/") || r.Header.Get("Authorization") != "":
		http.Error(w, says, status)
	default:
		d.ask(w, status, "")
	}
}

// caller is the sender of a request, by its header or its cookies. status is 0 where it may look.
func (d *access) caller(r *http.Request) (v *caller, says string, status int) {
	v = newCaller(r, d.proxied)
	if bearer, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); given {
		v.acts, says, status = d.try(r, bearer)
		return v, says, status
	}
	if v.session = d.act.sessionOf(r, d.now()); v.session != "" {
		v.acts = true
		return v, "", 0
	}
	if v.session = d.look.sessionOf(r, d.now()); v.session != "" {
		return v, "", 0
	}
	return v, "want the header Authorization: Bearer TOKEN", http.StatusUnauthorized
}

// enter takes the token of a printed address, or of the form.
func (d *access) enter(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimSpace(r.FormValue("token")) // of the address, or of the body
	if token == "" {
		d.ask(w, http.StatusOK, "")
		return
	}
	mayAct, says, status := d.try(r, token)
	if status != 0 {
		d.ask(w, status, says)
		return
	}
	session := secret()
	http.SetCookie(w, d.look.cookie(session, d.now(), d.secure))
	if mayAct {
		http.SetCookie(w, d.act.cookie(session, d.now(), d.secure))
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// try looks at a token. status is 0 where it is right.
func (d *access) try(r *http.Request, token string) (mayAct bool, says string, status int) {
	closed, right := d.tries.Take(d.now(), host.AddressOf(r, d.proxied), func() bool {
		mayLook := host.Same(token, d.look.token())
		mayAct = host.Same(token, d.act.token())
		return mayLook || mayAct
	})
	switch {
	case closed:
		return false, "too many wrong tokens; try again in a minute", http.StatusTooManyRequests
	case !right:
		return false, "this is not the token", http.StatusUnauthorized
	}
	return mayAct, "", 0
}

// caller is the sender of a request that the door has let in.
type caller struct {
	acts    bool   // it has shown the act token
	session string // of its cookies; empty: a program, which shows its token with each request
	by      string // whose request it is, for the journal
	from    string // where it comes from, for the journal
}

// callerKey is the key of the caller in the context of a request.
type callerKey struct{}

// with is a request with its caller.
func (c *caller) with(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// callerOf is the caller of a request; without the door, a caller that may look.
func callerOf(r *http.Request) *caller {
	if c, ok := r.Context().Value(callerKey{}).(*caller); ok {
		return c
	}
	return &caller{}
}

// maxUser is the longest name of a user that is taken from a proxy, in characters.
const maxUser = 40

// newCaller is the caller of a request. Where a proxy stands before the dashboard, its headers are
// named as such: the dashboard cannot check them.
func newCaller(r *http.Request, proxied bool) *caller {
	c := &caller{by: "dashboard act token", from: "dashboard " + r.RemoteAddr}
	if !proxied {
		return c
	}
	if address := host.Forwarded(r); address.IsValid() {
		c.from = fmt.Sprintf("dashboard %s by X-Forwarded-For, proxy %s", address, r.RemoteAddr)
	}
	if user := r.Header.Get("X-Forwarded-User"); user != "" {
		c.by += fmt.Sprintf(", X-Forwarded-User %.*q", maxUser, user)
	}
	return c
}
