package rest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Prepare makes the intent of a command, to be signed as of Now: everything that Send will put on
// the wire but the signature. Its order is named by ClientOrderID or, where that is zero, by
// ExchangeID, and carries the OperatorID of the request.
//
//   - Place (specification 4.1): Order is the whole order. responseRequired is true.
//   - Update (specification 4.4): Order has the new fields, which Changed names, and postOnly and
//     selfTradePrevention as they are: these are always sent, for leaving them out would reset
//     them. timeInForce is left out once the trigger has fired. A new AmountRemaining is sent as
//     the amount that it comes to with FilledAmount, which must be there too. responseRequired is
//     true.
//   - Cancel (specification 1, venue-facts 1.3).
//
// It refuses what cannot be right (no name, no operatorId, nothing to change), and checks no rule
// of the market: that is the gate's.
func (c *Client) Prepare(command *market.Command) (exchange.Intent, error) {
	intent, err := c.prepare(command)
	if err != nil {
		return exchange.Intent{}, fmt.Errorf("prepare %s of order %d: %w", command.Kind, command.Order.ID, err)
	}
	return intent, nil
}

func (c *Client) prepare(command *market.Command) (exchange.Intent, error) {
	o := &command.Order
	_, m, err := c.marketOf(o.Market)
	if err != nil {
		return exchange.Intent{}, err
	}
	switch {
	case o.OperatorID == 0:
		return exchange.Intent{}, errors.New("it has no operatorId")
	case command.Kind != market.CommandPlace && o.ClientOrderID == uuid.Nil && o.ExchangeID == uuid.Nil:
		return exchange.Intent{}, errors.New("neither clientOrderId nor orderId names it")
	}
	intent := exchange.Intent{Command: command.Kind, Order: o.ID, Market: o.Market, ClientOrderID: o.ClientOrderID,
		Sell: o.Side == market.Sell, Exit: command.Attached && o.Side == market.Sell,
		Timestamp: c.Now().Millis(), Window: int64(c.config.Window / time.Millisecond)}
	switch command.Kind {
	case market.CommandPlace:
		intent.Method, intent.Path = http.MethodPost, version+"/order"
		intent.Body, err = placeBody(m, command)
	case market.CommandUpdate:
		intent.Method, intent.Path = http.MethodPut, version+"/order"
		intent.Body, err = updateBody(m, command)
	case market.CommandCancel:
		path := named(to("order").with("market", m.Name), o.ClientOrderID, o.ExchangeID)
		intent.Method, intent.Path = http.MethodDelete, path.integer("operatorId", o.OperatorID).String()
	default:
		err = errors.New("a command of that kind does not go to the exchange")
	}
	return intent, err
}

// commands are the endpoints by kind of command.
var commands = map[market.CommandKind]endpoint{market.CommandPlace: postOrder, market.CommandUpdate: putOrder,
	market.CommandCancel: deleteOrder}

// placeBody writes the body of POST /order.
func placeBody(m *market.Market, command *market.Command) ([]byte, error) {
	o := &command.Order
	if o.ClientOrderID == uuid.Nil {
		return nil, errors.New("it has no clientOrderId, by which alone its fate could be asked for")
	}
	if o.Side == 0 || o.Type == 0 {
		return nil, errors.New("it has no side or no orderType")
	}
	if (o.Amount > 0) == (o.AmountQuote > 0) {
		return nil, errors.New("it needs either amount or amountQuote")
	}
	w := begin(m)
	w.Text("market", m.Name)
	w.Word("side", o.Side.String())
	w.Word("orderType", o.Type.String())
	w.integer("operatorId", o.OperatorID)
	w.ID("clientOrderId", o.ClientOrderID)
	w.amount("amount", o.Amount)
	w.money("amountQuote", o.AmountQuote)
	if o.Type.HasPrice() {
		w.price("price", o.Price)
	}
	if o.Type.HasTrigger() {
		w.price("triggerAmount", o.TriggerAmount)
		w.Word("triggerType", max(o.TriggerType, market.TriggerPrice).String())
		w.Word("triggerReference", max(o.TriggerReference, market.LastTrade).String())
	}
	w.Word("timeInForce", o.TimeInForce.String())
	if o.Type.HasPrice() {
		w.Boolean("postOnly", o.PostOnly)
	}
	w.Word("selfTradePrevention", o.SelfTradePrevention.String())
	if o.Type != market.TypeMarket { // which may carry no group (venue-facts 3.2)
		w.integer("codGroupId", int64(o.CodGroupID))
	}
	w.Boolean("responseRequired", true)
	return w.end(), nil
}

// updateBody writes the body of PUT /order.
func updateBody(m *market.Market, command *market.Command) ([]byte, error) {
	const sendable = market.ChangeAmount | market.ChangeAmountQuote | market.ChangeAmountRemaining |
		market.ChangePrice | market.ChangeTriggerAmount |
		market.ChangeTimeInForce | market.ChangePostOnly | market.ChangeSelfTradePrevention
	o, set := &command.Order, command.Changed
	if set&sendable == 0 {
		return nil, errors.New("it changes nothing that the exchange knows")
	}
	if o.SelfTradePrevention == 0 {
		return nil, errors.New("its selfTradePrevention is not known, and leaving it out would reset it")
	}
	w := begin(m)
	w.Text("market", m.Name)
	w.name(o)
	w.integer("operatorId", o.OperatorID)
	switch {
	case set.Has(market.ChangeAmountRemaining):
		total, err := market.Add(o.AmountRemaining, o.FilledAmount)
		if err != nil {
			return nil, err
		}
		w.amount("amount", total)
	case set.Has(market.ChangeAmount):
		w.amount("amount", o.Amount)
	case set.Has(market.ChangeAmountQuote):
		w.money("amountQuote", o.AmountQuote)
	}
	if set.Has(market.ChangePrice) {
		w.price("price", o.Price)
	}
	if set.Has(market.ChangeTriggerAmount) {
		w.price("triggerAmount", o.TriggerAmount)
	}
	if set.Has(market.ChangeTimeInForce) && !o.Triggered {
		w.Word("timeInForce", o.TimeInForce.String())
	}
	w.Word("selfTradePrevention", o.SelfTradePrevention.String())
	w.Boolean("postOnly", o.PostOnly)
	w.Boolean("responseRequired", true)
	return w.end(), nil
}

// named adds the id that names an order.
func named(q query, clientOrderID, orderID uuid.UUID) query {
	if clientOrderID != uuid.Nil {
		return q.with("clientOrderId", clientOrderID.String())
	}
	return q.with("orderId", orderID.String())
}

// laneOf is the urgency of an intent: cancels first, then exits of brackets, the sales in their
// place, and stop orders, whether placed or changed.
func laneOf(intent *exchange.Intent) Lane {
	switch {
	case intent.Command == market.CommandCancel && intent.Last:
		return LastCancel
	case intent.Command == market.CommandCancel:
		return Cancel
	case intent.Exit, bytes.Contains(intent.Body, []byte(`"orderType":"stopLoss`)),
		intent.Command == market.CommandUpdate && bytes.Contains(intent.Body, []byte(`"triggerAmount":`)):
		return Protective
	}
	return Order
}
