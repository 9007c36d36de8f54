package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// Socket is a WebSocket to the exchange that may carry private actions (websocket-facts 8). It is
// safe for concurrent use.
type Socket interface {
	// Authenticated reports whether a private action can leave now.
	Authenticated() bool
	// Act sends a private action once, with its parameters as a JSON object, and returns the member
	// response of its reply. An error that wraps exchange.ErrNotSent says that nothing has left,
	// one that wraps an *exchange.Error is the exchange's refusal, with the HTTP status of its
	// code; after any other the outcome is unknown.
	Act(ctx context.Context, action string, parameters []byte) (response []byte, err error)
	// Reset ends the present connection, because of a reason; a next one is opened.
	Reset(reason error)
}

// SocketOrders is a Client whose orders leave over a socket: the same intents, the same outcomes,
// the same budget. A write without an answer when its connection ends is unresolved. While the
// socket is not authenticated, orders leave over HTTP; everything else always does. So do sells,
// exits among them, their changes and their cancels: a signed window bounds them, and what became
// of a lost one is known in seconds.
//
// Known limitation: an action on a socket is not signed and has no access window. Prepare says that
// the exchange may take it for the longest window of the specification, a minute. A network that
// delivers an action of a broken connection still later makes an order that had been inferred to
// be absent; the lists of open orders show it.
type SocketOrders struct {
	*Client
	socket Socket

	aside            atomic.Int64 // until this time of the exchange everything leaves over HTTP
	bySocket, byHTTP atomic.Int64
}

var _ exchange.Trading = (*SocketOrders)(nil)

// Over returns the client with its orders over a socket.
func (c *Client) Over(s Socket) *SocketOrders { return &SocketOrders{Client: c, socket: s} }

// Prepare is Client.Prepare, with the window of a socket where the intent is to leave over it.
func (o *SocketOrders) Prepare(command *market.Command) (exchange.Intent, error) {
	intent, err := o.Client.Prepare(command)
	if o.carries(&intent, 0) {
		intent.Window = int64(maxWindow / time.Millisecond)
	}
	return intent, err
}

// SetAside lets everything leave over HTTP for a while, because the exchange has denied what a
// socket told.
func (o *SocketOrders) SetAside(long time.Duration) { o.aside.Store(int64(o.Now().Add(long))) }

// carries reports whether an intent may leave over the socket: its order is no sell, and the socket
// has not been set aside within a time.
func (o *SocketOrders) carries(intent *exchange.Intent, within market.Duration) bool {
	return !intent.Sell && o.Now() >= market.Time(o.aside.Load()).Add(within)
}

// Send is Client.Send over the socket: the action with the members of the intent's body, or of its
// query.
func (o *SocketOrders) Send(ctx context.Context, intent *exchange.Intent) (exchange.WireOrder, error) {
	// what was prepared while the socket was aside is late by then
	if o.carries(intent, o.config.Window) && o.socket.Authenticated() {
		o.bySocket.Add(1)
		return o.sendBy(ctx, intent, o.socket)
	}
	o.byHTTP.Add(1)
	return o.Client.Send(ctx, intent)
}

// BySocket is the number of writes that found the socket authenticated.
func (o *SocketOrders) BySocket() int64 { return o.bySocket.Load() }

// ByHTTP is the number of writes that went over HTTP: sells, and what found no socket.
func (o *SocketOrders) ByHTTP() int64 { return o.byHTTP.Load() }

// errNoReply is the reason to end a connection.
var errNoReply = errors.New("an order has no reply in time")

// act sends a request over its socket, and tells the budget what came back. An error that wraps
// exchange.ErrNotSent says that nothing has left; the budget has not heard of it then.
func (c *Client) act(ctx context.Context, r *request, done func(http.Header, int, []byte),
	read func([]byte) error) error {
	response, err := r.socket.Act(ctx, actions[r.at], r.members())
	var refusal *exchange.Error
	switch {
	case err == nil:
		r.isCarried()
		done(nil, http.StatusOK, nil)
		return c.hideBody(read(response), response, "")
	case errors.Is(err, exchange.ErrNotSent):
		return err
	case errors.As(err, &refusal):
		r.isCarried()
		if refusal.Code == codeNoCredentials {
			r.socket.Reset(fmt.Errorf("%s: %w", actions[r.at], refusal))
		}
		done(nil, refusal.Status, exchange.AppendError(nil, refusal))
		copied := *refusal
		return c.clean(&copied, "")
	case errors.Is(err, context.DeadlineExceeded):
		r.socket.Reset(errNoReply)
	}
	done(nil, 0, nil)
	return &transportError{c.scrubber("").Error(err)}
}

// isCarried notes that the answer came over a socket.
func (r *request) isCarried() {
	if r.carried != nil {
		*r.carried = true
	}
}

// codeNoCredentials says that a request, or a socket, is not authenticated.
const codeNoCredentials = 300

// actions are the names of endpoints on a socket (websocket-facts 8).
var actions = map[endpoint]string{postOrder: "privateCreateOrder", putOrder: "privateUpdateOrder",
	deleteOrder: "privateCancelOrder"}

// members are the parameters of a request as a JSON object: its body, or else its query.
func (r *request) members() []byte {
	if len(r.body) > 0 {
		return r.body
	}
	_, query, _ := strings.Cut(r.path, "?")
	w := wire.Writer{Dst: append(make([]byte, 0, len(query)+16), '{')}
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		if name == "operatorId" {
			w.Key(name)
			w.Dst = append(w.Dst, value...)
			continue
		}
		if plain, err := url.QueryUnescape(value); err == nil {
			value = plain
		}
		w.Text(name, value)
	}
	return append(w.Dst, '}')
}
