package door

import (
	"net"
	"net/http"
	"sync"
)

// maxConnections is how many connections the door holds at once.
const maxConnections = 64

// connections are those of a server. Beyond maxConnections the one that has been idle for longest
// is closed; where none is idle, the new one.
type connections struct {
	mu    sync.Mutex
	turn  uint64              // of the latest idle one
	since map[net.Conn]uint64 // the turn at which it became idle; 0: a request is under way
}

// state is http.Server.ConnState.
func (c *connections) state(on net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if len(c.since) >= maxConnections && !c.closeIdle() {
			_ = on.Close()
			return
		}
		c.since[on] = 0
	case http.StateActive:
		c.since[on] = 0
	case http.StateIdle:
		c.turn++
		c.since[on] = c.turn
	case http.StateClosed, http.StateHijacked:
		delete(c.since, on)
	}
}

// closeIdle closes the connection that has been idle for longest.
func (c *connections) closeIdle() bool {
	var first net.Conn
	for on, since := range c.since {
		if since > 0 && (first == nil || since < c.since[first]) {
			first = on
		}
	}
	if first == nil {
		return false
	}
	delete(c.since, first)
	_ = first.Close()
	return true
}
