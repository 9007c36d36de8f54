// Package host has what the servers of this machine share towards strangers: the names that they
// answer for, wrong secrets, addresses behind a proxy, certificates, an end in good order. It knows
// no page and no figure. Start at Guard.
package host

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
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

// Server serves a handler to those who call it by a name of this machine, until Close.
type Server struct {
	listener net.Listener
	server   *http.Server
	serving  sync.WaitGroup
}

// Serve listens on an address and serves. hosts are further names.
func Serve(listen string, hosts []string, routes http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, server: &http.Server{
		Handler: NewGuard(routes, listen, hosts), ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14,
	}}
	s.serving.Go(func() { _ = s.server.Serve(listener) }) // it ends with Close
	return s, nil
}

// Address is where it listens.
func (s *Server) Address() net.Addr { return s.listener.Addr() }

// Close stops serving. On a nil server it does nothing.
func (s *Server) Close() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
	s.serving.Wait()
}
