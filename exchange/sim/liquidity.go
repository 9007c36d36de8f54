package sim

import (
	"math"
	"math/bits"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Liquidity is the liquidity that the exchange itself offers in a Book: levels on each side of the
// price that its source moves. It takes every order that the price runs through, whatever the
// amount. Where the source is a ticker with bid and ask, they are its best levels.
type Liquidity struct {
	Levels     int          // of each side; 0: no liquidity
	HalfSpread market.Rate  // from the price to its best levels, as a fraction; 0: Config.HalfSpread
	Step       market.Price // between two levels; 0: a tick
	Size       market.Qty   // of an average level; 0: without end
}

// liquidityAnchor is the state of the house in one market.
type liquidityAnchor struct {
	Liquidity
	price    market.Price    // the middle of its levels; 0: none yet
	sequence int64           // of the anchoring: later orders stand behind it at the same price
	step     market.Price    // between two levels
	best     [2]market.Price // by the taker's side
	quoted   [2]market.Price // by the taker's side, bid and ask of a ticker; 0: computed from price
	taken    [2][]market.Qty
}

// follow makes bid and ask of a ticker the best levels of the house, until the next ticker or a
// trade outside of them. With one side alone, or a bid above the ask, the house computes its own. A
// bid that is the ask is a quote only of a house without end, which needs no spread.
func (b *book) follow(bid, ask market.Price) {
	b.liquidity.quoted = [2]market.Price{}
	if b.bids != nil && 0 < bid && (bid < ask || bid == ask && b.liquidity.Size == 0) {
		b.liquidity.quoted[market.Sell-1], b.liquidity.quoted[market.Buy-1] = bid, ask
	}
}

// endQuote ends a ticker's quote once a trade lies outside of it.
func (b *book) endQuote(traded market.Price) {
	if traded < b.liquidity.quoted[market.Sell-1] || traded > b.liquidity.quoted[market.Buy-1] {
		b.liquidity.quoted = [2]market.Price{}
	}
}

// fillCrossed fills, at their limits, the orders that the quote of the house has reached or passed.
func (v *Venue) fillCrossed(b *book) {
	if b.bids == nil || b.liquidity.Levels == 0 || b.liquidity.quoted[0] == 0 || b.market.Status != market.Trading {
		return
	}
	for _, side := range [...]*depth{b.bids, b.asks} {
		for o := b.crossedBy(side); v.err == nil && o != nil; o = b.crossedBy(side) {
			if b.missing == 0 || !v.misses(b, o) {
				v.execute(b, o, false)
			}
		}
	}
}

// crossedBy is the first order of a side that the quote of the house has reached or passed, or nil.
func (b *book) crossedBy(side *depth) *order {
	l := side.first
	if l == nil {
		return nil
	}
	quoted := b.liquidity.quoted[l.first.Side-1]
	switch {
	case !crosses(l.first.Side, l.price, quoted):
		return nil
	case quoted == l.price:
		return l.unmissed()
	}
	return l.first
}

// anchorAt moves the house to another price and refills its levels.
func (v *Venue) anchorAt(b *book, price market.Price) {
	if b.bids != nil && b.liquidity.Levels != 0 {
		v.anchorHouse(b, price)
	}
}

func (v *Venue) anchorHouse(b *book, price market.Price) {
	h, tick := &b.liquidity, max(1, b.market.TickSize)
	h.price = price
	spread := exchange.Spread{Half: h.HalfSpread}
	h.best[market.Sell-1] = market.FloorTo(spread.Offered(market.Sell, price), tick)
	h.best[market.Buy-1] = market.CeilTo(spread.Offered(market.Buy, price), tick)
	if h.best[0] == h.best[1] && h.Size != 0 {
		h.best[market.Buy-1] += tick
	}
	if h.quoted[0] != 0 {
		h.best = h.quoted
	}
	h.step = market.CeilTo(max(h.Step, tick), tick)
	v.sequence++
	b.liquidity.sequence = v.sequence
	clear(b.liquidity.taken[0])
	clear(b.liquidity.taken[1])
}

// Requote makes the house of a market's Book compute its levels anew around the same price, after a
// change of the market's tickSize. Resting orders stay as they are, on a tick or not.
func (v *Venue) Requote(id market.ID) {
	b := &v.books[id]
	if b.liquidity.price == 0 {
		return
	}
	v.anchorAt(b, b.liquidity.price)
	v.fireTriggers(b)
}

// liquidityLevel returns level i of the house for a taker of that side, with the amount that is
// left; a price of 0 is no level. The size is a hash of the price, so it stays when the anchor
// moves.
func (v *Venue) liquidityLevel(b *book, taker market.Side, i int) market.Level {
	h := &b.liquidity
	if h.price == 0 || i >= h.Levels {
		return market.Level{}
	}
	away := h.step * market.Price(i)
	if taker == market.Sell {
		away = -away
	}
	price := h.best[taker-1] + away
	if price <= 0 || price > math.MaxInt64/2 {
		return market.Level{}
	}
	if h.Size == 0 {
		return market.Level{Price: price, Amount: noCap}
	}
	return market.Level{Price: price, Amount: v.liquiditySize(b, price) - h.taken[taker-1][i]}
}

// liquiditySize is the size of the house's level at a price: the average ± up to half of it.
func (v *Venue) liquiditySize(b *book, price market.Price) market.Qty {
	mixed := uint64(price)*0x9e3779b97f4a7c15 ^ uint64(b.market.ID)<<32
	mixed ^= mixed >> 29
	mixed *= 0xbf58476d1ce4e5b9
	hi, lo := bits.Mul64(uint64(b.liquidity.Size), 512+mixed>>54)
	size, _ := bits.Div64(hi, lo, 1024) // the factor is below 1.5: hi is far below 1024
	floor := market.FloorDigits(market.Qty(size), b.market.AmountDigits, b.market.QuantityDecimals)
	return max(floor, market.Qty(market.Pow10(b.market.AmountDigits-min(b.market.AmountDigits,
		b.market.QuantityDecimals))))
}

// liquidityFrom returns the house's best level from a place on that is not used up, for a taker of
// that side.
func (v *Venue) liquidityFrom(b *book, taker market.Side, place int) offer {
	for i := place; i < b.liquidity.Levels; i++ {
		if l := v.liquidityLevel(b, taker, i); l.Price == 0 || l.Amount > 0 {
			return offer{price: l.Price, amount: l.Amount, place: i}
		}
	}
	return offer{}
}
