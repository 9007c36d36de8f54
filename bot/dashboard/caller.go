package dashboard

import (
	"context"
	"net/http"
	"net/netip"
)

// caller is the sender of a request that the door has let in.
type caller struct {
	acts    bool   // it has shown the act token
	session string // of its cookies; empty: a program, which shows its token with each request
	by      string // whose request it is, for the journal
	from    string // where it comes from, for the journal
}

// callerKey is the key of the viewer in the context of a request.
type callerKey struct{}

// with is a request with its viewer.
func (v *caller) with(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, v))
}

// callerOf is the viewer of a request; without the door, a viewer that may look.
func callerOf(r *http.Request) *caller {
	if v, ok := r.Context().Value(callerKey{}).(*caller); ok {
		return v
	}
	return &caller{}
}

// addressOf is the address of a connection's other end, as in http.Request.RemoteAddr; the zero
// value where it has none.
func addressOf(remote string) netip.Addr {
	end, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return end.Addr()
}
