package sim

import "github.com/tidemark-trading/tidemark/market"

// rank is where a resting order stands in the queue of its price in a recorded book.
type rank struct {
	ahead  market.Qty  // displayed at its arrival, less the trades at its price since
	clamps []clamp     // of later snapshots, each below ahead and below those before it
	since  market.Time // of its arrival, or of the first book that it stood in
}

// clamp is the most that stands before an order because a snapshot shows no more, less the trades
// since. A trade that the snapshot contains, but that arrives after it, leaves it as it is.
type clamp struct {
	amount market.Qty
	seen   market.Time
}

// left is the amount that stands before the order now.
func (r *rank) left() market.Qty {
	if n := len(r.clamps); n > 0 {
		return r.clamps[n-1].amount
	}
	return r.ahead
}

// see takes a new amount of the level. What left it left from behind, as long as as much is there
// as stood before the order.
func (r *rank) see(amount market.Qty, seen market.Time) {
	if amount < r.left() {
		r.clamps = append(r.clamps, clamp{amount, seen})
	}
}

// before is the amount of others that a trade meets before the order.
func (r *rank) before(t *market.Trade) market.Qty {
	ahead := r.ahead
	for _, c := range r.clamps {
		if !late(t, c.seen) {
			ahead = min(ahead, c.amount)
		}
	}
	return ahead
}

// forward moves the order forward by what others got of a trade.
func (r *rank) forward(t *market.Trade, passed market.Qty) {
	if r.ahead != noCap {
		r.ahead -= min(r.ahead, passed)
	}
	least, kept := r.ahead, r.clamps[:0]
	for _, c := range r.clamps {
		if !late(t, c.seen) {
			c.amount -= min(c.amount, passed)
		}
		if c.amount < least {
			least, kept = c.amount, append(kept, c)
		}
	}
	r.clamps = kept
}

// QueueCounts are counts of the orders that met a recorded book, and of their fills as makers.
type QueueCounts struct {
	Orders int64 `json:"orders"` // took from a recorded book, or rested in one
	Blind  int64 `json:"blind"`  // took or rested while the recording showed no book
	Large  int64 `json:"large"`  // of Orders: above a tenth of the displayed depth that they took from, or joined
	Short  int64 `json:"short"`  // wanted more than the recorded levels offered
	// Fills by their cause: a trade at the order's price after all that stood before it, a trade
	// through the price, a displayed offer of the other side that reached the price, a last price
	// of a ticker through it, in a market without recorded trades.
	Queued  int64 `json:"queued"`
	Through int64 `json:"through"`
	Crossed int64 `json:"crossed"`
	Ticked  int64 `json:"ticked"`
}

// largePart is the part of the displayed depth above which an order is large, as 1/largePart.
const largePart = 10

// Counts returns the counts of LimitFill Queue.
func (v *Venue) Counts() QueueCounts { return v.counts }

// Ahead returns the amount of others that stands before a resting order in the recorded book. known
// is false for an order that does not rest in one, or whose price lies beyond the recorded levels.
func (v *Venue) Ahead(id market.OrderID) (ahead market.Qty, known bool) {
	o := v.orders.Get(id)
	if o == nil || o.rank == nil {
		return 0, false
	}
	ahead = o.rank.left()
	return ahead, ahead != noCap
}

// joinQueue gives an order that comes to rest its place, behind all that is displayed at its price.
// An order beyond the last level stands behind an unknown amount until a book reaches it.
func (b *book) joinQueue(o *order) {
	level, known := b.shown.at(o.Side, o.Price)
	if !known {
		level.amount = noCap
	}
	o.rank = &rank{ahead: level.amount, since: b.time}
}

// standIn brings the places of resting orders up to date with a new snapshot. joining: there was no
// book before.
func (v *matching) standIn(b *book, at market.Time, joining bool) {
	b.time, b.volume = max(b.time, at), noCap
	for _, l := range [...]*ladder{&b.below, &b.above} {
		for e := range l.limits.nearest {
			if o := e.order; joining {
				b.joinQueue(o)
			} else if level, known := b.shown.at(o.Side, o.Price); known {
				o.rank.see(level.amount, level.time)
			}
		}
	}
	v.fillCrossedByBook(b)
}

// fillCrossedByBook fills the orders that displayed offers of the other side have reached, the best
// price first: the offers would have met them on their way.
func (v *matching) fillCrossedByBook(b *book) {
	if b.market.Status != market.Trading {
		return
	}
	for _, l := range [...]*ladder{&b.below, &b.above} {
		v.reached = v.reached[:0]
		for e := range l.limits.nearest {
			if best := b.shown.offered(e.order.Side); !e.order.accepts(best.price) {
				break
			}
			v.reached = append(v.reached, share{order: e.order, rank: e.order.rank})
		}
		for _, s := range v.reached {
			for at := range b.shown.offers(s.order.Side) {
				if !s.stands() || !s.order.accepts(at.price) {
					break
				}
				amount := min(s.order.AmountRemaining, at.amount)
				at.rung.own += amount
				v.fillMaker(b, s.order, amount, &v.counts.Crossed)
			}
			v.arriveAttached(b)
		}
	}
}

// share is the part of a trade that an own order gets.
type share struct {
	order  *order
	rank   *rank
	amount market.Qty
}

// stands reports whether the order still has the place at which it got its share.
func (s *share) stands() bool {
	return !s.order.Done() && s.order.resting && s.order.rank == s.rank
}

// fillMaker fills a resting order at its price.
func (v *matching) fillMaker(b *book, o *order, amount market.Qty, count *int64) {
	*count++
	b.filled++
	v.trade(b, o, o.Price, amount, false)
}

// tradeInQueue gives a recorded trade to the orders that it reaches, its amount once: first to
// those at a better price than its own, which it went through, then at its price to each after the
// others that stand before it.
func (v *matching) tradeInQueue(b *book, t *market.Trade, at market.Time) {
	b.time, b.volume = max(b.time, at), noCap
	v.reached = v.reached[:0]
	rest := t.Amount
	if b.market.Status == market.Trading {
		rest = v.shareOut(b, &b.below, t, rest)
		rest = v.shareOut(b, &b.above, t, rest)
	}
	got := market.Qty(0)
	for _, s := range v.reached {
		got += s.amount
	}
	b.shown.traded(t, got)
	for _, s := range v.reached {
		if s.amount > 0 && s.stands() {
			count := &v.counts.Through
			if s.order.Price == t.Price {
				count = &v.counts.Queued
			}
			v.fillMaker(b, s.order, s.amount, count)
			v.arriveAttached(b)
		}
	}
}

// shareOut notes the shares of the orders of one ladder in a trade of which rest is left, moves
// their places forward, and returns what is left then.
func (v *matching) shareOut(b *book, l *ladder, t *market.Trade, rest market.Qty) market.Qty {
	passed, first := market.Qty(0), len(v.reached) // passed: what others at the trade's price got
	for e := range l.limits.nearest {
		o := e.order
		if !crosses(o.Side, o.Price, t.Price) || o.Price == t.Price && o.Side == t.Side {
			break
		}
		if t.Time != 0 && t.Time < o.rank.since {
			continue // the trade was before the order
		}
		if o.Price == t.Price {
			others := min(rest, max(0, o.rank.before(t)-passed))
			rest, passed = rest-others, passed+others
		}
		amount := min(rest, o.AmountRemaining)
		rest -= amount
		v.reached = append(v.reached, share{o, o.rank, amount})
	}
	for _, s := range v.reached[first:] {
		if s.order.Price == t.Price {
			s.rank.forward(t, passed)
		} else {
			s.rank.ahead, s.rank.clamps = 0, nil
		}
	}
	return rest
}

// tickInQueue takes what a ticker says of a recorded book: bid and ask are its best levels. In a
// market without recorded trades a new last price is a trade of unknown amount: it fills what it
// goes through.
func (v *matching) tickInQueue(b *book, t *market.Ticker, at market.Time) {
	b.time, b.volume = max(b.time, at), noCap
	b.shown.quote(market.Buy, t.Ask, t.AskSize, at)
	b.shown.quote(market.Sell, t.Bid, t.BidSize, at)
	b.below.seeQuote(t.Bid, t.BidSize, at)
	b.above.seeQuote(t.Ask, t.AskSize, at)
	v.fillCrossedByBook(b)
	if !b.tradesRecorded && t.Last != b.last && t.Last != 0 && b.last != 0 && b.market.Status == market.Trading {
		v.fillPassed(b, t.Last)
	}
}

// seeQuote brings the places of orders at or before the best price of their side up to date: before
// it no other stands.
func (l *ladder) seeQuote(best market.Price, size market.Qty, at market.Time) {
	for e := range l.limits.nearest {
		o := e.order
		switch {
		case best == 0 || !crosses(o.Side, o.Price, best):
			return
		case o.Price != best:
			o.rank.see(0, at)
		case size > 0:
			o.rank.see(size, at)
		}
	}
}

// fillPassed fills the orders that a price has gone through.
func (v *matching) fillPassed(b *book, last market.Price) {
	v.reached = v.reached[:0]
	for _, l := range [...]*ladder{&b.below, &b.above} {
		for e := range l.limits.nearest {
			if e.order.Price == last || !crosses(e.order.Side, e.order.Price, last) {
				break
			}
			v.reached = append(v.reached, share{order: e.order, rank: e.order.rank})
		}
	}
	for _, s := range v.reached {
		if s.stands() {
			v.fillMaker(b, s.order, s.order.AmountRemaining, &v.counts.Ticked)
			v.arriveAttached(b)
		}
	}
}

// weigh counts an order that meets a recorded book, once, and whether it is large there: its own
// effect on the market is then no longer small, and nothing here knows it.
func (c *QueueCounts) weigh(b *book, o *order, best *offer) {
	taker, amount := o.Side.Opposite(), o.AmountRemaining
	if o.accepts(best.price) {
		taker = o.Side
		amount, _ = o.affordable(b.market, best.price) // an overflow comes again where it trades
	}
	if !o.weighed {
		c.Orders++
	}
	if large := amount > b.shown.depth(taker)/largePart; large && !o.large {
		c.Large++
		o.large = true
	}
	o.weighed = true
}
