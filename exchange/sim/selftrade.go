package sim

import "github.com/tidemark-trading/tidemark/market"

// preventSelfTrade resolves the account's own orders on the other side that an incoming order would
// meet at prices up to best. The incoming order's mode decides (specification 4.4). It reports
// whether the incoming order is still alive.
func (v *matching) preventSelfTrade(b *book, o *order, best market.Price) bool {
	for !o.Done() {
		resting := b.crossing(o, best)
		if resting == nil {
			return true
		}
		v.resolve(b, o, resting)
	}
	return false
}

// resolve keeps an incoming order from trading with a resting one of its account, as its mode says.
func (v *matching) resolve(b *book, o, resting *order) {
	switch o.SelfTradePrevention {
	case market.CancelNewest:
		v.end(b, o, market.StatusCanceled, market.CancelOnSelfTradePrevention)
	case market.CancelOldest:
		v.end(b, resting, market.StatusCanceled, market.CancelOnSelfTradePrevention)
	case market.CancelBoth:
		v.end(b, resting, market.StatusCanceled, market.CancelOnSelfTradePrevention)
		v.end(b, o, market.StatusCanceled, market.CancelOnSelfTradePrevention)
	default:
		v.decrement(b, o, resting)
	}
}

// crossing returns the best own resting order that an order would meet at prices up to best, or
// nil.
func (b *book) crossing(o *order, best market.Price) *order {
	l := &b.above
	if o.Side == market.Sell {
		l = &b.below
	}
	next := l.limits.next()
	if len(b.missing.orders) > 0 {
		next = l.limits.best()
	}
	if next != nil && crosses(o.Side, best, next.order.Price) {
		return next.order
	}
	return nil
}

// decrement reduces both orders by the smaller one and cancels an order that reaches zero. An
// incoming order that cannot pay for any amount at that price expires, and the other stays.
func (v *matching) decrement(b *book, o, resting *order) {
	if o.exec != 0 {
		v.announce(b, o, o.exec)
	}
	wanted, err := o.wanted(b.market, resting.Price)
	if err != nil {
		v.fail(o, err)
		return
	}
	if wanted == 0 {
		v.end(b, o, market.StatusExpired, 0)
		return
	}
	amount := min(wanted, resting.AmountRemaining)
	v.reduce(b, resting, amount, resting.Price, amount == resting.AmountRemaining)
	v.reduce(b, o, amount, resting.Price, amount == wanted)
}

// reduce subtracts amount from an order; empty says that nothing is left of it.
func (v *matching) reduce(b *book, o *order, amount market.Qty, price market.Price, empty bool) {
	if empty {
		v.end(b, o, market.StatusCanceled, market.CancelOnSelfTradePrevention)
		return
	}
	if err := o.shrink(b.market, amount, price); err != nil {
		v.fail(o, err)
		return
	}
	o.holdRest(b.market, price)
	o.RestatementReason = market.DecrementOnSelfTradePrevention
	switch {
	case o.resting:
		v.emit(b, o, market.ExecRestated, 0)
	case o.exec == 0:
		o.exec = market.ExecRestated // a triggered order has had its report: the change needs another
	}
}

// shrink subtracts an amount, or its value at a price, from the size of an order; a part of it
// stays.
func (o *order) shrink(m *market.Market, amount market.Qty, price market.Price) error {
	if !o.ByQuote() {
		o.Amount -= amount
		o.AmountRemaining -= amount
		return nil
	}
	value, err := m.Value(price, amount)
	if err != nil {
		return err
	}
	money, err := value.CeilMoney(m.MoneyDrop())
	if err != nil {
		return err
	}
	money = min(money, o.AmountQuoteRemaining-1)
	o.AmountQuote -= money
	o.AmountQuoteRemaining -= money
	return nil
}
