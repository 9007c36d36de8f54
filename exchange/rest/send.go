package rest

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Answer is what the exchange says to an intent that it has accepted.
type Answer struct {
	// Order is the order as it is now, with the intent's OrderID. Of a cancel only the ids, the market and the operator are told: whether
	// the order is gone, and what it filled until then, has to be asked for.
	Order market.Order
	Fills []market.Fill // of a place all of the order, of an update those that this request made
}

// Send signs an intent and sends it exactly once. Nil means that the exchange has accepted it; of an error exchange.OutcomeOf tells what
// it means:
//
//   - Rejected, and nothing was done: an exchange.Error with a 4xx, or a NotSentError, among them ErrLate where too little is left of
//     the intent's window and what the budget returns. After code 304 the exchange's clock has been measured anew.
//   - Unknown: no answer in time, a broken connection, a 5xx, an answer that cannot be read or speaks of another order. The order has
//     to be asked for; the same intent must not be sent again.
func (c *Client) Send(ctx context.Context, intent *Intent) (Answer, error) {
	at, known := commands[intent.Kind]
	if !known || intent.Timestamp == 0 || intent.Method == "" {
		return Answer{}, &NotSentError{errors.New("the intent was not made by Prepare")}
	}
	d, err := c.directory()
	if err != nil {
		return Answer{}, &NotSentError{err}
	}
	m, err := d.marketOf(intent.Market)
	if err != nil {
		return Answer{}, &NotSentError{err}
	}
	var answer Answer
	r := request{at: at, path: intent.Path, body: intent.Body, lane: intent.Lane, timestamp: intent.Timestamp, window: intent.Window, weight: intent.Weight}
	err = c.write(ctx, r, func(body []byte) (err error) {
		if intent.Kind == market.CommandCancel {
			answer, err = readCancel(body, m)
		} else {
			answer, err = readOrder(body, d.cat)
		}
		if err != nil {
			return err
		}
		return answer.belongs(intent)
	})
	if err != nil {
		return Answer{}, err
	}
	answer.Order.ID = intent.Order
	for i := range answer.Fills {
		answer.Fills[i].Order = intent.Order
	}
	return answer, nil
}

// readOrder reads the record that answers POST and PUT /order.
func readOrder(body []byte, cat *market.Catalog) (a Answer, err error) {
	a.Order, a.Fills, err = exchange.ParseOrder(body, cat)
	return a, err
}

// readCancel reads the answer to DELETE /order, of which old exchanges send the orderId alone (venue-facts 1.3).
func readCancel(body []byte, m *market.Market) (Answer, error) {
	a := Answer{Order: market.Order{Market: m.ID}}
	s := scanner{data: body}
	for s.open(); s.member(); {
		switch string(s.name) {
		case "orderId":
			a.Order.ExchangeID = s.id("orderId")
		case "clientOrderId":
			a.Order.ClientOrderID, _ = uuid.ParseBytes(s.token())
		case "operatorId":
			a.Order.OperatorID = s.integer("operatorId")
		default:
			s.skip()
		}
	}
	if err := s.end(); err != nil {
		return Answer{}, err
	}
	if a.Order.ExchangeID == uuid.Nil {
		return Answer{}, missing("orderId")
	}
	return a, nil
}

// belongs holds what an answer says against the intent.
func (a *Answer) belongs(intent *Intent) error {
	o := &a.Order
	switch {
	case o.Market != intent.Market:
		return fmt.Errorf("market: %w", ErrMismatch)
	case intent.Kind == market.CommandPlace && o.ClientOrderID != intent.ClientOrderID,
		o.ClientOrderID != uuid.Nil && intent.ClientOrderID != uuid.Nil && o.ClientOrderID != intent.ClientOrderID:
		return fmt.Errorf("clientOrderId %s: %w", o.ClientOrderID, ErrMismatch)
	case intent.ExchangeID != uuid.Nil && o.ExchangeID != intent.ExchangeID:
		return fmt.Errorf("orderId %s: %w", o.ExchangeID, ErrMismatch)
	}
	return nil
}
