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

// house is the state of the house in one market.
type house struct {
	Liquidity
	market   *market.Market
	price    market.Price    // the middle of its levels; 0: none yet
	sequence int64           // of the latest moveTo: later orders stand behind the house at the same price
	step     market.Price    // between two levels
	best     [2]market.Price // by the taker's side
	quoted   [2]market.Price // by the taker's side, bid and ask of a ticker; 0: computed from price
	taken    [2][]market.Qty
}

// follow makes bid and ask of a ticker the best levels of the house, until the next ticker or a
// trade outside of them. With one side alone, or a bid above the ask, the house computes its own. A
// bid that is the ask is a quote only of a house without end, which needs no spread.
func (b *book) follow(bid, ask market.Price) {
	b.house.quoted = [2]market.Price{}
	if b.bids != nil && 0 < bid && (bid < ask || bid == ask && b.house.Size == 0) {
		b.house.quoted[market.Sell-1], b.house.quoted[market.Buy-1] = bid, ask
	}
}

// endQuote ends a ticker's quote once a trade lies outside of it.
func (h *house) endQuote(traded market.Price) {
	if traded < h.quoted[market.Sell-1] || traded > h.quoted[market.Buy-1] {
		h.quoted = [2]market.Price{}
	}
}

// fillCrossed fills, at their limits, the orders that the quote of the house has reached or passed.
func (v *matching) fillCrossed(b *book) {
	if b.bids == nil || b.house.Levels == 0 || b.house.quoted[0] == 0 || b.market.Status != market.Trading {
		return
	}
	for _, side := range [...]*depth{b.bids, b.asks} {
		for o := b.crossedBy(side); v.err == nil && o != nil; o = b.crossedBy(side) {
			if b.missing.chance == 0 || !b.misses(o) {
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
	quoted := b.house.quoted[l.first.Side-1]
	switch {
	case !crosses(l.first.Side, l.price, quoted):
		return nil
	case quoted == l.price:
		return l.unmissed()
	}
	return l.first
}

// moveHouse moves the house of a Book to another price and refills its levels.
func (v *matching) moveHouse(b *book, price market.Price) {
	if b.bids != nil && b.house.Levels != 0 {
		v.sequence++
		b.house.moveTo(price, v.sequence)
	}
}

// moveTo sets the middle of the levels, works out the best bid and ask and refills all levels.
func (h *house) moveTo(price market.Price, sequence int64) {
	tick := max(1, h.market.TickSize)
	h.price, h.sequence = price, sequence
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
	clear(h.taken[0])
	clear(h.taken[1])
}

// Requote makes the house of a market's Book compute its levels anew around the same price, after a
// change of the market's tickSize. Resting orders stay as they are, on a tick or not.
func (v *Venue) Requote(id market.ID) {
	b := &v.books[id]
	if b.house.price == 0 {
		return
	}
	v.moveHouse(b, b.house.price)
	v.fireTriggers(b)
}

// level returns level i of the house for a taker of that side, with the amount that is
// left; a price of 0 is no level. The size is a hash of the price, so it stays when the house
// moves.
func (h *house) level(taker market.Side, i int) market.Level {
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
	return market.Level{Price: price, Amount: h.size(price) - h.taken[taker-1][i]}
}

// size is the size of the house's level at a price: the average ± up to half of it.
func (h *house) size(price market.Price) market.Qty {
	mixed := uint64(price)*0x9e3779b97f4a7c15 ^ uint64(h.market.ID)<<32
	mixed ^= mixed >> 29
	mixed *= 0xbf58476d1ce4e5b9
	hi, lo := bits.Mul64(uint64(h.Size), 512+mixed>>54)
	size, _ := bits.Div64(hi, lo, 1024) // the factor is below 1.5: hi is far below 1024
	floor := market.FloorDigits(market.Qty(size), h.market.AmountDigits, h.market.QuantityDecimals)
	return max(floor, market.Qty(market.Pow10(h.market.AmountDigits-min(h.market.AmountDigits,
		h.market.QuantityDecimals))))
}

// from returns the house's best level from a place on that is not used up, for a taker of
// that side.
func (h *house) from(taker market.Side, place int) offer {
	for i := place; i < h.Levels; i++ {
		if l := h.level(taker, i); l.Price == 0 || l.Amount > 0 {
			return offer{price: l.Price, amount: l.Amount, place: i}
		}
	}
	return offer{}
}
