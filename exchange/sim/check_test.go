package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// check asserts what holds for the venue between any two calls of Advance.
func check(t require.TestingT, v *Venue) {
	open, waiting := make([]int, len(v.books)), make([]int, len(v.books)) // of all accounts
	for _, o := range openOrders(v) {
		require.Same(t, o, v.orders.Get(o.ID), "order %d is in a ladder and not found", o.ID)
		require.False(t, o.Done(), "order %d is done and still listed", o.ID)
		require.True(t, o.resting, "order %d does not know that it rests", o.ID)
		open[o.Market]++
		checkAmounts(t, o)
	}
	aside := make([]int, len(v.books))
	for _, o := range ordersAside(v) {
		require.False(t, o.resting || o.Visible, "order %d stands aside and is in the book", o.ID)
		if o.Type != market.TypeMarket {
			aside[o.Market]++
		}
		checkAmounts(t, o)
	}
	require.Equal(t, len(openOrders(v))+len(ordersAside(v)), v.orders.Len(), "an order is in no ladder, or in two")
	for _, a := range v.waiting {
		waiting[a.book.market.ID]++
	}
	for i := 1; i < len(v.books); i++ {
		b := &v.books[i]
		require.Empty(t, b.takers)
		require.Equal(t, open[i]+aside[i], openOf(v, b.market.ID), "open orders of %s", b.market.Name)
		resting := 0
		if b.bids != nil {
			checkDepth(t, b, b.bids)
			checkDepth(t, b, b.asks)
			resting = b.bids.orders + b.asks.orders
		}
		require.Equal(t, open[i], inLadder(&b.below)+inLadder(&b.above)+resting, "entries of %s", b.market.Name)
		require.Equal(t, waiting[i], b.waiting, "commands on their way to %s", b.market.Name)
		checkLadder(t, v, b, &b.below)
		checkLadder(t, v, b, &b.above)
	}
	checkHolds(t, v)
}

func openOf(v *Venue, id market.ID) (open int) {
	for _, a := range v.accounts.list {
		open += a.markets[id].open
	}
	return open
}

// checkDepth asserts that a side's levels stand best first, each with its orders by age and their
// sum.
func checkDepth(t require.TestingT, b *book, d *depth) {
	levels, orders, before := 0, 0, (*level)(nil)
	for l := d.first; l != nil; l = d.next(l) {
		require.True(t, before == nil || (l.price < before.price) == d.bids, "levels of %s stand the wrong way round",
			b.market.Name)
		require.Same(t, l, d.at(l.price))
		var total market.Qty
		for o := l.first; o != nil; o = o.next {
			require.Same(t, l, o.queue)
			require.Equal(t, l.price, o.Price)
			require.True(t, o.next == nil || o.next.prev == o && o.sequence < o.next.sequence, "order %d", o.ID)
			total += o.AmountRemaining
			orders++
		}
		require.Equal(t, total, l.size())
		before = l
		levels++
	}
	require.Equal(t, d.levels, levels)
	require.Equal(t, d.orders, orders)
}

// openOrders returns what is in the ladders and on the sides of a Book.
func openOrders(v *Venue) (all []*order) {
	for i := 1; i < len(v.books); i++ {
		for _, d := range [...]*depth{v.books[i].bids, v.books[i].asks} {
			for l := d.best(); l != nil; l = d.next(l) {
				for o := l.first; o != nil; o = o.next {
					all = append(all, o)
				}
			}
		}
		for _, l := range [...]*ladder{&v.books[i].below, &v.books[i].above} {
			for _, list := range [...]*entries{l.limits, l.triggers} {
				for e := range list.nearest {
					all = append(all, e.order)
				}
			}
		}
	}
	return all
}

// ordersAside returns the orders that stand aside, of those with small ids.
func ordersAside(v *Venue) (all []*order) {
	if len(openOrders(v)) == v.orders.Len() {
		return nil
	}
	for id := range market.OrderID(100) {
		if o := v.orders.Get(id); o != nil && o.aside {
			all = append(all, o)
		}
	}
	return all
}

func checkAmounts(t require.TestingT, o *order) {
	if o.ByQuote() {
		require.Positive(t, o.AmountQuoteRemaining, "order %d", o.ID)
		return
	}
	require.Positive(t, o.AmountRemaining, "order %d", o.ID)
	require.Equal(t, o.Amount, o.FilledAmount+o.AmountRemaining, "order %d", o.ID)
}

// checkLadder asserts that the entries stand in the order in which they are reached, last first,
// and belong to open orders.
func checkLadder(t require.TestingT, v *Venue, b *book, l *ladder) {
	quoted, level := 0, newLadder(l.down).level
	for _, list := range [...]*entries{l.limits, l.triggers} {
		var near *entry
		count := 0
		for e := range list.nearest {
			require.Same(t, b.side(e.order), l, "order %d is in the wrong ladder", e.order.ID)
			require.Equal(t, e.order.level, e.level)
			require.Equal(t, e.order.sequence, e.sequence)
			require.Same(t, l.list(e.order), list)
			require.True(t, near == nil || inOrder(e, near, l.down), "order %d stands at the wrong place", e.order.ID)
			if near == nil && (e.level > level) == l.down {
				level = e.level
			}
			if waitsForTrigger(&e.order.Order) && e.order.TriggerReference > market.LastTrade {
				quoted++
			}
			near = e
			count++
		}
		require.Equal(t, count, list.count)
		checkBlocks(t, list)
	}
	require.Equal(t, []int64{int64(quoted), int64(level)}, []int64{int64(l.quoted), int64(l.level)})
}

// checkBlocks asserts that no block is empty or too long.
func checkBlocks(t require.TestingT, list *entries) {
	require.LessOrEqual(t, len(list.near), blockSize)
	require.True(t, len(list.near) > 0 || len(list.far) == 0)
	for _, block := range list.far {
		require.NotEmpty(t, block)
		require.LessOrEqual(t, len(block), blockSize)
	}
}

func inLadder(l *ladder) int { return l.limits.count + l.triggers.count }

func inOrder(far, near *entry, down bool) bool {
	if far.level == near.level {
		return far.sequence > near.sequence
	}
	return (far.level < near.level) == down
}

// checkHolds asserts that each asset holds exactly what its open orders hold, and no more than
// there is.
func checkHolds(t require.TestingT, v *Venue) {
	for _, a := range v.accounts.list {
		held := make([]market.Money, len(a.balances))
		for _, o := range append(openOrders(v), ordersAside(v)...) {
			if o.account == a {
				require.GreaterOrEqual(t, o.OnHold, market.Money(0), "order %d", o.ID)
				held[o.OnHoldCurrency] += o.OnHold
			}
		}
		for asset, balance := range a.balances {
			require.Equal(t, held[asset], balance.Held, "asset %d", asset)
			require.LessOrEqual(t, balance.Held, balance.Total, "asset %d", asset)
		}
	}
}

func TestCheckSeesAHoldThatNobodyHas(t *testing.T) {
	bench := newBench(t)
	bench.venue.solo.balances[1].Held = 1
	require.Panics(t, func() { check(panicking{}, bench.venue) })
}

func TestCheckSeesALadderInDisorder(t *testing.T) {
	bench := newBench(t)
	b := &bench.venue.books[1]
	o := &order{Order: market.Order{ID: 1, Market: 1, Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Status: market.StatusNew, Amount: 1, AmountRemaining: 1}},
		life: life{resting: true}}
	o.belongTo(bench.venue.solo)
	bench.venue.orders.Put(1, o)
	bench.venue.solo.markets[1].open = 1
	b.above.insert(o) // a limit buy waits below
	require.Panics(t, func() { check(panicking{}, bench.venue) })
}

// panicking turns a failed assertion into a panic.
type panicking struct{}

func (panicking) Errorf(string, ...any) {}
func (panicking) FailNow()              { panic("the check has failed") }

// best is the first level of a side; a venue without a Book has no sides.
func (d *depth) best() *level {
	if d == nil {
		return nil
	}
	return d.first
}
