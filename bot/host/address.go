package host

import (
	"net/http"
	"net/netip"
	"strings"
)

// AddressOf is the address of the sender of a request: that of the connection, or behind a proxy
// that of the proxy's client.
func AddressOf(r *http.Request, proxied bool) netip.Addr {
	if address := Forwarded(r); proxied && address.IsValid() {
		return address
	}
	end, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return end.Addr()
}

// Forwarded is the address of a proxy's client: the last of X-Forwarded-For, which the proxy itself
// has added. It is not valid where there is none.
func Forwarded(r *http.Request) netip.Addr {
	all := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	address, err := netip.ParseAddr(strings.TrimSpace(all[len(all)-1]))
	if err != nil {
		return netip.Addr{}
	}
	return address.WithZone("")
}
