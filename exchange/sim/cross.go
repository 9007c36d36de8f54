package sim

import (
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// offer is one offer that a taker meets in a Book: an order of an account, or a level of the house.
type offer struct {
	price   market.Price // 0: no offer
	amount  market.Qty
	resting *order // nil: the house
	place   int    // of the house's level
	rung    *rung  // a level of a recorded book
}

// opposite returns the side that a taker takes from.
func (b *book) opposite(taker market.Side) *depth {
	if taker == market.Buy {
		return b.asks
	}
	return b.bids
}

// offered returns the best offer for a taker of that side: the better price, and at equal prices
// the older.
func (v *Venue) offered(b *book, taker market.Side) offer {
	house := v.liquidityFrom(b, taker, 0)
	l := b.opposite(taker).first
	if l == nil || !b.ahead(l.first, house.price) {
		return house
	}
	return offer{price: l.price, amount: l.first.AmountRemaining, resting: l.first}
}

// firstOffer is offered, or of a market that stands in a recorded book its best level.
func (v *Venue) firstOffer(b *book, taker market.Side) offer {
	if b.shown != nil {
		return b.shown.offered(taker)
	}
	return v.offered(b, taker)
}

// ahead reports whether a taker meets a resting order before the house's level at a price, 0 for
// none.
func (b *book) ahead(resting *order, house market.Price) bool {
	if resting.Price == house {
		return resting.sequence < b.liquidity.sequence
	}
	return house == 0 || crosses(resting.Side, resting.Price, house)
}

// takeBook trades an order against the book: price by price, at each price in the order of arrival.
// The rest of it stays in the book, or ends as its type and time in force demand.
func (v *Venue) takeBook(b *book, o *order) {
	best := v.offered(b, o.Side)
	switch {
	case o.PostOnly && o.accepts(best.price):
		v.end(b, o, market.StatusCanceled, market.CancelPostOnly)
		return
	case !o.Type.HasPrice() && v.tooWide(b):
		v.end(b, o, market.StatusCanceled, market.CancelOnSpreadProtection)
		return
	case o.TimeInForce == market.FOK && v.endsUnfilled(b, o):
		return
	}
	reference := b.last
	for at := best; v.err == nil && o.accepts(at.price); at = v.offered(b, o.Side) {
		if at.resting != nil && at.resting.account == o.account {
			v.resolve(b, o, at.resting)
		} else if reason := v.protection(o.Side, best.price, reference, at.price); reason != 0 {
			v.end(b, o, market.StatusCanceled, reason)
		} else if !v.meet(b, o, &at) {
			break
		}
		if o.Done() {
			return
		}
	}
	if v.err == nil && !o.Done() { // dust fills an order
		v.settleRest(b, o)
	}
}

// accepts reports whether an order trades at an offered price; 0 is no offer.
func (o *order) accepts(price market.Price) bool {
	return price != 0 && (!o.Type.HasPrice() || crosses(o.Side, o.Price, price))
}

// meet trades with one offer and reports whether it had an effect. An order whose numbers the trade
// would overflow expires.
func (v *Venue) meet(b *book, o *order, at *offer) bool {
	amount, err := v.wantedOf(b, o, at.price)
	if err != nil {
		v.fail(o, err)
		return false
	}
	amount = min(amount, at.amount)
	if amount == 0 {
		v.finishDust(b, o, at.price)
		return false
	}
	amount = min(amount, v.room(b, o), v.room(b, at.resting))
	taking := deal{price: at.price, amount: amount, taker: true}
	if err := v.computeDeal(b, o, &taking); err != nil || v.room(b, o) == 0 {
		v.end(b, o, market.StatusExpired, 0)
		return true
	}
	if at.rung != nil {
		b.filled++
		at.rung.own += amount
		v.applyDeal(b, o, &taking)
		return true
	}
	if at.resting == nil {
		b.filled++
		if b.liquidity.Size != 0 {
			b.liquidity.taken[o.Side-1][at.place] += amount
		}
	} else if !v.give(b, at.resting, at.price, amount) {
		return true
	}
	b.last = at.price
	v.applyDeal(b, o, &taking)
	return true
}

// give applies the resting side of a trade, or ends the order, and reports whether it traded.
func (v *Venue) give(b *book, resting *order, price market.Price, amount market.Qty) bool {
	giving := deal{price: price, amount: amount}
	if err := v.computeDeal(b, resting, &giving); err != nil || amount == 0 {
		v.end(b, resting, market.StatusExpired, 0)
		return false
	}
	b.filled++
	v.applyDeal(b, resting, &giving)
	return true
}

// room is the base that a buyer's balance can still take without overflow. Sellers and the house
// have no such limit.
func (v *Venue) room(b *book, o *order) market.Qty {
	if o == nil || o.Side == market.Sell {
		return noCap
	}
	return noCap - market.Qty(o.in.held[market.Sell].Total)
}

// wantedOf is the base that a taker wants at a price and can pay for there: in a book, unlike on a
// path, the next level can be dearer than the price of the hold.
func (v *Venue) wantedOf(b *book, o *order, price market.Price) (market.Qty, error) {
	if o.Side == market.Sell || o.ByQuote() || o.Type.HasPrice() {
		return v.wanted(b, o, price)
	}
	payable := exchange.BaseForMoney(b.market, v.spendable(o), price, o.fees().Taker)
	if payable < o.AmountRemaining && o.FilledAmount == 0 {
		return 0, nil // the market has moved away from the price of the hold
	}
	return min(o.AmountRemaining, payable), nil
}

// finishDust completes an order over a quote amount whose rest is less than the cost of the
// smallest amount at a price.
func (v *Venue) finishDust(b *book, o *order, price market.Price) {
	if o.Side == market.Sell {
		if missing, err := o.remainingBase(b.market, price); err != nil || missing != 0 {
			return // the base is too little, not the rest
		}
	}
	if o.ByQuote() && o.FilledAmount > 0 {
		o.Status = market.StatusFilled
		o.AmountQuoteRemaining = 0
		v.hold(o, 0)
		v.emit(b, o, market.ExecTrade, 0)
	}
}

// tooWide reports whether spread protection stops market orders: bid and ask are too far apart.
func (v *Venue) tooWide(b *book) bool {
	bid, ask := v.offered(b, market.Sell).price, v.offered(b, market.Buy).price
	return v.config.SpreadLimit != 0 && bid != 0 && ask-bid > exchange.Share(bid, v.config.SpreadLimit)
}

// protection returns the reason why a taker may not trade at a price, or 0: the price is too far
// from the best price that the taker met, or from the market's last price before it (venue-facts
// 3.4).
func (v *Venue) protection(side market.Side, best, reference, price market.Price) market.RestatementReason {
	switch {
	case beyond(side, best, price, v.config.ExecutionLimit):
		return market.CancelOnExecutionPriceProtection
	case reference != 0 && beyond(side, reference, price, v.config.ReferenceLimit):
		return market.CancelOnReferencePriceProtection
	}
	return 0
}

// beyond reports whether a taker's price is worse than from by more than limit; a limit of 0 is
// none.
func beyond(side market.Side, from, price market.Price, limit market.Rate) bool {
	if limit == 0 {
		return false
	}
	if side == market.Buy {
		return price > exchange.AddSaturating(from, exchange.Share(from, limit))
	}
	return price < from-exchange.Share(from, limit)
}

// fireTriggers fires the triggers of a Book that its last price, bid or ask has reached. All of
// them fire, also where the first moves the price back; triggers that their orders reach come after
// them.
func (v *Venue) fireTriggers(b *book) {
	if b.bids != nil {
		v.fireMet(b)
	}
}

func (v *Venue) fireMet(b *book) {
	for v.err == nil && b.market.Status == market.Trading {
		v.collect(b)
		if len(b.met) == 0 {
			return
		}
		o := b.met[0]
		b.met = slices.Delete(b.met, 0, 1)
		v.fire(b, o, b.last)
	}
}

// collect moves the triggers that are met from their ladders to b.met, in the order in which a
// falling price and then a rising one reaches them.
func (v *Venue) collect(b *book) {
	if b.below.triggers.count+b.above.triggers.count == 0 {
		return
	}
	v.requote(b)
	low, high := v.triggerRange(b)
	for _, l := range [...]*ladder{&b.below, &b.above} {
		from := len(b.met)
		for e := range l.triggers.nearest {
			if l.down && e.level < low || !l.down && e.level > high {
				break
			}
			if v.met(b, e.order) {
				b.met = append(b.met, e.order)
			}
		}
		for _, o := range b.met[from:] {
			b.leave(o)
		}
	}
}

// triggerRange returns the lowest and the highest possible level of a trigger that is met.
func (v *Venue) triggerRange(b *book) (low, high market.Price) {
	if v.config.HalfSpread != 0 {
		return 0, math.MaxInt64 // levels are prices of a path, half a spread away from the triggers' references
	}
	low = math.MaxInt64
	for _, price := range [...]market.Price{b.last, b.bid, b.ask} {
		if price != 0 {
			low, high = min(low, price), max(high, price)
		}
	}
	return low, high
}

// requote updates the best bid and ask of a Book, which triggers refer to.
func (v *Venue) requote(b *book) {
	if b.bids != nil {
		b.bid, b.ask = v.offered(b, market.Sell).price, v.offered(b, market.Buy).price
	}
}
