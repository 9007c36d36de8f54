package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

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
	if address := forwarded(r); address.IsValid() {
		c.from = fmt.Sprintf("dashboard %s by X-Forwarded-For, proxy %s", address, r.RemoteAddr)
	}
	if user := r.Header.Get("X-Forwarded-User"); user != "" {
		c.by += fmt.Sprintf(", X-Forwarded-User %.*q", maxUser, user)
	}
	return c
}

// addressOf is the address whose wrong tokens are counted: that of the connection, or behind a
// proxy that of the proxy's client.
func addressOf(r *http.Request, proxied bool) netip.Addr {
	if address := forwarded(r); proxied && address.IsValid() {
		return address
	}
	end, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return end.Addr()
}

// forwarded is the address of a proxy's client: the last of X-Forwarded-For, which the proxy itself
// has added. It is not valid where there is none.
func forwarded(r *http.Request) netip.Addr {
	all := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	address, err := netip.ParseAddr(strings.TrimSpace(all[len(all)-1]))
	if err != nil {
		return netip.Addr{}
	}
	return address.WithZone("")
}
