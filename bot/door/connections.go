package door

import (
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/tidemark-trading/tidemark/bot/host"
)

// maxConnections is how many connections the door holds at once.
const maxConnections = 64

// connections are those of a server. Beyond maxConnections an address that holds at least two more
// than the address of the new connection loses one: so no address can keep the others out. Else the
// connection that has been idle for longest is closed; where none is idle, the new one.
type connections struct {
	mu   sync.Mutex
	turn uint64 // of the latest change
	held map[net.Conn]*connection
}

// connection is a connection that is held.
type connection struct {
	from  netip.Prefix
	idle  bool // no request is under way
	since uint64
}

// state is http.Server.ConnState.
func (c *connections) state(on net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn++
	switch state {
	case http.StateNew:
		from := placeOf(on)
		if len(c.held) >= maxConnections && !c.makeRoom(from) {
			_ = on.Close()
			return
		}
		c.held[on] = &connection{from: from, since: c.turn}
	case http.StateActive, http.StateIdle:
		if one := c.held[on]; one != nil && one.idle != (state == http.StateIdle) {
			one.idle, one.since = !one.idle, c.turn
		}
	case http.StateClosed, http.StateHijacked:
		delete(c.held, on)
	}
}

// makeRoom closes a connection for a new one from an address.
func (c *connections) makeRoom(from netip.Prefix) bool {
	count, most := map[netip.Prefix]int{}, netip.Prefix{}
	for _, one := range c.held {
		if count[one.from]++; count[one.from] > count[most] {
			most = one.from
		}
	}
	greedy := count[most] > count[from]+1
	first := c.longest(func(one *connection) bool { return one.idle && (!greedy || one.from == most) })
	if first == nil && greedy {
		first = c.longest(func(one *connection) bool { return one.from == most })
	}
	if first == nil {
		return false
	}
	delete(c.held, first)
	_ = first.Close()
	return true
}

// longest is the connection that is as it is for longest, of some.
func (c *connections) longest(of func(*connection) bool) (first net.Conn) {
	for on, one := range c.held {
		if of(one) && (first == nil || one.since < c.held[first].since) {
			first = on
		}
	}
	return first
}

// placeOf is where a connection comes from.
func placeOf(on net.Conn) netip.Prefix {
	end, _ := netip.ParseAddrPort(on.RemoteAddr().String())
	return host.PlaceOf(end.Addr())
}
