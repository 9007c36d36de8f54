package sim

import (
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// uncross matches the orders that an auction has gathered in a Book, all at the opening price: the
// given one, or the one with the largest traded amount (specification 3.2). Better prices first,
// older orders first; the house takes the rest at that price. Post-only orders that would match are
// cancelled; the younger order's mode keeps orders of one account apart.
func (v *matching) uncross(b *book, given market.Price) {
	price := given
	if price == 0 {
		price = b.openingPrice()
	}
	if price == 0 && b.market.Status == market.AuctionMatching {
		price = b.last
	}
	if price == 0 {
		return
	}
	b.last = price
	for v.err == nil {
		bid, ask := b.bids.accepting(price), b.asks.accepting(price)
		if bid == nil || ask == nil {
			break
		}
		v.meetInAuction(b, bid, ask, price)
	}
	if b.house.Levels > 0 && (given != 0 || b.house.price != 0) {
		v.moveHouse(b, price)
		v.fillRest(b, b.bids, price)
		v.fillRest(b, b.asks, price)
	}
	v.fireTriggers(b)
}

// accepting returns the first order of a side if it trades at a price, or nil.
func (d *depth) accepting(price market.Price) *order {
	if d.first == nil || d.first.price != price && (d.first.price > price) != d.bids {
		return nil
	}
	return d.first.first
}

// meetInAuction matches the first bid and the first ask at the opening price.
func (v *matching) meetInAuction(b *book, bid, ask *order, price market.Price) {
	older, younger := bid, ask
	if ask.sequence < bid.sequence {
		older, younger = ask, bid
	}
	switch {
	case bid.PostOnly:
		v.end(b, bid, market.StatusCanceled, market.CancelPostOnlyOnAuctionMatching)
	case ask.PostOnly:
		v.end(b, ask, market.StatusCanceled, market.CancelPostOnlyOnAuctionMatching)
	case bid.account == ask.account:
		v.resolve(b, younger, older)
	default:
		v.tradeInAuction(b, older, younger, price)
	}
}

// tradeInAuction trades between two orders as much as both want. An order whose numbers would
// overflow expires.
func (v *matching) tradeInAuction(b *book, older, younger *order, price market.Price) {
	both := deal{price: price, amount: min(older.AmountRemaining, younger.AmountRemaining)}
	deals := [2]deal{both, both}
	for i, o := range [...]*order{older, younger} {
		if err := deals[i].compute(b.market, o, v.config.FeeRounding); err != nil {
			v.end(b, o, market.StatusExpired, 0)
			return
		}
	}
	b.filled++
	v.applyDeal(b, older, &deals[0])
	v.applyDeal(b, younger, &deals[1])
}

// fillRest fills the rest of one side at the opening price, against the house.
func (v *matching) fillRest(b *book, side *depth, price market.Price) {
	for o := side.accepting(price); o != nil && v.err == nil; o = side.accepting(price) {
		if o.PostOnly {
			v.end(b, o, market.StatusCanceled, market.CancelPostOnlyOnAuctionMatching)
			continue
		}
		v.tradeOrEnd(b, o, price, o.AmountRemaining)
	}
}

// openingPrice returns the price with the largest traded amount; of several the one that leaves the
// smallest rest, then the one nearest to the last price, then the lowest. 0: no two orders cross.
func (b *book) openingPrice() market.Price {
	if b.bids.first == nil || b.asks.first == nil || b.bids.first.price < b.asks.first.price {
		return 0
	}
	var best struct {
		price        market.Price
		traded, left uint64
	}
	consider := func(price market.Price) {
		bought, sold := b.bids.volumeAt(price), b.asks.volumeAt(price)
		traded, left := min(bought, sold), max(bought, sold)-min(bought, sold)
		nearer := distance(price, b.last) < distance(best.price, b.last) ||
			distance(price, b.last) == distance(best.price, b.last) && price < best.price
		if best.price == 0 || traded > best.traded || traded == best.traded &&
			(left < best.left || left == best.left && nearer) {
			best.price, best.traded, best.left = price, traded, left
		}
	}
	for l := b.bids.first; l != nil && l.price >= b.asks.first.price; l = b.bids.next(l) {
		consider(l.price)
	}
	for l := b.asks.first; l != nil && l.price <= b.bids.first.price; l = b.asks.next(l) {
		consider(l.price)
	}
	return best.price
}

func distance(a, b market.Price) market.Price { return max(a, b) - min(a, b) }

// volumeAt is the amount that one side trades at a price, up to the largest uint64.
func (d *depth) volumeAt(price market.Price) (volume uint64) {
	for l := d.first; l != nil && (l.price == price || (l.price > price) == d.bids); l = d.next(l) {
		sum, carry := bits.Add64(volume, uint64(l.size()), 0)
		volume = sum | -carry
	}
	return volume
}
