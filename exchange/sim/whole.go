package sim

import (
	"iter"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// trial is a copy of a taker that trades on paper: nothing at the venue changes.
type trial struct {
	order
	funds market.Money // money or base that it may still spend
}

// endsUnfilled ends a FOK order that the book cannot fill whole, and reports whether it did:
// expired, or cancelled where a price protection would stop it. No part of it trades (specification
// 4.4).
func (v *matching) endsUnfilled(b *book, o *order) bool {
	whole, reason := b.fillsWhole(o, &v.config)
	switch {
	case whole:
		return false
	case reason != 0:
		v.end(b, o, market.StatusCanceled, reason)
	default:
		v.settleRest(b, o)
	}
	return true
}

// fillsWhole reports whether the whole of an order would trade now, and if not, the price
// protection that would stop it, 0 for none. Where an own order stands in the way only cancelOldest
// leads past it: every other mode would reduce the order.
func (b *book) fillsWhole(o *order, config *Config) (whole bool, reason market.RestatementReason) {
	t := trial{order: *o, funds: o.spendable()}
	best := b.firstOffer(o.Side).price
	for at := range b.offers(o.Side) {
		if !o.accepts(at.price) {
			break
		}
		if at.resting != nil && at.resting.account == o.account {
			if o.SelfTradePrevention != market.CancelOldest {
				break
			}
			continue
		}
		if b.shown != nil && o.SelfTradePrevention != market.CancelOldest && b.crossing(o, at.price) != nil {
			break
		}
		if reason := config.protection(o.Side, best, b.last, at.price); reason != 0 {
			return false, reason
		}
		if done, able := t.take(b.market, &at, config.FeeRounding); done || !able {
			return done, 0
		}
	}
	return false, 0
}

// take trades with an offer on paper. done: the order wants nothing more. able is false where its
// money or base does not suffice.
func (t *trial) take(m *market.Market, at *offer, rounding exchange.FeeRounding) (done, able bool) {
	wanted, payable := t.wants(m, at.price)
	if wanted == 0 { // dust completes an order that has traded
		return t.FilledAmount > 0, false
	}
	amount := min(wanted, at.amount)
	if amount > payable {
		return false, false
	}
	gross, err := m.Value(at.price, amount)
	if err != nil {
		return false, false
	}
	cash, _, err := t.settlement.Fill(m, t.Side, gross, t.fees().Taker, rounding)
	if err == nil {
		t.FilledAmountQuote, err = t.FilledAmountQuote.Add(gross)
	}
	if err != nil {
		return false, false
	}
	t.AmountRemaining, t.FilledAmount, t.AmountQuoteRemaining = t.AmountRemaining-amount, t.FilledAmount+amount,
		t.AmountQuoteRemaining-cash
	if t.Side == market.Buy {
		t.funds -= cash
	} else {
		t.funds -= market.Money(amount)
	}
	return amount == wanted || t.sold(m), true
}

// wants is the base that the order wants at a price, and the amount that it can pay for there.
func (t *trial) wants(m *market.Market, price market.Price) (wanted, payable market.Qty) {
	switch {
	case t.ByQuote() && t.Side == market.Buy:
		wanted = exchange.BaseForMoney(m, t.AmountQuoteRemaining, price, t.fees().Taker)
	case t.ByQuote():
		var err error
		if wanted, err = t.remainingBase(m, price); err == nil && market.Money(wanted) > t.funds {
			return wanted, 0
		}
	case t.Side == market.Buy && !t.Type.HasPrice():
		return t.AmountRemaining, exchange.BaseForMoney(m, t.funds, price, t.fees().Taker)
	default: // held in full
		wanted = t.AmountRemaining
	}
	return wanted, wanted
}

// sold reports whether a sell over a quote amount has brought the amount, to the unit of money.
func (t *trial) sold(m *market.Market) bool {
	if !t.ByQuote() || t.Side == market.Buy {
		return false
	}
	proceeds, err := t.FilledAmountQuote.CeilMoney(m.MoneyDrop())
	return err == nil && proceeds >= t.AmountQuote
}

// offers yields all offers for a taker of that side: price by price, and at each price in the order
// of arrival.
func (b *book) offers(taker market.Side) iter.Seq[offer] {
	if b.shown != nil {
		return b.shown.offers(taker)
	}
	return func(yield func(offer) bool) {
		house, side := b.house.from(taker, 0), b.opposite(taker)
		for l := side.first; l != nil; l = side.next(l) {
			for o := l.first; o != nil; o = o.next {
				for ; !b.ahead(o, house.price); house = b.house.from(taker, house.place+1) {
					if !yield(house) {
						return
					}
				}
				if !yield(offer{price: l.price, amount: o.AmountRemaining, resting: o}) {
					return
				}
			}
		}
		for ; house.price != 0 && yield(house); house = b.house.from(taker, house.place+1) {
		}
	}
}
