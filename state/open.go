package state

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// seat is what one strategy has in one market: its position, the balances that its orders hold, and
// its open orders, by id.
type seat struct {
	market      *market.Market
	position    market.Position
	held        [sides]*Balance // by market.Side: a buy holds quote, a sell base
	valued      []market.ID     // in which its base or its quote is the base
	of          *openOf
	in          *openIn
	first, last *Order
	buying      amounts // what its buys over base amounts may still add
	byQuote     int     // buys over quote amounts
	listed      member
}

// member says which lists have a seat: those of its strategy, those of its market. A list drops a
// seat without open orders when it is next read.
type member uint8

const (
	ofItsStrategy member = 1 << iota
	ofItsMarket
)

// openLinks is the place of an open order among the others; that of an ended one is zero.
type openLinks struct {
	open           bool
	previous, next *Order // of the list
	stamp          uint64 // of its entry in the best prices of its side; 0: none
}

// openOf is the open orders of a strategy.
type openOf struct {
	count, inFlight int
	claimed         int // slots of orders that wait
	lists           []*seat
}

// openIn is the open orders in a market.
type openIn struct {
	count      int // against maxOpenOrders
	bids, asks bestPrices
	lists      []*seat
	holds      [sides]market.Money // by market.Side: of open orders and of claims
}

// sides is the length of a list by market.Side.
const sides = market.Sell + 1

// best returns the best prices of a side.
func (m *openIn) best(side market.Side) *bestPrices {
	if side == market.Buy {
		return &m.bids
	}
	return &m.asks
}

// Open appends the open orders of strategy s in market m, by id; 0 stands for all.
func (a *Account) Open(dst []*market.Order, s market.StrategyID, m market.ID) []*market.Order {
	switch {
	case s != 0 && m != 0:
		return a.seats[s][m].appendTo(dst)
	case s != 0:
		return gather(dst, &a.openOf[s].lists, ofItsStrategy)
	case m != 0:
		return gather(dst, &a.openIn[m].lists, ofItsMarket)
	}
	from := len(dst)
	for s := range a.openOf {
		dst = gather(dst, &a.openOf[s].lists, ofItsStrategy)
	}
	sortByID(dst[from:])
	return dst
}

// IsIdle reports whether strategy s has no open order in market m.
func (a *Account) IsIdle(s market.StrategyID, m market.ID) bool { return a.seats[s][m].first == nil }

// gather appends the orders of lists by id, and drops the empty lists.
func gather(dst []*market.Order, lists *[]*seat, what member) []*market.Order {
	from, kept := len(dst), (*lists)[:0]
	for _, l := range *lists {
		if l.first == nil {
			l.listed &^= what
			continue
		}
		kept, dst = append(kept, l), l.appendTo(dst)
	}
	*lists = kept
	if len(kept) > 1 {
		sortByID(dst[from:])
	}
	return dst
}

func sortByID(orders []*market.Order) {
	slices.SortFunc(orders, func(x, y *market.Order) int { return cmp.Compare(x.ID, y.ID) })
}

// OpenIn is the number of orders that count against maxOpenOrders of a market.
func (a *Account) OpenIn(m market.ID) int { return a.openIn[m].count }

// OpenBy is the number of open orders of a strategy.
func (a *Account) OpenBy(s market.StrategyID) int { return a.openOf[s].count }

// InFlightBy is the number of a strategy's open orders with an unanswered command.
func (a *Account) InFlightBy(s market.StrategyID) int { return a.openOf[s].inFlight }

// OpenBuys is the base that a strategy's open buys over base amounts may still add in a market, and
// the number of its open buys over quote amounts. A sum that no Qty can hold wraps
// market.ErrOverflow.
func (a *Account) OpenBuys(s market.StrategyID, m market.ID) (base market.Qty, byQuote int, err error) {
	l := &a.seats[s][m]
	sum, err := l.buying.sum()
	return market.Qty(sum), l.byQuote, err
}

// BestOwn is the best price of the own limit orders on a side of a market, of all strategies: the
// highest bid, the lowest ask; 0: there is none. Orders that wait for their trigger do not count.
func (a *Account) BestOwn(m market.ID, side market.Side) market.Price {
	return a.openIn[m].best(side).price()
}

// Opponent is the oldest open order of another strategy on a side of a market, nil: there is none.
// Orders that wait for their trigger do not count.
func (a *Account) Opponent(s market.StrategyID, m market.ID, side market.Side) (oldest *market.Order) {
	for _, l := range a.openIn[m].lists {
		if l.first == nil || l.first.Strategy == s {
			continue
		}
		for o := l.first; o != nil; o = o.next {
			if o.Side == side && (o.Triggered || !o.Type.HasTrigger()) {
				if oldest == nil || o.ID < oldest.ID {
					oldest = &o.Order
				}
				break // the list is by id
			}
		}
	}
	return oldest
}

// addOpen adds an order to the open ones.
func (a *Account) addOpen(o *Order) {
	l := o.seat
	o.open = true
	if l.last == nil && l.listed == ofItsStrategy|ofItsMarket {
		l.first, l.last = o, o
	} else {
		l.join(o)
	}
	l.of.count++
	if o.InFlight != 0 {
		l.of.inFlight++
	}
	if o.Side == market.Buy {
		l.countBuy(o, 1)
	}
	if o.Type != market.TypeMarket {
		a.addResting(o)
	}
}

// addResting adds an order to those that can rest in its market.
func (a *Account) addResting(o *Order) {
	o.seat.in.count++
	if o.canMatch() {
		a.enterBest(o)
	}
}

// removeOpen removes an order from the open ones, if it is still there.
func (a *Account) removeOpen(o *Order) {
	if !o.open {
		return
	}
	l := o.seat
	if l.first == l.last {
		l.first, l.last = nil, nil
	} else {
		l.remove(o)
	}
	l.of.count--
	if o.InFlight != 0 {
		l.of.inFlight--
	}
	if o.Side == market.Buy {
		l.countBuy(o, -1)
	}
	if o.Type != market.TypeMarket {
		l.in.removeResting(o)
	}
	o.open = false
}

//go:noinline
func (m *openIn) removeResting(o *Order) {
	m.count--
	if o.stamp != 0 {
		m.leaveBest(o)
	}
}

// setInFlight notes the unanswered write of an order, 0 for none.
func (o *Order) setInFlight(kind market.CommandKind) {
	if o.open && (o.InFlight == 0) != (kind == 0) {
		if kind == 0 {
			o.seat.of.inFlight--
		} else {
			o.seat.of.inFlight++
		}
	}
	o.InFlight = kind
}

// setOrderState changes the terms of an order.
func (a *Account) setOrderState(o *Order, to *market.OrderState) {
	price, triggered := o.Price, o.Triggered
	if o.open && o.Side == market.Buy {
		o.seat.countBuy(o, -1)
	}
	o.OrderState = *to
	o.Triggered = triggered || to.Triggered // a trigger stays fired; the record of a cancelled order omits it
	if o.open && o.Side == market.Buy {
		o.seat.countBuy(o, 1)
	}
	if o.open && o.Type != market.TypeMarket {
		a.updateBest(o, price)
	}
}

// updateBest brings the best prices up to date after an open order changed; price is that before.
func (a *Account) updateBest(o *Order, price market.Price) {
	can := o.canMatch()
	if o.stamp != 0 && (!can || o.Price != price) {
		o.seat.in.leaveBest(o)
	}
	if can && o.stamp == 0 {
		a.enterBest(o)
	}
}

// canMatch reports whether another order could match an open order at its limit.
func (o *Order) canMatch() bool { return o.Type.HasPrice() && (o.Triggered || !o.Type.HasTrigger()) }

func (a *Account) enterBest(o *Order) {
	a.stamps++
	o.stamp = a.stamps
	o.seat.in.best(o.Side).add(o)
}

func (m *openIn) leaveBest(o *Order) {
	o.stamp = 0
	m.best(o.Side).removed()
}

func (l *seat) appendTo(dst []*market.Order) []*market.Order {
	for o := l.first; o != nil; o = o.next {
		dst = append(dst, &o.Order)
	}
	return dst
}

// free is the base of the position that no open sell holds.
func (l *seat) free() market.Money {
	free := market.Money(l.position.Amount)
	for o := l.first; o != nil && free > 0; o = o.next {
		if o.Side == market.Sell {
			free -= o.OnHold
		}
	}
	return max(0, free)
}

// join adds an order behind those with lower ids: mostly it is the last. It adds the list to those
// of its strategy and its market.
func (l *seat) join(o *Order) {
	if l.listed&ofItsStrategy == 0 {
		l.of.lists = append(l.of.lists, l)
	}
	if l.listed&ofItsMarket == 0 {
		l.in.lists = append(l.in.lists, l)
	}
	l.listed = ofItsStrategy | ofItsMarket
	before := l.last
	for before != nil && before.ID > o.ID {
		before = before.previous
	}
	o.previous, o.next = before, l.first
	if before == nil {
		l.first = o
	} else {
		o.next, before.next = before.next, o
	}
	if o.next == nil {
		l.last = o
	} else {
		o.next.previous = o
	}
}

// remove takes an order out from among others.
//
//go:noinline
func (l *seat) remove(o *Order) {
	if o.previous == nil {
		l.first = o.next
	} else {
		o.previous.next = o.next
	}
	if o.next == nil {
		l.last = o.previous
	} else {
		o.next.previous = o.previous
	}
	o.previous, o.next = nil, nil
}

// countBuy counts what a buy may still add; by is 1, or -1 to take it back.
func (l *seat) countBuy(o *Order, by int) {
	if o.ByQuote() {
		l.byQuote += by
		return
	}
	l.buying.add(int64(o.AmountRemaining) * int64(by))
}

// amounts is a sum of amounts in 128 bits: 2^64·high + low.
type amounts struct {
	high int64
	low  uint64
}

func (s *amounts) add(amount int64) {
	low, carry := bits.Add64(s.low, uint64(amount), 0)
	s.low, s.high = low, s.high+amount>>63+int64(carry)
}

// sum is the sum, if it fits.
func (s *amounts) sum() (int64, error) {
	if s.high != int64(s.low)>>63 {
		return 0, fmt.Errorf("sum of amounts: %w", market.ErrOverflow)
	}
	return int64(s.low), nil
}

// bestPrices finds the best limit price of one side of a market. It is a heap, the best price
// first. An order that left, or changed its price, leaves its entry behind with a stamp that is no
// longer the order's; such entries go when they come to the top, or when they are the most.
type bestPrices struct {
	entries []bestEntry
	orders  int // those with an entry
}

type bestEntry struct {
	rank  market.Price // lower is better: the price of an ask, minus the price of a bid
	stamp uint64
	order *Order
}

// price is the best one, or 0.
func (b *bestPrices) price() market.Price {
	if len(b.entries) == 0 {
		return 0
	}
	return b.top()
}

// top is price where there are entries.
func (b *bestPrices) top() market.Price {
	for len(b.entries) > 0 {
		if e := &b.entries[0]; e.order.stamp == e.stamp {
			return e.order.Price
		}
		last := len(b.entries) - 1
		b.entries[0] = b.entries[last]
		b.entries = b.entries[:last]
		b.down(0)
	}
	return 0
}

// add enters an order with a new stamp.
func (b *bestPrices) add(o *Order) {
	if len(b.entries) >= 2*b.orders+32 {
		b.sweep()
	}
	b.orders++
	e := bestEntry{rank: o.Price, stamp: o.stamp, order: o}
	if o.Side == market.Buy {
		e.rank = -e.rank
	}
	at := len(b.entries)
	b.entries = append(b.entries, e)
	for at > 0 {
		parent := (at - 1) / 2
		if b.entries[parent].rank <= e.rank {
			break
		}
		b.entries[at] = b.entries[parent]
		at = parent
	}
	b.entries[at] = e
}

// removed notes that an order has left.
func (b *bestPrices) removed() {
	if b.orders--; b.orders == 0 {
		b.entries = b.entries[:0]
	}
}

// sweep drops the entries that orders left behind.
func (b *bestPrices) sweep() {
	kept := b.entries[:0]
	for _, e := range b.entries {
		if e.order.stamp == e.stamp {
			kept = append(kept, e)
		}
	}
	b.entries = kept
	for at := len(kept)/2 - 1; at >= 0; at-- {
		b.down(at)
	}
}

// down moves an entry away from the top until no better one is below it.
func (b *bestPrices) down(at int) {
	n := len(b.entries)
	if at >= n {
		return
	}
	e := b.entries[at]
	for {
		child := 2*at + 1
		if child >= n {
			break
		}
		if child+1 < n && b.entries[child+1].rank < b.entries[child].rank {
			child++
		}
		if e.rank <= b.entries[child].rank {
			break
		}
		b.entries[at] = b.entries[child]
		at = child
	}
	b.entries[at] = e
}
