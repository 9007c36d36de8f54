package sim

import (
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// revise carries out an update or a cancel that has arrived.
func (v *matching) revise(b *book, c *market.Command, from *origin) {
	switch c.Kind {
	case market.CommandUpdate:
		v.update(b, c, from)
	case market.CommandCancel:
		v.cancel(b, c, from)
	}
}

// place admits a new order or refuses it, and lists it among the open ones; accept gives an
// admitted order its place.
func (v *matching) place(b *book, o *order, from *origin, point int) (admitted bool) {
	if _, admitted = v.admit(b, o, from, point); admitted {
		v.orders.Put(o.ID, o)
		if o.Type != market.TypeMarket {
			o.in.open++
		}
	}
	return admitted
}

// admit accepts a new order and holds its funds, or refuses it. point is the point of the path at
// which the price stands, or anywhere. reference is the price that an order at market would pay or
// get.
func (v *matching) admit(b *book, o *order, from *origin, point int) (reference market.Price, admitted bool) {
	o.belongTo(from.account)
	o.sequence, o.level = from.sequence, b.last
	if point > 0 && o.Type == market.TypeMarket {
		o.level = b.priceAt(from.at, point, o.Side, b.market.TickSize)
	}
	o.AmountRemaining, o.AmountQuoteRemaining = o.Amount, o.AmountQuote
	reference = o.level
	if o.Type == market.TypeMarket { // only such an order has no price of its own
		_, reference = b.taken(o.Side, o.level)
	}
	hold, refused := exchange.CheckPlace(b.market, &o.Order, v.facts(b, o, reference))
	if refused != nil {
		v.orders.spare = append(v.orders.spare, o)
		v.reject(b, market.CommandPlace, o.ID, refused)
		return 0, false
	}
	b.placed++
	setName(&o.ExchangeID, b.market.ID, 1, b.placed)
	o.Status = market.StatusNew
	o.Created, o.Updated = b.time, b.time
	o.Visible = true
	o.FeeCurrency, o.OnHoldCurrency = b.market.Quote, exchange.HoldAsset(b.market, o.Side)
	o.hold(hold)
	return reference, true
}

// accept gives an admitted or updated order its place: it waits for its trigger, rests while
// nothing matches, or takes. exec is the report to send when it comes to rest, 0 for none.
func (v *matching) accept(b *book, o *order, exec market.ExecutionType) {
	o.aside, o.Visible = false, true
	if waitsForTrigger(&o.Order) {
		if v.awaitTrigger(b, o, exec) {
			return
		}
		o.Triggered = true
		if b.bids != nil && exec == market.ExecUpdated {
			v.announce(b, o, exec)
			exec = market.ExecTriggered
		}
		if exec == market.ExecNew {
			exec = market.ExecTriggered
		}
	}
	switch {
	case b.market.Status != market.Trading:
		v.restOpen(b, o, exec)
	case v.config.PlacementLimit != 0 && v.config.tooFar(b, o):
		v.end(b, o, market.StatusCanceled, market.CancelOnPlacementPriceProtection)
	case v.late:
		v.standAside(b, o, exec)
	default:
		o.exec = exec
		b.enqueue(o)
	}
}

// awaitTrigger lets an order wait for its trigger. It reports whether it does: a trigger that the
// price has met already fires at once.
func (v *matching) awaitTrigger(b *book, o *order, exec market.ExecutionType) bool {
	if b.market.Status == market.Trading {
		if b.requote(); b.isMet(o) {
			return false
		}
	}
	o.Status = market.StatusAwaitingTrigger
	v.rest(b, o)
	if exec != 0 {
		v.emit(b, o, exec, 0)
	}
	return true
}

// enqueue adds an order to the takers, once: it may be updated twice at an instant.
func (b *book) enqueue(o *order) {
	if !o.taking {
		o.taking = true
		b.takers = append(b.takers, o)
	}
}

// restOpen puts a limit order on the book.
func (v *matching) restOpen(b *book, o *order, exec market.ExecutionType) {
	o.Status = market.StatusNew
	if o.FilledAmount > 0 {
		o.Status = market.StatusPartiallyFilled
	}
	v.rest(b, o)
	o.exec = 0 // reported here
	if exec != 0 {
		v.emit(b, o, exec, 0)
	}
}

// tooFar reports whether placement price protection cancels the order: its price is too far through
// the market.
func (c *Config) tooFar(b *book, o *order) bool {
	limit := c.PlacementLimit
	if !o.Type.HasPrice() || b.last == 0 {
		return false
	}
	if o.Side == market.Buy {
		return o.Price > exchange.AddSaturating(b.last, exchange.Share(b.last, limit))
	}
	return o.Price < b.last-exchange.Share(b.last, limit)
}

// facts is the state of an order's account at its arrival.
func (v *matching) facts(b *book, o *order, reference market.Price) *exchange.Facts {
	in, f := o.in, &v.fact
	f.Reference, f.Open, f.Available, f.Fees, f.HoldLater = reference, in.open, in.held[o.Side].Available(), in.fees,
		v.config.HoldLater
	return f
}

// update changes an open order (specification 4.4): it keeps id and created, leaves the book, and
// comes back as the youngest.
func (v *matching) update(b *book, c *market.Command, from *origin) {
	o := v.orders.orderIn(b, c, from.account)
	if o == nil {
		v.reject(b, c.Kind, c.Order.ID, exchange.ErrCode(exchange.CodeNotFound))
		return
	}
	facts := v.facts(b, o, b.last)
	facts.Available += o.OnHold
	if refused := exchange.CheckUpdate(b.market, &o.Order, c, facts, &v.changed); refused != nil {
		v.reject(b, c.Kind, c.Order.ID, refused)
		return
	}
	b.leave(o)
	hold := v.changed.OnHold
	v.changed.OnHold = o.OnHold
	o.Order = v.changed
	o.hold(hold)
	o.sequence = from.sequence
	o.level = b.last
	v.accept(b, o, market.ExecUpdated)
}

// orderIn returns the open order that a command names if it is one of the account's in the book's
// market, or nil.
func (r *register) orderIn(b *book, c *market.Command, a *account) *order {
	if o := r.Get(c.Order.ID); o != nil && o.Market == b.market.ID && o.account == a {
		return o
	}
	return nil
}

// cancel ends an open order.
func (v *matching) cancel(b *book, c *market.Command, from *origin) {
	o := v.orders.orderIn(b, c, from.account)
	refused := exchange.CheckCancel(b.market)
	if refused == nil && o == nil {
		refused = exchange.ErrCode(exchange.CodeNotFound)
	}
	if refused != nil {
		v.reject(b, c.Kind, c.Order.ID, refused)
		return
	}
	v.end(b, o, market.StatusCanceled, 0)
}

// Cancel ends an open order for a reason of the service's own: maintenance, disconnect, delisting,
// a request of the administrator. at is when, as far as the market's time has not passed it. It
// reports whether the order was open.
func (v *Venue) Cancel(id market.OrderID, at market.Time, reason market.RestatementReason) bool {
	o := v.orders.Get(id)
	if o == nil {
		return false
	}
	b := &v.books[o.Market]
	b.time = max(b.time, at)
	v.end(b, o, market.StatusCanceled, reason)
	v.fireTriggers(b)
	b.setQuietRange()
	return true
}

// match trades the orders that have arrived, oldest first.
func (v *matching) match(b *book) {
	switch len(b.takers) {
	case 0:
	case 1:
		o := b.takers[0]
		b.takers = b.takers[:0] // a fill on the way may bring more orders to match
		o.taking = false
		v.take(b, o, o.level)
	default:
		v.matchMany(b)
	}
	v.arriveAttached(b)
	v.fireTriggers(b)
}

// matchMany is match for more than one order.
func (v *matching) matchMany(b *book) {
	takers := b.takers
	b.takers, b.spareTakers = b.spareTakers[:0], nil // nil: a fill on the way may bring more orders to match
	if !slices.IsSortedFunc(takers, byArrival) {
		slices.SortFunc(takers, byArrival)
	}
	for _, o := range takers {
		o.taking = false
		v.take(b, o, o.level)
	}
	b.spareTakers = takers[:0]
}

func byArrival(x, y *order) int { return int(x.sequence - y.sequence) }

// fire fires a trigger with the path at price.
func (v *matching) fire(b *book, o *order, price market.Price) {
	b.leave(o)
	o.Triggered = true
	o.exec = market.ExecTriggered
	if b.bids != nil { // its time in the book begins now
		v.sequence++
		o.sequence = v.sequence
	}
	v.take(b, o, price)
}

// take trades an order against the market with the path at price. The rest of it rests, or ends as
// its type and time in force demand.
func (v *matching) take(b *book, o *order, price market.Price) {
	if o.Done() { // ended by another order of the same moment
		return
	}
	switch {
	case b.bids != nil:
		v.takeBook(b, o)
		return
	case b.shown != nil:
		v.takeShown(b, o)
		return
	}
	if v.config.LimitFill == Queue && !o.weighed {
		o.weighed = true
		v.counts.Blind++
	}
	offered, paid := b.taken(o.Side, price)
	matches := !o.Type.HasPrice() || crosses(o.Side, o.Price, offered)
	if o.PostOnly && (matches || b.crossing(o, o.Price) != nil) {
		v.end(b, o, market.StatusCanceled, market.CancelPostOnly)
		return
	}
	if matches && !v.takeMarket(b, o, offered, paid) {
		return
	}
	o.met = !matches && !o.PostOnly && b.quotedOn(o.Side) == 0 && crosses(o.Side, o.Price, price)
	v.settleRest(b, o)
}

// takeMarket trades an order at the price that a taker pays, as far as volume and funds allow, and
// reports whether a part of it is left.
func (v *matching) takeMarket(b *book, o *order, offered, paid market.Price) bool {
	if b.empty() && o.Type == market.TypeMarket && !o.ByQuote() && v.fillWhole(b, o, paid) {
		v.emit(b, o, market.ExecTrade, 1)
		return false
	}
	if !b.empty() && !v.preventSelfTrade(b, o, offered) {
		return false
	}
	if o.Type.HasPrice() {
		paid = better(o.Side, paid, o.Price)
	}
	amount, err := o.wanted(b.market, paid)
	if err != nil {
		v.fail(o, err)
		return false
	}
	if o.TimeInForce == market.FOK && amount > b.volume {
		return true
	}
	if amount = min(amount, b.volume); amount > 0 {
		b.filled++
		v.trade(b, o, paid, amount, true)
	}
	return !o.Done()
}

// wanted is the base that an order still wants at a price. A triggered market buy that the balance
// no longer covers wants nothing: its hold was made at the trigger price, and the market has moved
// away.
func (o *order) wanted(m *market.Market, price market.Price) (market.Qty, error) {
	switch {
	case o.ByQuote() && o.Side == market.Buy:
		return exchange.BaseForMoney(m, o.AmountQuoteRemaining, price, o.fees().Taker), nil
	case o.ByQuote():
		amount, err := o.remainingBase(m, price)
		if available := o.in.held[market.Sell].Available() + o.OnHold; market.Money(amount) > available {
			return 0, err
		}
		return amount, err
	case o.Side == market.Sell || o.Type.HasPrice() || o.Type == market.TypeMarket: // held in full at admission
		return o.AmountRemaining, nil
	}
	cost, err := exchange.Cost(m, price, o.AmountRemaining, o.fees().Taker)
	if err != nil || cost > o.spendable() { // a cost that overflows is more than any balance
		return 0, nil
	}
	return o.AmountRemaining, nil
}

// settleRest lets the rest of an order rest in the book, or ends it.
func (v *matching) settleRest(b *book, o *order) {
	if b.bids == nil && o.Type.HasPrice() && o.TimeInForce != market.FOK && !v.preventSelfTrade(b, o, o.Price) {
		return
	}
	if !o.Type.HasPrice() || o.TimeInForce != market.GTC {
		v.end(b, o, market.StatusExpired, 0)
		return
	}
	v.restOpen(b, o, o.exec)
}

// end closes an order.
func (v *matching) end(b *book, o *order, status market.Status, reason market.RestatementReason) {
	if o.owesReport() {
		v.announce(b, o, o.exec)
	}
	b.leave(o)
	o.Status = status
	if reason != 0 {
		o.RestatementReason = reason
	}
	o.hold(0)
	exec := market.ExecCanceled
	if status == market.StatusExpired {
		exec = market.ExecExpired
	}
	v.emit(b, o, exec, 0)
}

// owesReport reports whether a trigger or a decrement waits to be reported. A report of what
// happens next would hide it.
func (o *order) owesReport() bool {
	return o.exec == market.ExecTriggered || o.exec == market.ExecRestated
}

// announce reports what has happened to an order of a Book before more happens to it
// (websocket-facts 6): the order is on its way, not in the book. A Path has one report for both.
func (v *matching) announce(b *book, o *order, exec market.ExecutionType) {
	if b.bids == nil {
		return
	}
	if exec == market.ExecTriggered {
		o.Status = market.StatusNew
	}
	o.exec, o.Visible = 0, false
	v.emit(b, o, exec, 0)
	o.Visible = true
}

// quotedOn is the ticker's price for a taker of that side; 0: there is none.
func (b *book) quotedOn(side market.Side) market.Price {
	if side == market.Buy {
		return b.ask
	}
	return b.bid
}

// taken is the price that is offered to a taker, and the one that it pays or gets: the offered
// price and the slippage, or half the spread and the slippage around the path.
func (b *book) taken(side market.Side, price market.Price) (offered, paid market.Price) {
	if b.bids == nil && b.shown == nil {
		if offered = b.quotedOn(side); offered == 0 {
			return b.spread.Offered(side, price), b.spread.Paid(side, price, b.market.TickSize)
		}
	} else if offered = b.firstOffer(side).price; offered == 0 {
		offered = price
	}
	return offered, b.spread.Taken(side, offered)
}

// crosses reports whether a limit of that side accepts the offered price.
func crosses(side market.Side, limit, offered market.Price) bool {
	if side == market.Buy {
		return limit >= offered
	}
	return limit <= offered
}
