package sim

import "github.com/tidemark-trading/tidemark/market"

// status sets a market's status (specification 3.2). auctionMatching matches resting orders at the
// opening price; trading executes the entries that the price reached in the meantime.
func (v *Venue) status(ev *market.Event) {
	b := &v.books[ev.Market]
	b.time, b.times[0] = ev.At, ev.At
	b.market.Status = ev.Status
	if b.bids != nil && ev.Status == market.Trading {
		v.uncross(b, 0) // orders of an auction that was never matched
	}
	if ev.Status == market.Trading && b.last != 0 {
		b.volume = noCap
		v.open(b) // entries that the price reached while the market was not trading
		v.fireTriggers(b)
	}
	if ev.Status != market.AuctionMatching {
		return
	}
	if b.bids != nil {
		v.uncross(b, ev.Price)
		return
	}
	if ev.Price != 0 {
		b.last = ev.Price
	}
	b.volume = noCap
	for _, l := range [...]*ladder{&b.below, &b.above} {
		v.matchAuction(b, l)
	}
}

// matchAuction fills the limit orders of one side that accept the opening price, best first;
// post-only orders that would match are cancelled instead.
func (v *matching) matchAuction(b *book, l *ladder) {
	for v.err == nil {
		next := l.limits.next()
		if next == nil || !crosses(next.order.Side, next.order.Price, b.last) {
			return
		}
		if next.order.PostOnly {
			v.end(b, next.order, market.StatusCanceled, market.CancelPostOnlyOnAuctionMatching)
			continue
		}
		b.filled++
		v.trade(b, next.order, b.last, next.order.AmountRemaining, false)
	}
}
