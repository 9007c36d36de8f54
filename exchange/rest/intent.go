package rest

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Intent is one command as it will be sent: everything but the signature, so that it can be journalled before. Lane and Weight may be
// changed before it is sent; anything else makes it another intent. It holds no secret.
type Intent struct {
	Kind          market.CommandKind
	Order         market.OrderID // ours; 0: a foreign order
	Market        market.ID
	ClientOrderID uuid.UUID // zero: the order is named by OrderID alone
	ExchangeID    uuid.UUID // zero where a ClientOrderID names the order, and for a new one

	Method    string // POST, PUT or DELETE
	Path      string // as on the wire: with /v2 and query
	Body      []byte // nil for a cancel
	Timestamp int64  // Unix milliseconds on the exchange's clock
	Window    int64  // milliseconds after Timestamp in which the exchange may carry it out
	Weight    int    // points
	Lane      Lane
}

// Deadline returns the end of the window on the exchange's clock: later than this the exchange does not begin to carry the intent out.
func (i *Intent) Deadline() market.Time {
	t, err := market.TimeOfMillis(i.Timestamp + i.Window)
	if err != nil {
		return 0
	}
	return t
}

// Prepare makes the intent of a command, to be signed with the exchange's time at (Now). Its order is named by ClientOrderID or, where
// that is zero, by ExchangeID, and carries the OperatorID of the request.
//
//   - Place (specification 4.1): Order is the whole order. responseRequired is true.
//   - Update (specification 4.4): Order is the whole order as it shall be and Changed what of it is new. postOnly and
//     selfTradePrevention are always sent, for leaving them out would reset them; timeInForce is left out once the trigger has fired;
//     a new AmountRemaining is sent as the amount that it comes to with FilledAmount. responseRequired is true.
//   - Cancel (specification 1, venue-facts 1.3).
//
// It refuses what cannot be right (no name, no operatorId, nothing to change), and checks no rule of the market: that is the gate's.
func (c *Client) Prepare(command *market.Command, at market.Time) (Intent, error) {
	intent, err := c.prepare(command, at)
	if err != nil {
		return Intent{}, fmt.Errorf("prepare %s of order %d: %w", command.Kind, command.Order.ID, err)
	}
	return intent, nil
}

func (c *Client) prepare(command *market.Command, at market.Time) (Intent, error) {
	o := &command.Order
	d, err := c.directory()
	if err != nil {
		return Intent{}, err
	}
	m, err := d.marketOf(o.Market)
	if err != nil {
		return Intent{}, err
	}
	switch {
	case o.OperatorID == 0:
		return Intent{}, errors.New("it has no operatorId")
	case at <= 0:
		return Intent{}, fmt.Errorf("%s is no time to sign with", at)
	}
	intent := Intent{Kind: command.Kind, Order: o.ID, Market: o.Market, ClientOrderID: o.ClientOrderID,
		Timestamp: at.Millis(), Window: int64(c.config.Window / time.Millisecond)}
	if o.ClientOrderID == uuid.Nil {
		intent.ExchangeID = o.ExchangeID
	}
	if command.Kind != market.CommandPlace && intent.ClientOrderID == uuid.Nil && intent.ExchangeID == uuid.Nil {
		return Intent{}, errors.New("neither clientOrderId nor orderId names it")
	}
	switch command.Kind {
	case market.CommandPlace:
		err = c.place(&intent, m, command)
	case market.CommandUpdate:
		err = c.update(&intent, m, command)
	case market.CommandCancel:
		c.cancel(&intent, m, o.OperatorID)
	default:
		err = errors.New("a command of that kind does not go to the exchange")
	}
	return intent, err
}

// commands are the endpoints of the kinds of commands.
var commands = map[market.CommandKind]endpoint{market.CommandPlace: postOrder, market.CommandUpdate: putOrder, market.CommandCancel: deleteOrder}

// address fills in where the intent goes.
func (c *Client) address(intent *Intent, method, path string, lane Lane) {
	at := commands[intent.Kind]
	intent.Method, intent.Path, intent.Lane, intent.Weight = method, path, lane, c.weights[at].of(false)
}

func (c *Client) place(intent *Intent, m *market.Market, command *market.Command) error {
	o := &command.Order
	if o.ClientOrderID == uuid.Nil {
		return errors.New("it has no clientOrderId, by which alone its fate could be asked for")
	}
	if o.Side == 0 || o.Type == 0 {
		return errors.New("it has no side or no orderType")
	}
	if (o.Amount > 0) == (o.AmountQuote > 0) {
		return errors.New("it needs either amount or amountQuote")
	}
	c.address(intent, "POST", version+"/order", laneOf(command))
	w := begin(m)
	w.text("market", m.Name)
	w.text("side", o.Side.String())
	w.text("orderType", o.Type.String())
	w.integer("operatorId", o.OperatorID)
	w.id("clientOrderId", o.ClientOrderID)
	w.amount("amount", o.Amount)
	w.money("amountQuote", o.AmountQuote)
	if o.Type.HasPrice() {
		w.price("price", o.Price)
	}
	if o.Type.HasTrigger() {
		w.price("triggerAmount", o.TriggerAmount)
		w.text("triggerType", max(o.TriggerType, market.TriggerPrice).String())
		w.text("triggerReference", max(o.TriggerReference, market.LastTrade).String())
	}
	w.text("timeInForce", o.TimeInForce.String())
	if o.Type.HasPrice() {
		w.boolean("postOnly", o.PostOnly)
	}
	w.text("selfTradePrevention", o.SelfTradePrevention.String())
	if o.Type != market.TypeMarket { // which may carry no group (venue-facts 3.2)
		w.integer("codGroupId", int64(o.CodGroupID))
	}
	w.boolean("responseRequired", true)
	intent.Body = w.end()
	return nil
}

func (c *Client) update(intent *Intent, m *market.Market, command *market.Command) error {
	const sendable = market.ChangeAmount | market.ChangeAmountQuote | market.ChangeAmountRemaining | market.ChangePrice | market.ChangeTriggerAmount |
		market.ChangeTimeInForce | market.ChangePostOnly | market.ChangeSelfTradePrevention
	o, set := &command.Order, command.Changed
	if set&sendable == 0 {
		return errors.New("it changes nothing that the exchange knows")
	}
	if o.SelfTradePrevention == 0 {
		return errors.New("its selfTradePrevention is not known, and leaving it out would reset it")
	}
	c.address(intent, "PUT", version+"/order", laneOf(command))
	w := begin(m)
	w.text("market", m.Name)
	w.name(intent)
	w.integer("operatorId", o.OperatorID)
	switch {
	case set.Has(market.ChangeAmountRemaining):
		total, err := market.Add(o.AmountRemaining, o.FilledAmount)
		if err != nil {
			return err
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
		w.text("timeInForce", o.TimeInForce.String())
	}
	w.text("selfTradePrevention", o.SelfTradePrevention.String())
	w.boolean("postOnly", o.PostOnly)
	w.boolean("responseRequired", true)
	intent.Body = w.end()
	return nil
}

func (c *Client) cancel(intent *Intent, m *market.Market, operator int64) {
	path := named(to("order").with("market", m.Name), intent.ClientOrderID, intent.ExchangeID)
	c.address(intent, "DELETE", path.with("operatorId", strconv.FormatInt(operator, 10)).String(), Cancel)
}

// named adds the one id by which an order is named.
func named(q query, clientOrderID, orderID uuid.UUID) query {
	if clientOrderID != uuid.Nil {
		return q.with("clientOrderId", clientOrderID.String())
	}
	return q.with("orderId", orderID.String())
}

// laneOf says how urgent a place or an update is: exits protect, everything else may wait for them.
func laneOf(command *market.Command) Lane {
	if command.Attached || command.Order.Type.IsStop() {
		return Protective
	}
	return Order
}
