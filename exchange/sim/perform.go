package sim

import (
	"cmp"
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// makeBook sets up a market's Book and its house, where Config.Book is set.
func (v *Venue) makeBook(b *book) {
	if !v.config.Book {
		return
	}
	unit := max(1, b.market.TickSize)
	b.bids, b.asks = &depth{bids: true, unit: unit}, &depth{unit: unit}
	b.volume = noCap
	b.house.market = b.market
	if v.config.Liquidity != nil {
		b.house.Liquidity = v.config.Liquidity(b.market)
		b.house.HalfSpread = cmp.Or(b.house.HalfSpread, v.config.HalfSpread)
	}
	for side := range b.house.taken {
		b.house.taken[side] = make([]market.Qty, b.house.Levels)
	}
}

// Submit carries out an account's command without latency; Do lets it arrive later. Times never
// decrease, and the venue must have a Book. The sink gets the reports of the order and of the
// orders that it trades with. A refused command is returned as refused, and the sink gets nothing.
// err is the venue's first arithmetic error; the venue does nothing more after it.
func (v *Venue) Submit(id AccountID, at market.Time, c *market.Command) (refused *exchange.Error, err error) {
	v.orders.recycle()
	v.sequence++
	b := &v.books[c.Order.Market]
	b.time = max(b.time, at)
	arrived := arrival{kind: c.Kind, book: b, change: c,
		origin: origin{account: v.accounts.list[id], at: at, sequence: v.sequence}}
	if c.Kind == market.CommandPlace {
		arrived.placed = v.orders.fresh()
		arrived.placed.Order = c.Order
	}
	v.submitting, v.refused = true, nil
	v.carryOutArrival(&arrived, anywhere)
	v.submitting = false
	v.match(b)
	return v.refused, v.err
}

// Best returns the best bid and ask of a market's Book with the amounts there; a zero price where a
// side is empty.
func (v *Venue) Best(id market.ID) (bid, ask market.Level) {
	b := &v.books[id]
	return b.bestLevel(market.Sell), b.bestLevel(market.Buy)
}

func (b *book) bestLevel(taker market.Side) market.Level {
	var one [1]market.Level
	if best := b.appendSide(one[:0], taker, 1); len(best) == 1 {
		return best[0]
	}
	return market.Level{}
}

// AppendDepth appends up to levels of each side of a market's Book, best first, those of the house
// included. A level's amount is all that rests there.
func (v *Venue) AppendDepth(id market.ID, levels int, bids, asks []market.Level) ([]market.Level, []market.Level) {
	b := &v.books[id]
	return b.appendSide(bids, market.Sell, levels), b.appendSide(asks, market.Buy, levels)
}

// appendSide appends the levels for a taker of that side: the accounts' and the house's, merged.
func (b *book) appendSide(to []market.Level, taker market.Side, levels int) []market.Level {
	side := b.opposite(taker)
	l, place := side.first, 0
	for ; levels > 0; levels-- {
		house := b.house.from(taker, place)
		if l == nil && house.price == 0 {
			return to
		}
		next := market.Level{Price: house.price, Amount: house.amount}
		switch {
		case house.price == 0, l != nil && l.price != house.price && crosses(taker, house.price, l.price):
			next = market.Level{Price: l.price, Amount: l.size()}
			l = side.next(l)
		case l != nil && l.price == house.price:
			next.Amount = sum(l.size(), house.amount)
			l = side.next(l)
			place = house.place + 1
		default:
			place = house.place + 1
		}
		to = append(to, next)
	}
	return to
}

// sum adds amounts, up to the largest Qty.
func sum(a, b market.Qty) market.Qty {
	if total, err := market.Add(a, b); err == nil {
		return total
	}
	return noCap
}

// NextTradeID names a trade outside the venue, of the house with itself, in the sequence of the
// market's trades.
func (v *Venue) NextTradeID(id market.ID) (name uuid.UUID) {
	v.books[id].filled++
	setName(&name, id, 0, v.books[id].filled)
	return name
}
