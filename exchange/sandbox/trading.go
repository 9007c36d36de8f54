package sandbox

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// postOrder is POST /order (specification 4.1). The order of its checks: the value of a parameter
// (429, 210, 211, 205), a trigger's parameter without a trigger (202), a clientOrderId in use
// (220); then those of the venue: the market's status, the fields of the type, tick and decimals,
// size, number of open orders, balance.
func (ex *Exchange) postOrder(c *api.Call) *exchange.Error {
	m := ex.catalog.MarketNamed(c.Text("market"))
	ex.command = market.Command{Kind: market.CommandPlace, At: c.Now}
	t := terms{Call: c, m: m, reference: cmp.Or(ex.config.Rules.TriggerReference, market.LastTrade)}
	t.order(&ex.command.Order)
	if t.refused != nil {
		return t.refused
	}
	named := ex.accounts.caller(c).recordsOf(m.ID).named[c.UUID("clientOrderId")]
	if c.Has("clientOrderId") && named != nil && !named.closed() { // specification 2.5
		return exchange.ErrCode(exchange.CodeDuplicateClientOrderID)
	}
	ex.sequence++
	ex.command.Order.ID, ex.latest = ex.sequence, nil
	if refused := ex.perform(c); refused != nil {
		return refused
	}
	placed := ex.latest
	switch {
	case c.Flag("responseRequired", true):
		ex.appendOrder(c, placed, placed.fills())
	case ex.config.Rules.ShortCreate:
		c.Out = exchange.AppendShortOrder(c.Out, ex.catalog, ex.orderOf(placed))
	}
	return nil
}

// putOrder is PUT /order (specification 4.4). The order of its checks: the value of a parameter,
// the order (203, 240, 234); then those of the venue: the market's status, nothing changed (232),
// fields that do not go together (236, 239, 202), and the refusals of POST. The answer names the
// operator of this request and has the fills of this request alone.
func (ex *Exchange) putOrder(c *api.Call) *exchange.Error {
	m := ex.catalog.MarketNamed(c.Text("market"))
	ex.command = market.Command{Kind: market.CommandUpdate, At: c.Now, Order: market.Order{Market: m.ID}}
	t := terms{Call: c, m: m}
	t.update(&ex.command)
	if t.refused != nil {
		return t.refused
	}
	r, refused := ex.find(c, m.ID)
	if refused != nil {
		return refused
	}
	if r.closed() {
		return closedToChange(r)
	}
	mark := r.filled()
	ex.command.Order.ID, ex.command.Order.Type = r.id, ex.orderOf(r).Type
	if refused = ex.perform(c); refused != nil {
		return refused
	}
	if !c.Flag("responseRequired", true) {
		c.Out = exchange.AppendShortOrder(c.Out, ex.catalog, ex.orderOf(r))
		return nil
	}
	ex.describe(r, c.Now, r.fillsFrom(mark))
	ex.view.OperatorID = c.Integer("operatorId", 0)
	c.Out = exchange.AppendOrder(c.Out, ex.catalog, &ex.view, ex.viewed)
	return nil
}

// closedToChange is the refusal to update an order that has ended: a market order never could have
// been.
func closedToChange(r *record) *exchange.Error {
	if r.history.order.Type == market.TypeMarket {
		return exchange.ErrCode(exchange.CodeMarketOrderUpdate)
	}
	return exchange.ErrCode(exchange.CodeNotFound)
}

// getOrder is GET /order (specification 4.2), with all fills.
func (ex *Exchange) getOrder(c *api.Call) *exchange.Error {
	r, refused := ex.find(c, ex.catalog.MarketNamed(c.Text("market")).ID)
	if refused != nil {
		return refused
	}
	ex.appendOrder(c, r, r.fills())
	return nil
}

// deleteOrder is DELETE /order (venue-facts 1.3): 203 without an id, 240 for an order that is not
// there or has ended, 423 in a market that is halted.
func (ex *Exchange) deleteOrder(c *api.Call) *exchange.Error {
	m := ex.catalog.MarketNamed(c.Text("market"))
	r, refused := ex.find(c, m.ID)
	if refused != nil {
		return refused
	}
	if r.closed() {
		return exchange.ErrCode(exchange.CodeNotFound)
	}
	if refused = ex.cancel(c, r); refused != nil {
		return refused
	}
	ended := ex.orderOf(r)
	c.Out = append(c.Out, `{"orderId":"`...)
	c.Out = append(c.Out, ended.ExchangeID.String()...)
	if ended.ClientOrderID != uuid.Nil {
		c.Out = append(c.Out, `","clientOrderId":"`...)
		c.Out = append(c.Out, ended.ClientOrderID.String()...)
	}
	c.Out = append(appendOperator(append(c.Out, '"'), c), '}')
	return nil
}

// deleteOrders is DELETE /orders (specification 1): it cancels the open orders of the account in
// one market or in all, oldest first. A halted market is refused with 423; without a market in the
// request, halted markets keep their orders. The answer names each order's market if the request
// did not: an orderId is unique in its market only (specification 2.1).
func (ex *Exchange) deleteOrders(c *api.Call) *exchange.Error {
	ended := new(snapshot[cancelledOrder])
	for _, m := range ex.catalog.Markets() {
		if c.Has("market") && m.Name != c.Text("market") {
			continue
		}
		halted := exchange.CheckCancel(m)
		if halted != nil && c.Has("market") {
			return halted
		}
		if halted != nil {
			continue
		}
		open := &ex.accounts.caller(c).recordsOf(m.ID).open
		for r := open.oldest; r != nil; r = open.oldest { // a cancel may fire triggers, which end others
			if refused := ex.cancel(c, r); refused != nil {
				return refused
			}
			*ended.add() = cancelledOrder{m, ex.orderOf(r).ExchangeID}
		}
	}
	c.More = ended.list(func(dst []byte, o *cancelledOrder) []byte { return o.append(dst, c) })
	return nil
}

// deleteAtomicOrders is DELETE /atomic/orders (venue-facts 1.3): it cancels all open orders of the
// account on one side of a market, or none of them in a halted market. Each cancel may fire
// triggers by the best price. So orders that wait for their triggers go first, then the resting
// ones from the worst price to the best: the best price moves when none of them is left.
func (ex *Exchange) deleteAtomicOrders(c *api.Call) *exchange.Error {
	m := ex.catalog.MarketNamed(c.Text("market"))
	if refused := exchange.CheckCancel(m); refused != nil {
		return refused
	}
	var open []*record
	for r := ex.accounts.caller(c).recordsOf(m.ID).open.oldest; r != nil; r = r.links[byState].newer {
		if ex.orderOf(r).Side.String() == c.Text("side") {
			open = append(open, r)
		}
	}
	slices.SortStableFunc(open, func(a, b *record) int { return worseFirst(ex.orderOf(a), ex.orderOf(b)) })
	ended := new(snapshot[cancelledOrder])
	for _, r := range open {
		if refused := ex.cancel(c, r); refused != nil {
			return refused
		}
		*ended.add() = cancelledOrder{m, ex.orderOf(r).ExchangeID}
	}
	c.More = ended.list(func(dst []byte, o *cancelledOrder) []byte { return o.append(dst, c) })
	return nil
}

// worseFirst sorts open orders of one side: those that wait for their triggers first, then from
// the worst price to the best.
func worseFirst(a, b *market.Order) int {
	switch waits, other := a.Status == market.StatusAwaitingTrigger, b.Status == market.StatusAwaitingTrigger; {
	case waits && !other:
		return -1
	case other && !waits:
		return 1
	case a.Side == market.Buy:
		return cmp.Compare(a.Price, b.Price)
	}
	return cmp.Compare(b.Price, a.Price)
}

// cancelledOrder is an element of the answer of DELETE /orders.
type cancelledOrder struct {
	market *market.Market
	id     uuid.UUID
}

// append appends the element to the answer of a call.
func (o *cancelledOrder) append(dst []byte, c *api.Call) []byte {
	w := wire.Writer{Dst: append(dst, '{')}
	w.ID("orderId", o.id)
	w.Dst = appendOperator(w.Dst, c)
	if !c.Has("market") {
		w.Text("market", o.market.Name)
	}
	return append(w.Dst, '}')
}

// appendOperator appends the operatorId of a request as a further member, where it was sent.
func appendOperator(dst []byte, c *api.Call) []byte {
	if !c.Has("operatorId") {
		return dst
	}
	return strconv.AppendInt(append(dst, `,"operatorId":`...), c.Integer("operatorId", 0), 10)
}

// cancel cancels an open order of the account for the client.
func (ex *Exchange) cancel(c *api.Call, r *record) *exchange.Error {
	ex.command = market.Command{Kind: market.CommandCancel, At: c.Now, Order: market.Order{ID: r.id, Market: r.market}}
	return ex.perform(c)
}

// perform carries out ex.command at the venue.
func (ex *Exchange) perform(c *api.Call) *exchange.Error {
	var refused *exchange.Error
	var err error
	if c.FillLater > 0 {
		refused, err = ex.venue.SubmitLate(ex.accounts.caller(c).id, c.Now, &ex.command)
		ex.late.add(lateOrder{At: later(c.Now, c.FillLater), Order: ex.command.Order.ID, Settle: c.SettleLater})
	} else {
		refused, err = ex.venue.Submit(ex.accounts.caller(c).id, c.Now, &ex.command)
	}
	switch {
	case err != nil:
		return exchange.ErrCode(exchange.CodeUnknownResult)
	case refused != nil:
		return detailed(refused, ex.catalog, &ex.command.Order)
	}
	return nil
}
