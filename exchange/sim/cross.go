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
func (b *book) offered(taker market.Side) offer {
	house := b.house.from(taker, 0)
	l := b.opposite(taker).first
	if l == nil || !b.ahead(l.first, house.price) {
		return house
	}
	return offer{price: l.price, amount: l.first.AmountRemaining, resting: l.first}
}

// firstOffer is offered, or of a market that stands in a recorded book its best level.
func (b *book) firstOffer(taker market.Side) offer {
	if b.shown != nil {
		return b.shown.offered(taker)
	}
	return b.offered(taker)
}

// ahead reports whether a taker meets a resting order before the house's level at a price, 0 for
// none.
func (b *book) ahead(resting *order, house market.Price) bool {
	if resting.Price == house {
		return resting.sequence < b.house.sequence
	}
	return house == 0 || crosses(resting.Side, resting.Price, house)
}

// takeBook trades an order against the book: price by price, at each price in the order of arrival.
// The rest of it stays in the book, or ends as its type and time in force demand.
func (v *matching) takeBook(b *book, o *order) {
	best := b.offered(o.Side)
	switch {
	case o.PostOnly && o.accepts(best.price):
		v.end(b, o, market.StatusCanceled, market.CancelPostOnly)
		return
	case !o.Type.HasPrice() && v.config.tooWide(b):
		v.end(b, o, market.StatusCanceled, market.CancelOnSpreadProtection)
		return
	case o.TimeInForce == market.FOK && v.endsUnfilled(b, o):
		return
	}
	reference := b.last
	for at := best; v.err == nil && o.accepts(at.price); at = b.offered(o.Side) {
		if at.resting != nil && at.resting.account == o.account {
			v.resolve(b, o, at.resting)
		} else if reason := v.config.protection(o.Side, best.price, reference, at.price); reason != 0 {
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
func (v *matching) meet(b *book, o *order, at *offer) bool {
	amount, err := o.affordable(b.market, at.price)
	if err != nil {
		v.fail(o, err)
		return false
	}
	amount = min(amount, at.amount)
	if amount == 0 {
		v.finishDust(b, o, at.price)
		return false
	}
	amount = min(amount, o.room(), at.resting.room())
	taking := deal{price: at.price, amount: amount, taker: true}
	if err := taking.compute(b.market, o, v.config.FeeRounding); err != nil || o.room() == 0 {
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
		if b.house.Size != 0 {
			b.house.taken[o.Side-1][at.place] += amount
		}
	} else if !v.give(b, at.resting, at.price, amount) {
		return true
	}
	b.last = at.price
	v.applyDeal(b, o, &taking)
	return true
}

// give applies the resting side of a trade, or ends the order, and reports whether it traded.
func (v *matching) give(b *book, resting *order, price market.Price, amount market.Qty) bool {
	giving := deal{price: price, amount: amount}
	if err := giving.compute(b.market, resting, v.config.FeeRounding); err != nil || amount == 0 {
		v.end(b, resting, market.StatusExpired, 0)
		return false
	}
	b.filled++
	v.applyDeal(b, resting, &giving)
	return true
}

// room is the base that a buyer's balance can still take without overflow. Sellers and the house
// have no such limit.
func (o *order) room() market.Qty {
	if o == nil || o.Side == market.Sell {
		return noCap
	}
	return noCap - market.Qty(o.in.held[market.Sell].Total)
}

// affordable is the base that a taker wants at a price and can pay for there: in a book, unlike on
// a path, the next level can be dearer than the price of the hold.
func (o *order) affordable(m *market.Market, price market.Price) (market.Qty, error) {
	if o.Side == market.Sell || o.ByQuote() || o.Type.HasPrice() {
		return o.wanted(m, price)
	}
	payable := exchange.BaseForMoney(m, o.spendable(), price, o.fees().Taker)
	if payable < o.AmountRemaining && o.FilledAmount == 0 {
		return 0, nil // the market has moved away from the price of the hold
	}
	return min(o.AmountRemaining, payable), nil
}

// finishDust completes an order over a quote amount whose rest is less than the cost of the
// smallest amount at a price.
func (v *matching) finishDust(b *book, o *order, price market.Price) {
	if o.Side == market.Sell {
		if missing, err := o.remainingBase(b.market, price); err != nil || missing != 0 {
			return // the base is too little, not the rest
		}
	}
	if o.ByQuote() && o.FilledAmount > 0 {
		o.Status = market.StatusFilled
		o.AmountQuoteRemaining = 0
		o.hold(0)
		v.emit(b, o, market.ExecTrade, 0)
	}
}

// tooWide reports whether spread protection stops market orders: bid and ask are too far apart.
func (c *Config) tooWide(b *book) bool {
	bid, ask := b.offered(market.Sell).price, b.offered(market.Buy).price
	return c.SpreadLimit != 0 && bid != 0 && ask-bid > exchange.Share(bid, c.SpreadLimit)
}

// protection returns the reason why a taker may not trade at a price, or 0: the price is too far
// from the best price that the taker met, or from the market's last price before it (venue-facts
// 3.4).
func (c *Config) protection(side market.Side, best, reference, price market.Price) market.RestatementReason {
	switch {
	case beyond(side, best, price, c.ExecutionLimit):
		return market.CancelOnExecutionPriceProtection
	case reference != 0 && beyond(side, reference, price, c.ReferenceLimit):
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
func (v *matching) fireTriggers(b *book) {
	if b.bids != nil {
		v.fireMet(b)
	}
}

func (v *matching) fireMet(b *book) {
	for v.err == nil && b.market.Status == market.Trading {
		b.collect()
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
func (b *book) collect() {
	if b.below.triggers.count+b.above.triggers.count == 0 {
		return
	}
	b.requote()
	low, high := b.triggerRange()
	for _, l := range [...]*ladder{&b.below, &b.above} {
		from := len(b.met)
		for e := range l.triggers.nearest {
			if l.down && e.level < low || !l.down && e.level > high {
				break
			}
			if b.isMet(e.order) {
				b.met = append(b.met, e.order)
			}
		}
		for _, o := range b.met[from:] {
			b.leave(o)
		}
	}
}

// triggerRange returns the lowest and the highest possible level of a trigger that is met.
func (b *book) triggerRange() (low, high market.Price) {
	if b.spread.Half != 0 {
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
func (b *book) requote() {
	if b.bids != nil {
		b.bid, b.ask = b.offered(market.Sell).price, b.offered(market.Buy).price
	}
}
