package sim

import (
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
	if v.config.Liquidity != nil {
		b.liquidity.Liquidity = v.config.Liquidity(b.market)
		if b.liquidity.HalfSpread == 0 {
			b.liquidity.HalfSpread = v.config.HalfSpread
		}
	}
	for side := range b.liquidity.taken {
		b.liquidity.taken[side] = make([]market.Qty, b.liquidity.Levels)
	}
}

// Perform carries out an account's command at once, at a time that never decreases: it arrives,
// matches, and rests or ends. The command names the market. The sink gets the reports of the order
// and of those it met. refused says why the exchange refused the command; the sink then gets
// nothing. err is the first arithmetic error, after which the venue stands still. The venue must
// have a Book.
func (v *Venue) Perform(id AccountID, at market.Time, c *market.Command) (refused *exchange.Error, err error) {
	v.recycle()
	b := &v.books[c.Order.Market]
	b.time = max(b.time, at)
	v.sequence++
	v.performing, v.refused = true, nil
	from := origin{account: v.accounts[id], at: at, sequence: v.sequence}
	if c.Kind == market.CommandPlace {
		o := v.newOrder()
		o.Order = c.Order
		if _, admitted := v.place(b, o, &from, -1); admitted {
			v.accept(b, o, market.ExecNew)
		}
	} else {
		v.revise(b, c, &from)
	}
	v.performing = false
	v.match(b)
	return v.refused, v.err
}

// Best returns the best bid and ask of a market's Book with the amounts there; a zero price where a
// side is empty.
func (v *Venue) Best(id market.ID) (bid, ask market.Level) {
	b := &v.books[id]
	return v.bestLevel(b, market.Sell), v.bestLevel(b, market.Buy)
}

func (v *Venue) bestLevel(b *book, taker market.Side) market.Level {
	var one [1]market.Level
	if best := v.appendSide(one[:0], b, taker, 1); len(best) == 1 {
		return best[0]
	}
	return market.Level{}
}

// AppendDepth appends up to levels of each side of a market's Book, best first, those of the house
// included. A level's amount is all that rests there.
func (v *Venue) AppendDepth(id market.ID, levels int, bids, asks []market.Level) ([]market.Level, []market.Level) {
	b := &v.books[id]
	return v.appendSide(bids, b, market.Sell, levels), v.appendSide(asks, b, market.Buy, levels)
}

// appendSide appends the levels for a taker of that side: the accounts' and the house's, merged.
func (v *Venue) appendSide(to []market.Level, b *book, taker market.Side, levels int) []market.Level {
	side := b.opposite(taker)
	l, place := side.first, 0
	for ; levels > 0; levels-- {
		house := v.liquidityLevel(b, taker, place)
		for house.Price != 0 && house.Amount <= 0 {
			place++
			house = v.liquidityLevel(b, taker, place)
		}
		switch {
		case l == nil && house.Price == 0:
			return to
		case house.Price == 0, l != nil && l.price != house.Price && crosses(taker, house.Price, l.price):
			to = append(to, market.Level{Price: l.price, Amount: l.size()})
			l = side.next(l)
		case l != nil && l.price == house.Price:
			to = append(to, market.Level{Price: l.price, Amount: sum(l.size(), house.Amount)})
			l = side.next(l)
			place++
		default:
			to = append(to, house)
			place++
		}
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
