package sim

import (
	"iter"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// shown is the recorded book that a market stands in with LimitFill Queue: the latest snapshot,
// what later tickers say of its best levels, and what has been taken from it since.
type shown struct {
	sides [2][]rung // by the taker's side: asks for a buyer, bids for a seller; best first
	spare []rung
	time  market.Time // of the snapshot, at the exchange; 0: not known
}

// rung is one level of a recorded book.
type rung struct {
	price  market.Price
	amount market.Qty  // as recorded
	own    market.Qty  // taken by own orders, from this and from earlier snapshots
	others market.Qty  // taken by recorded trades since
	time   market.Time // of the amount, as far as it is known: trades up to it are in it
}

// left is the amount that an own order may still take.
func (r *rung) left() market.Qty { return max(0, r.amount-r.own-r.others) }

// showBook takes a recorded book: its best levels are bid and ask, and with LimitFill Queue own
// orders stand in it from now on.
func (v *Venue) showBook(b *book, recorded *market.OrderBook, at market.Time) {
	b.bid, b.ask = 0, 0
	if len(recorded.Bids) > 0 {
		b.bid = recorded.Bids[0].Price
	}
	if len(recorded.Asks) > 0 {
		b.ask = recorded.Asks[0].Price
	}
	if v.config.LimitFill == Queue && b.bids == nil {
		joining := b.shown == nil
		if joining {
			b.shown = &shown{}
		}
		b.shown.time = recorded.Time
		b.shown.set(market.Buy, recorded.Asks)
		b.shown.set(market.Sell, recorded.Bids)
		v.standIn(b, at, joining)
	}
	last := b.last
	if last == 0 {
		if last = max(b.bid, b.ask); b.bid != 0 && b.ask != 0 {
			last = b.bid + (b.ask-b.bid)/2
		}
	}
	v.jump(b.market.ID, last, at, false)
}

// set takes the levels of one side. What own orders have taken of a price stays taken while the
// price is there, up to what the new snapshot has.
func (s *shown) set(taker market.Side, levels []market.Level) {
	before, now := s.sides[taker-1], s.spare[:0]
	for _, l := range levels {
		next := rung{price: l.Price, amount: l.Amount, time: s.time}
		if at := rungAt(before, taker, l.Price); at < len(before) && before[at].price == l.Price {
			next.own = min(before[at].own, l.Amount)
		}
		now = append(now, next)
	}
	s.sides[taker-1], s.spare = now, before
}

// rungAt returns the place of the first level that is not better for a taker than price.
func rungAt(rungs []rung, taker market.Side, price market.Price) int {
	for i := range rungs {
		if rungs[i].price == price || !crosses(taker, price, rungs[i].price) {
			return i
		}
	}
	return len(rungs)
}

// quote makes the price of a ticker the best level of a side: better ones are gone, and the size,
// where the ticker has it, is the level's. A price that is better than all levels and has no size
// shows no amount, so it is no level. Trades up to at may be in the size.
func (s *shown) quote(taker market.Side, price market.Price, size market.Qty, at market.Time) {
	if price == 0 {
		return
	}
	rungs := s.sides[taker-1]
	gone := rungAt(rungs, taker, price)
	rungs = slices.Delete(rungs, 0, gone)
	listed := len(rungs) > 0 && rungs[0].price == price
	if size > 0 && !listed {
		rungs = slices.Insert(rungs, 0, rung{price: price})
	}
	if size > 0 {
		rungs[0].amount, rungs[0].own, rungs[0].others, rungs[0].time = size, min(rungs[0].own, size), 0, at
	}
	s.sides[taker-1] = rungs
}

// traded takes what a recorded trade took from the levels: all of those that are better for its
// taker than its price, and its amount at that price. own is the part of the amount that own orders
// got instead.
func (s *shown) traded(t *market.Trade, own market.Qty) {
	for _, taker := range [...]market.Side{market.Buy, market.Sell} {
		for i := range s.sides[taker-1] {
			r := &s.sides[taker-1][i]
			if r.price != t.Price && !crosses(taker, t.Price, r.price) {
				break
			}
			if late(t, r.time) {
				continue
			}
			if r.price != t.Price {
				r.others = r.amount
			} else if t.Side == 0 || t.Side == taker {
				r.others = min(r.amount, r.others+t.Amount-own)
			}
		}
	}
}

// late reports whether an amount that was seen at a time contains a trade already, or may.
func late(t *market.Trade, seen market.Time) bool { return t.Time != 0 && t.Time <= seen }

// at returns the level of a price where orders of a side rest, one without amount where none is
// recorded. known is false beyond the last level of the side: the recording ends there.
func (s *shown) at(side market.Side, price market.Price) (level rung, known bool) {
	taker := side.Opposite()
	rungs := s.sides[taker-1]
	at := rungAt(rungs, taker, price)
	if at < len(rungs) && rungs[at].price == price {
		return rungs[at], true
	}
	return rung{price: price, time: s.time}, at < len(rungs)
}

// depth is the whole recorded amount on the side from which a taker takes.
func (s *shown) depth(taker market.Side) (total market.Qty) {
	for i := range s.sides[taker-1] {
		total = sum(total, s.sides[taker-1][i].amount)
	}
	return total
}

// offers yields the levels that are left for a taker of that side, best first.
func (s *shown) offers(taker market.Side) iter.Seq[offer] {
	return func(yield func(offer) bool) {
		for i := range s.sides[taker-1] {
			r := &s.sides[taker-1][i]
			if left := r.left(); left > 0 && !yield(offer{price: r.price, amount: left, rung: r}) {
				return
			}
		}
	}
}

// offered returns the best of the levels that are left; a price of 0: there is none.
func (s *shown) offered(taker market.Side) offer {
	for at := range s.offers(taker) {
		return at
	}
	return offer{}
}

// hide forgets the recorded book: the market moves on by a candle, over a hole in the books. Own
// orders lose their places.
func (b *book) hide() {
	b.shown = nil
	for _, l := range [...]*ladder{&b.below, &b.above} {
		for e := range l.limits.nearest {
			e.order.rank = nil
		}
	}
}

// takeShown trades an order against the recorded book, level by level, each amount once. What the
// levels do not offer rests, or ends as its type and time in force demand.
func (v *matching) takeShown(b *book, o *order) {
	best := b.shown.offered(o.Side)
	switch {
	case o.PostOnly && (o.accepts(best.price) || b.crossing(o, o.Price) != nil):
		v.end(b, o, market.StatusCanceled, market.CancelPostOnly)
		return
	case o.TimeInForce == market.FOK && v.endsUnfilled(b, o):
		return
	}
	v.counts.weigh(b, o, &best)
	at := best
	for ; v.err == nil && o.accepts(at.price); at = b.shown.offered(o.Side) {
		more := v.preventSelfTrade(b, o, at.price) && v.meet(b, o, &at)
		if o.Done() {
			return
		}
		if !more {
			break
		}
	}
	if at.price == 0 && (best.price != 0 || !o.Type.HasPrice()) {
		v.counts.Short++
	}
	if v.err == nil {
		v.settleRest(b, o)
	}
}
