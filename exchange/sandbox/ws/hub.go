// Package ws is the WebSocket side of the simulated exchange: connections, messages,
// subscriptions, and which event goes to which connection. It never carries out an action itself
// and takes no lock of the exchange: Host does that. Start at Hub.ServeHTTP; conn.go reads and
// writes, subscribe.go has the channels.
package ws

import (
	"context"
	"encoding/binary"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// Host is the exchange behind the sockets.
type Host struct {
	Now func() market.Time // the exchange's time
	// CarryOut carries out a call, with all events that are due, and publishes them before it
	// returns.
	CarryOut func(c *api.Call) *exchange.Error
	// Requests are the faults that meet actions, and Sockets those that meet frames; nil: none.
	Requests, Sockets func() *fault.Script
	// Wait returns when the exchange's time is t, or when over is closed.
	Wait func(t market.Time, over <-chan struct{})
	// Exclusive calls a function while nothing is carried out; what was carried out before has been
	// published.
	Exclusive func(func())
}

// Topic is the subject of an event, to which a connection subscribes.
type Topic struct {
	Channel  Channel
	Market   market.ID
	Interval market.Interval // of Candles
	Account  int             // of Account: as Call.Account
}

// Event is an event for all connections with a subscription to its topic. Text is a JSON object,
// for Ticker24h an element of its list; it must not change any more.
type Event struct {
	Topic
	Text []byte
}

// Hub has the open sockets of an exchange. It is safe for concurrent use.
type Hub struct {
	door    *api.Door
	catalog *market.Catalog
	host    Host

	mu          sync.Mutex // guards everything below
	closed      bool
	connections map[*connection]context.CancelFunc
	subscribers map[Topic]map[*connection]struct{}
	version     atomic.Uint64
	running     sync.WaitGroup
	packers     sync.Pool // of *flate.Writer
}

// NewHub makes a hub without sockets.
func NewHub(d *api.Door, catalog *market.Catalog, host Host) *Hub {
	return &Hub{door: d, catalog: catalog, host: host, connections: map[*connection]context.CancelFunc{},
		subscribers: map[Topic]map[*connection]struct{}{}}
}

// ServeHTTP makes a socket of a request and serves it until one side closes it. A page of another
// origin is refused.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	below := &taken{ResponseWriter: w}
	on, err := websocket.Accept(below, r,
		&websocket.AcceptOptions{CompressionMode: websocket.CompressionNoContextTakeover})
	if err != nil {
		return // Accept has answered
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	c := newConnection(h, on, below, api.PeerOf(r.RemoteAddr))
	if !h.enter(c, cancel) {
		on.Close(websocket.StatusGoingAway, "the exchange is closed")
		return
	}
	defer h.running.Done()
	defer h.leave(c)
	c.serve(ctx)
}

// enter notes a new connection, unless the hub is closed.
func (h *Hub) enter(c *connection, cancel context.CancelFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.connections[c] = cancel
	h.running.Add(1)
	return true
}

// leave forgets a connection with its subscriptions.
func (h *Hub) leave(c *connection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for topic := range c.topics {
		h.drop(c, topic)
	}
	delete(h.connections, c)
}

// add begins one subscription. The caller holds the mutex.
func (h *Hub) add(c *connection, topic Topic) {
	if h.subscribers[topic] == nil {
		h.subscribers[topic] = map[*connection]struct{}{}
		h.version.Add(1)
	}
	h.subscribers[topic][c], c.topics[topic] = struct{}{}, struct{}{}
}

// forget ends the subscriptions of a connection to what an account alone may see.
func (h *Hub) forget(c *connection, account int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for topic := range c.topics {
		if topic.Channel == Account && topic.Account == account {
			h.drop(c, topic)
		}
	}
}

// drop ends one subscription. The caller holds the mutex.
func (h *Hub) drop(c *connection, topic Topic) {
	delete(c.topics, topic)
	if of := h.subscribers[topic]; of != nil {
		if delete(of, c); len(of) == 0 {
			delete(h.subscribers, topic)
			h.version.Add(1)
		}
	}
}

// Close ends all connections and waits for their end. Later ones are refused.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	for _, cancel := range h.connections {
		cancel()
	}
	h.mu.Unlock()
	h.running.Wait()
}

// Version grows with each change of Topics.
func (h *Hub) Version() uint64 { return h.version.Load() }

// Topics are all topics with a subscription, in no order.
func (h *Hub) Topics() []Topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.subscribers))
}

// Publish gives events to all connections with a subscription to their topics. It waits for no
// connection.
func (h *Hub) Publish(events []Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	messages := make([]message, len(events))
	var days map[*connection][]byte // ticker24h: one event for all markets of a connection
	for i := range events {
		messages[i].topic, messages[i].text = events[i].Topic, events[i].Text
		for c := range h.subscribers[events[i].Topic] {
			if events[i].Channel != Ticker24h {
				c.send(&messages[i])
				continue
			}
			if days == nil {
				days = map[*connection][]byte{}
			}
			days[c] = binary.AppendUvarint(days[c], uint64(i))
		}
	}
	h.publishDays(events, days)
}

// publishDays sends ticker24h. Connections with the same markets share one message. The caller
// holds the mutex.
func (h *Hub) publishDays(events []Event, of map[*connection][]byte) {
	made := map[string]*message{}
	for c, places := range of {
		m := made[string(places)]
		if m == nil {
			m = dayMessage(events, places)
			made[string(places)] = m
		}
		c.send(m)
	}
}

// dayMessage makes one event of ticker24h out of some events.
func dayMessage(events []Event, places []byte) *message {
	m := &message{topic: Topic{Channel: Ticker24h}}
	w := wire.Writer{Dst: []byte(`{"event":"ticker24h","data":[`)}
	var markets []byte
	for len(places) > 0 {
		i, n := binary.Uvarint(places)
		places = places[n:]
		w.Comma()
		w.Dst = append(w.Dst, events[i].Text...)
		markets = binary.AppendUvarint(markets, uint64(events[i].Market))
	}
	m.text, m.days = append(w.Dst, ']', '}'), string(markets)
	return m
}
