package server

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// listener accepts connections whose deadlines take no timer: net/http sets six of them for each
// request, and a timer that is set wakes a thread. sweep, called each second, ends what is over.
type listener struct {
	net.Listener
	swept atomic.Int64 // when the latest sweep was, Unix ns
	mu    sync.Mutex   // guards open
	open  map[*conn]struct{}
}

func newListener(inner net.Listener) *listener {
	return &listener{Listener: inner, open: map[*conn]struct{}{}}
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: inner, of: l}
	l.mu.Lock()
	l.open[c] = struct{}{}
	l.mu.Unlock()
	return c, nil
}

// forget lets go of a connection that is closed or has been taken over: http.Server.ConnState.
func (l *listener) forget(c net.Conn, state http.ConnState) {
	if own, ok := c.(*conn); ok && (state == http.StateClosed || state == http.StateHijacked) {
		l.mu.Lock()
		delete(l.open, own)
		l.mu.Unlock()
	}
}

// sweep ends the reads and writes whose deadlines are over.
func (l *listener) sweep(now time.Time) {
	l.swept.Store(now.UnixNano())
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.sweep(now)
	}
}

// conn is a connection that notes its deadlines. One in the future takes effect with the first
// sweep after it, one in the past at once.
type conn struct {
	net.Conn
	of          *listener
	mu          sync.Mutex // guards what follows
	read, write deadline
}

// deadline is a deadline of a connection. over: it has passed, and the connection below has a
// deadline that has passed too; before, the connection below has none.
type deadline struct {
	at   time.Time // zero: none
	over bool
}

// longAgo is a deadline that is over.
func longAgo() time.Time { return time.Unix(1, 0) }

// set sets the deadline, and reports whether the connection below needs another one.
func (d *deadline) set(at time.Time, over bool) (changed bool) {
	changed = over || d.over
	d.at, d.over = at, over
	return changed
}

// ends marks a deadline that has passed, and reports whether that is new.
func (d *deadline) ends(now time.Time) bool {
	if d.over || d.at.IsZero() || now.Before(d.at) {
		return false
	}
	d.over = true
	return true
}

// below is the deadline of the connection below.
func (d *deadline) below() time.Time {
	if d.over {
		return longAgo()
	}
	return time.Time{}
}

// isOver reports whether a deadline lies before the latest sweep. net/http sets one of 1970 to end
// a read at once.
func (l *listener) isOver(at time.Time) bool {
	return !at.IsZero() && at.UnixNano() <= max(l.swept.Load(), longAgo().UnixNano())
}

// SetReadDeadline sets when reads end.
func (c *conn) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read.set(at, c.of.isOver(at)) {
		return c.Conn.SetReadDeadline(c.read.below())
	}
	return nil
}

// SetWriteDeadline sets when writes end.
func (c *conn) SetWriteDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.write.set(at, c.of.isOver(at)) {
		return c.Conn.SetWriteDeadline(c.write.below())
	}
	return nil
}

// SetDeadline sets both.
func (c *conn) SetDeadline(at time.Time) error {
	if err := c.SetReadDeadline(at); err != nil {
		return err
	}
	return c.SetWriteDeadline(at)
}

// sweep ends what is over. A connection that is closed meanwhile has nothing to end.
func (c *conn) sweep(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read.ends(now) {
		_ = c.Conn.SetReadDeadline(longAgo())
	}
	if c.write.ends(now) {
		_ = c.Conn.SetWriteDeadline(longAgo())
	}
}

// NetConn returns the connection below, as tls.Conn does.
func (c *conn) NetConn() net.Conn { return c.Conn }
