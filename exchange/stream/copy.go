package stream

import (
	"slices"
	"sort"

	"github.com/tidemark-trading/tidemark/market"
)

// bookCopy is a copy of a market's book: a snapshot, and the deltas since (websocket-facts 5). It
// is true only inside its snapshot's range of prices: of what lies beyond, the exchange shows the
// changes alone. So changes beyond are dropped.
type bookCopy struct {
	nonce int64
	time  market.Time
	bids  side // by price, best last
	asks  side // by negative price, best last
}

// side is one side of a copy, the best price last: most changes are near it, and move few levels.
type side struct {
	levels []keyed
	whole  bool  // the snapshot had the whole side
	bound  int64 // otherwise the key of its worst level
}

// keyed is a level with the key by which a side is sorted: the price of a bid, the negative price
// of an ask.
type keyed struct {
	key    int64
	amount market.Qty
}

// load takes a snapshot of at most depth levels a side.
func (c *bookCopy) load(from *market.OrderBook, depth int) {
	c.nonce, c.time = from.Nonce, from.Time
	c.bids.load(from.Bids, 1, depth)
	c.asks.load(from.Asks, -1, depth)
}

func (s *side) load(levels []market.Level, sign int64, depth int) {
	s.levels = s.levels[:0]
	for i := len(levels) - 1; i >= 0; i-- {
		s.levels = append(s.levels, keyed{sign * int64(levels[i].Price), levels[i].Amount})
	}
	if s.whole = len(levels) < depth; !s.whole {
		s.bound = s.levels[0].key
	}
}

// apply takes a delta, in any order.
func (c *bookCopy) apply(d *delta) {
	c.nonce, c.time = d.Nonce, d.Time
	for _, l := range d.Bids {
		c.bids.set(int64(l.Price), l.Amount)
	}
	for _, l := range d.Asks {
		c.asks.set(-int64(l.Price), l.Amount)
	}
}

// set sets the amount of a level; 0 removes it.
func (s *side) set(key int64, amount market.Qty) {
	if !s.whole && key < s.bound {
		return
	}
	at, found := s.find(key)
	switch {
	case found && amount == 0:
		s.levels = slices.Delete(s.levels, at, at+1)
	case found:
		s.levels[at].amount = amount
	case amount != 0:
		s.levels = slices.Insert(s.levels, at, keyed{key, amount})
	}
}

// find is the place of a key, searched from the best on: most changes are there.
func (s *side) find(key int64) (at int, found bool) {
	const near = 8
	at = len(s.levels)
	for range near {
		if at == 0 || s.levels[at-1].key < key {
			return at, false
		}
		if at--; s.levels[at].key == key {
			return at, true
		}
	}
	at = sort.Search(at, func(i int) bool { return s.levels[i].key >= key })
	return at, at < len(s.levels) && s.levels[at].key == key
}

// known reports whether both sides show their best count levels, or all where they have fewer.
func (c *bookCopy) known(count int) bool {
	return (c.bids.whole || len(c.bids.levels) >= count) && (c.asks.whole || len(c.asks.levels) >= count)
}

// crossed reports whether the best bid reaches the best ask, which cannot be true.
func (c *bookCopy) crossed() bool {
	bids, asks := c.bids.levels, c.asks.levels
	return len(bids) > 0 && len(asks) > 0 && bids[len(bids)-1].key >= -asks[len(asks)-1].key
}

// book makes a snapshot of the best levels, which belongs to the caller.
func (c *bookCopy) book(id market.ID, depth int) *market.OrderBook {
	return &market.OrderBook{Market: id, Nonce: c.nonce, Time: c.time, Bids: c.bids.best(depth, 1),
		Asks: c.asks.best(depth, -1)}
}

func (s *side) best(depth int, sign int64) []market.Level {
	levels := make([]market.Level, min(depth, len(s.levels)))
	for i := range levels {
		l := &s.levels[len(s.levels)-1-i]
		levels[i] = market.Level{Price: market.Price(sign * l.key), Amount: l.amount}
	}
	return levels
}

// differs reports whether two copies of the same nonce differ where both are true.
func (c *bookCopy) differs(from *bookCopy) bool {
	return !slices.Equal(c.bids.inside(&from.bids), from.bids.inside(&c.bids)) ||
		!slices.Equal(c.asks.inside(&from.asks), from.asks.inside(&c.asks))
}

// inside are the levels inside the range of another copy's side.
func (s *side) inside(of *side) []keyed {
	if of.whole {
		return s.levels
	}
	at := sort.Search(len(s.levels), func(i int) bool { return s.levels[i].key >= of.bound })
	return s.levels[at:]
}
