package dashboard

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/host"
)

const (
	cookieName = "tidemark_look"
	maxTries   = 10          // wrong tokens within triesFor
	triesFor   = time.Minute // after maxTries no token is looked at for so long
	maxBody    = 4 << 10     // bytes of a request
)

// policy lets a page load the dashboard's own style, script and pictures, and nothing else.
const policy = "default-src 'self'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// door lets in those with the token. Everyone else sees the form that asks for it.
type door struct {
	token, cookie string
	now           func() time.Time
	next          http.Handler
	ask           func(w http.ResponseWriter, status int, says string) // writes the form

	mu    sync.Mutex
	tries []time.Time // of wrong tokens within triesFor
}

// guarded is a handler behind the door: only requests for this machine's own names, from its own
// pages, small, and with the headers of a page that nothing may frame or change.
func guarded(d *door, listen string) http.Handler {
	cross := http.NewCrossOriginProtection()
	inner := http.MaxBytesHandler(cross.Handler(d), maxBody)
	return host.NewGuard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", policy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("X-Frame-Options", "DENY")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Cache-Control", "no-store")
		inner.ServeHTTP(w, r)
	}), listen, nil)
}

// ServeHTTP answers those who may look.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/enter" {
		d.enter(w, r)
		return
	}
	if bearer, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); given {
		if says, status := d.try(bearer); status != 0 {
			http.Error(w, says, status)
			return
		}
		d.next.ServeHTTP(w, r)
		return
	}
	if c, err := r.Cookie(cookieName); err == nil && same(c.Value, d.cookie) {
		d.next.ServeHTTP(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		http.Error(w, "want the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	d.ask(w, http.StatusUnauthorized, "")
}

// enter takes the token of the printed address, or of the form.
func (d *door) enter(w http.ResponseWriter, r *http.Request) {
	token := r.FormValue("token") // of the address, or of the body
	if token == "" {
		d.ask(w, http.StatusOK, "")
		return
	}
	if says, status := d.try(strings.TrimSpace(token)); status != 0 {
		d.ask(w, status, says)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: d.cookie, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int((30 * 24 * time.Hour).Seconds())})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// try looks at a token. status is 0 where it is right.
func (d *door) try(token string) (says string, status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for len(d.tries) > 0 && now.Sub(d.tries[0]) >= triesFor {
		d.tries = d.tries[1:]
	}
	switch {
	case len(d.tries) >= maxTries:
		return "too many wrong tokens; try again in a minute", http.StatusTooManyRequests
	case !same(token, d.token):
		d.tries = append(d.tries, now)
		return "this is not the token", http.StatusUnauthorized
	}
	return "", 0
}
