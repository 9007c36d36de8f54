// Package host keeps the servers of this machine from answering for names that are not theirs: a
// page of the web can point a name of its own here (DNS rebinding). It knows no page and no figure.
// Start at Guard.
package host

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Guard answers requests whose header Host names this server, and refuses all others with 421: a
// page of the web can point a name of its own at this machine (DNS rebinding), but it cannot make a
// browser send another name than that.
type Guard struct {
	next    http.Handler
	names   []string // beside this machine's own: as the config has them
	Refusal string   // body of the answer
	Kind    string   // its Content-Type
}

// ServeHTTP passes a request on, or refuses it.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.answersFor(r.Context(), r.Host) {
		w.Header().Set("Content-Type", g.Kind)
		w.WriteHeader(http.StatusMisdirectedRequest)
		_, _ = w.Write([]byte(g.Refusal))
		return
	}
	g.next.ServeHTTP(w, r)
}

// answersFor reports whether a header Host, with any port, names this server: a name of the
// loopback, a name of the config, or the address that the connection came to.
func (g *Guard) answersFor(ctx context.Context, header string) bool {
	host := hostOf(header)
	if host == "" {
		return false
	}
	for _, name := range g.names { // the first is empty where the config names a port alone
		if name != "" && strings.EqualFold(host, name) {
			return true
		}
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	local, _ := ctx.Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return address.Unmap().IsLoopback() || local != nil && address.Unmap() == local.AddrPort().Addr().Unmap().
		WithZone("")
}

// NewGuard guards a handler. listen is the address that the config names, hosts are further names.
func NewGuard(next http.Handler, listen string, hosts []string) *Guard {
	host, _, _ := net.SplitHostPort(listen) // checked with the config
	return &Guard{next: next, names: append([]string{host}, hosts...), Kind: "text/plain; charset=utf-8",
		Refusal: "this server does not answer for that host; name it in the setting hosts\n"}
}

// hostOf is a header Host without its port and the brackets of an IPv6 address; empty where it is
// malformed.
func hostOf(header string) string {
	if host, _, err := net.SplitHostPort(header); err == nil {
		return host
	}
	if inner, ok := strings.CutPrefix(header, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		if !closed {
			return ""
		}
		return inner
	}
	return header
}
