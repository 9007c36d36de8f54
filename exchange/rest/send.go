package rest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// Send signs an intent and sends it exactly once. Nil means that the exchange has accepted it: the
// record is the order as it is now, named by the intent's Order, with all fills of a place, or
// those that an update made. The record of a cancel has ids, market and operator alone: query the
// order for its fills. exchange.OutcomeOf tells what an error means:
//
//   - Rejected, and nothing was done: an exchange.Error with a 4xx, or exchange.ErrNotSent, among
//     them ErrLate where too little is left of the intent's window and what the budget returns.
//     After code 304 the exchange's clock has been measured anew.
//   - Unknown: no answer in time, a broken connection, a 5xx, an answer that cannot be read or
//     speaks of another order. The order has to be asked for; the same intent must not be sent
//     again.
func (c *Client) Send(ctx context.Context, intent *exchange.Intent) (exchange.WireOrder, error) {
	return c.sendBy(ctx, intent, nil)
}

// sendBy is Send by a socket; nil: by HTTP.
func (c *Client) sendBy(ctx context.Context, intent *exchange.Intent, socket Socket) (exchange.WireOrder, error) {
	at, known := commands[intent.Command]
	if !known || intent.Timestamp == 0 || intent.Method == "" {
		return exchange.WireOrder{}, notSent(errors.New("the intent was not made by Prepare"))
	}
	d, m, err := c.marketOf(intent.Market)
	if err != nil {
		return exchange.WireOrder{}, notSent(err)
	}
	var record exchange.WireOrder
	r := request{at: at, path: intent.Path, body: intent.Body, lane: laneOf(intent), timestamp: intent.Timestamp,
		window: min(intent.Window, int64(c.config.Window/time.Millisecond)), socket: socket}
	var bySocket bool
	r.carried = &bySocket
	err = c.write(ctx, r, func(body []byte) (err error) {
		if intent.Command == market.CommandCancel {
			record, err = readCancel(body, m)
		} else {
			record, err = readOrder(body, d.cat)
		}
		if err != nil {
			return err
		}
		if err := matches(&record.Order, intent); err != nil {
			return exchange.False(err)
		}
		return nil
	})
	if err != nil {
		return exchange.WireOrder{BySocket: bySocket}, err
	}
	record.Order.ID, record.BySocket = intent.Order, bySocket
	for i := range record.Fills {
		record.Fills[i].Order = intent.Order
	}
	return record, nil
}

// readOrder reads the answer to POST and PUT /order.
func readOrder(body []byte, cat *market.Catalog) (r exchange.WireOrder, err error) {
	r.Order, r.Fills, err = exchange.ParseOrder(body, cat)
	return r, err
}

// readCancel reads the answer to DELETE /order; old exchanges send only the orderId (venue-facts
// 1.3).
func readCancel(body []byte, m *market.Market) (exchange.WireOrder, error) {
	r := exchange.WireOrder{Order: market.Order{Market: m.ID}}
	s := wire.NewScanner(body)
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "orderId":
			r.Order.ExchangeID = s.ID("orderId")
		case "clientOrderId":
			r.Order.ClientOrderID, _ = uuid.ParseBytes(s.Token())
		case "operatorId":
			r.Order.OperatorID = s.Integer("operatorId")
		default:
			s.Discard()
		}
	}
	if err := s.End(); err != nil {
		return exchange.WireOrder{}, err
	}
	if r.Order.ExchangeID == uuid.Nil {
		return exchange.WireOrder{}, missing("orderId")
	}
	return r, nil
}

// matches checks the order of an answer against the intent.
func matches(o *market.Order, intent *exchange.Intent) error {
	switch {
	case o.Market != intent.Market:
		return fmt.Errorf("market: %w", ErrMismatch)
	case intent.Command == market.CommandPlace && o.ClientOrderID != intent.ClientOrderID,
		o.ClientOrderID != uuid.Nil && intent.ClientOrderID != uuid.Nil && o.ClientOrderID != intent.ClientOrderID:
		return fmt.Errorf("clientOrderId %s: %w", o.ClientOrderID, ErrMismatch)
	}
	return nil
}
