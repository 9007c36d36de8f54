package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// Orders is a list of orders, latest first, whose Order.ID, Strategy and Tag are zero. Unread are
// the orders whose market or asset is not in the catalog, or whose numbers do not fit: they exist
// at the exchange nevertheless.
type Orders struct {
	Records []exchange.WireOrder
	Unread  []Unread
}

// Unread is an order that could not be read.
type Unread struct {
	Market, OrderID string
	Reason          error
}

// Order returns one order with all its fills: GET /order (specification 4.2), by clientOrderId or,
// where that is zero, by orderId. A clientOrderId names the latest order that carries it. No such
// order is exchange.Error with code 240.
func (c *Client) Order(ctx context.Context, id market.ID, client, name uuid.UUID) (exchange.WireOrder, error) {
	return c.order(ctx, endpoints[getOrder].lane, id, client, name)
}

// OrderUrgent is Order in the lane after cancels, for an order that is to end.
func (c *Client) OrderUrgent(ctx context.Context, id market.ID, client, name uuid.UUID) (exchange.WireOrder, error) {
	return c.order(ctx, Confirm, id, client, name)
}

func (c *Client) order(ctx context.Context, lane Lane, id market.ID, client, name uuid.UUID) (exchange.WireOrder,
	error) {
	d, m, err := c.marketOf(id)
	if err != nil {
		return exchange.WireOrder{}, err
	}
	if client == uuid.Nil && name == uuid.Nil {
		return exchange.WireOrder{}, errors.New("GET /order: neither clientOrderId nor orderId names the order")
	}
	path := named(to("order").with("market", m.Name), client, name).String()
	record, err := ask(ctx, c, request{at: getOrder, path: path, lane: lane},
		func(body []byte) (exchange.WireOrder, error) {
			record, err := readOrder(body, d.cat)
			return record, malformedIf(body, err)
		})
	if err != nil {
		return exchange.WireOrder{}, err
	}
	if o := &record.Order; o.Market != id || client != uuid.Nil && o.ClientOrderID != client || client == uuid.Nil &&
		o.ExchangeID != name {
		return exchange.WireOrder{}, exchange.False(fmt.Errorf("GET /order: order %s: %w", o.ExchangeID, ErrMismatch))
	}
	return record, nil
}

// OrdersOpen lists the open orders of one market, or of all where m is nil, which costs far more:
// GET /ordersOpen (specification 4.5). They come without fills.
func (c *Client) OrdersOpen(ctx context.Context, m *market.Market) (Orders, error) {
	path, all := to("ordersOpen"), m == nil
	if !all {
		path = path.with("market", m.Name)
	}
	return c.orders(ctx, request{at: getOrdersOpen, all: all, path: path.String()})
}

// Orders lists orders of a market with their fills: GET /orders (specification 4.3). The page has 1
// … 1000 rows, 500 by itself; Start and End bound when they were created, From and To are orderIds;
// all ends count.
func (c *Client) Orders(ctx context.Context, m *market.Market, page Page) (Orders, error) {
	return c.orders(ctx, request{at: getOrders, path: to("orders").with("market", m.Name).
		page(page, "orderIdFrom", "orderIdTo").String()})
}

func (c *Client) orders(ctx context.Context, r request) (Orders, error) {
	d, err := c.directory()
	if err != nil {
		return Orders{}, err
	}
	return ask(ctx, c, r, func(body []byte) (Orders, error) { return readOrders(body, d.cat) })
}

// readOrders reads an array of orders; one unreadable order does not spoil the others.
func readOrders(body []byte, cat *market.Catalog) (list Orders, err error) {
	s := wire.NewScanner(body)
	for s.Array(); s.Element(); {
		record := s.Raw()
		if s.Err() != nil {
			break
		}
		order, fills, err := exchange.ParseOrder(record, cat)
		if err != nil {
			list.Unread = append(list.Unread, unread(record, err))
			continue
		}
		list.Records = append(list.Records, exchange.WireOrder{Order: order, Fills: fills})
	}
	return list, s.End()
}

var unreadMembers = []string{"market", "orderId"}

// unread names an unreadable order, as far as possible.
func unread(record []byte, reason error) Unread {
	var token [2][]byte
	s := wire.NewScanner(record)
	s.Tokens(unreadMembers, token[:])
	return Unread{Market: string(clip(token[0])), OrderID: string(clip(token[1])), Reason: reason}
}

// malformedIf marks an error where the body is no JSON.
func malformedIf(body []byte, err error) error {
	if err != nil && !json.Valid(body) {
		return fmt.Errorf("%w: %w", wire.ErrMalformed, err)
	}
	return err
}

// decode reads an answer without a decoder of its own.
func decode[T any](body []byte) (answer T, err error) {
	if err = json.Unmarshal(body, &answer); err != nil {
		err = fmt.Errorf("%w: %w", wire.ErrMalformed, err)
	}
	return answer, err
}

// ask sends a GET and returns its answer as read decodes it, the zero answer beside an error.
func ask[T any](ctx context.Context, c *Client, r request, read func([]byte) (T, error)) (answer T, err error) {
	if err = c.get(ctx, r, into(&answer, read)); err != nil {
		answer = *new(T)
	}
	return answer, err
}

// more sends a GET and appends its answer to a list, nothing beside an error.
func more[T any](ctx context.Context, c *Client, r request, dst []T,
	read func(dst []T, body []byte) ([]T, error)) ([]T, error) {
	before := len(dst)
	err := c.get(ctx, r, func(body []byte) (err error) {
		dst, err = read(dst[:before], body)
		return err
	})
	if err != nil {
		dst = dst[:before]
	}
	return dst, err
}

// into returns a reader that keeps what another has decoded.
func into[T any](answer *T, read func([]byte) (T, error)) func([]byte) error {
	return func(body []byte) (err error) {
		*answer, err = read(body)
		return err
	}
}

// Cancelled is an order that is being cancelled.
type Cancelled struct {
	OrderID    string `json:"orderId"`
	Market     string `json:"market"` // "": not in the answer
	OperatorID int64  `json:"operatorId"`
}

// CancelOrders cancels all open orders of a market, or of the account where m is nil, also those of
// other programs: DELETE /orders (specification 1, venue-facts 1.3). It is sent once; its errors
// are those of Send. An empty list means that none was open.
func (c *Client) CancelOrders(ctx context.Context, m *market.Market, operatorID int64) (list []Cancelled, err error) {
	path, all := to("orders"), m == nil
	if !all {
		path = path.with("market", m.Name)
	}
	err = c.write(ctx, request{at: deleteOrders, all: all, path: path.integer("operatorId", operatorID).String()},
		into(&list, decode[[]Cancelled]))
	return list, err
}

// CancelSide cancels all open orders of one side of a market or, where it is refused, none of them,
// also those of other programs: DELETE /atomic/orders (venue-facts 1.3). It is sent once; its
// errors are those of Send. An empty list means that none was open.
func (c *Client) CancelSide(ctx context.Context, m *market.Market, side market.Side,
	operatorID int64) (list []Cancelled, err error) {
	path := to("atomic", "orders").with("market", m.Name).with("side", side.String()).integer("operatorId", operatorID)
	err = c.write(ctx, request{at: deleteAtomicOrders, path: path.String()}, into(&list, decode[[]Cancelled]))
	return list, err
}

// CancelOrdersAfter starts or restarts the timer of a group, 1 … 1000: the exchange cancels the
// group's open orders after so long, 10 … 300 s, rounded down to seconds, unless the timer is
// restarted. 0 stops it. POST /cancelOrdersAfter (specification 9, venue-facts 3.8). It returns
// when the timer expires, 0 for a stopped one. It is sent once; its errors are those of Send.
func (c *Client) CancelOrdersAfter(ctx context.Context, group uint16, after market.Duration) (expiry market.Time,
	err error) {
	type timer struct {
		Group  uint16      `json:"codGroupId"`
		Expiry json.Number `json:"timeOfExpirySeconds"`
	}
	sent := fmt.Appendf(nil, `{"codGroupId":%d,"expiryAfterSeconds":%d}`, group, after/time.Second)
	err = c.write(ctx, request{at: postCancelOrdersAfter, path: version + "/cancelOrdersAfter", body: sent},
		func(body []byte) error {
			answer, err := decode[timer](body)
			switch {
			case err != nil:
				return err
			case answer.Group != group:
				return fmt.Errorf("codGroupId %d: %w", answer.Group, ErrMismatch)
			case answer.Expiry == "":
				return nil
			}
			seconds, err := answer.Expiry.Int64()
			if err != nil || seconds < 0 || seconds > market.MaxMillis/1000 {
				return fmt.Errorf("timeOfExpirySeconds %q: %w", answer.Expiry, wire.ErrMalformed)
			}
			expiry, err = market.TimeOfMillis(seconds * 1000)
			return err
		})
	return expiry, err
}

// write sends a request once, without retries. After 304 it measures the exchange's clock anew, for
// the next request.
func (c *Client) write(ctx context.Context, r request, read func([]byte) error) error {
	seen := c.clock.anchor.Load()
	err := c.attempt(ctx, r, read)
	if err == nil {
		return nil
	}
	if outOfWindow(err) {
		_ = c.resync(ctx, seen) // that it failed will show with the next request
	}
	return fmt.Errorf("%s: %w", endpoints[r.at].name, err)
}
