package sim

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Resting is the whole state of an open order, between two commands.
type Resting struct {
	Order      market.Order
	Settlement exchange.Settlement
	Sequence   int64 // at equal prices the lower one is served first
	Aside      bool  // neither rests nor trades until Release
}

// Snapshot returns an open order, and false where there is none of that id.
func (v *Venue) Snapshot(id market.OrderID) (Resting, bool) {
	o := v.orders.Get(id)
	if o == nil {
		return Resting{}, false
	}
	return Resting{Order: o.Order, Settlement: o.settlement, Sequence: o.sequence, Aside: o.aside}, true
}

// Restore puts an open order of another venue's Snapshot at its old place; the sink gets no event.
// Restore accounts and balances first, and of the orders at one price the one with the lowest
// Sequence first. An order that cannot exist is an error, and the venue is unchanged.
func (v *Venue) Restore(a AccountID, r *Resting) error {
	if err := v.restorable(a, r); err != nil {
		return fmt.Errorf("restore order %d: %w", r.Order.ID, err)
	}
	o := v.orders.fresh()
	o.Order, o.settlement, o.sequence = r.Order, r.Settlement, r.Sequence
	o.belongTo(v.accounts.list[a])
	o.in.held[o.Side].Held += o.OnHold
	if o.Type != market.TypeMarket {
		o.in.open++
	}
	v.orders.Put(o.ID, o)
	if o.aside = r.Aside; !o.aside {
		v.rest(&v.books[o.Market], o)
	}
	v.sequence = max(v.sequence, o.sequence)
	return nil
}

// restorable returns an error that says why an order cannot be one of a Snapshot.
func (v *Venue) restorable(a AccountID, r *Resting) error {
	o := &r.Order
	if a < 0 || int(a) >= len(v.accounts.list) {
		return fmt.Errorf("there is no account %d", a)
	}
	if o.Market == 0 || int(o.Market) >= len(v.books) {
		return fmt.Errorf("there is no market %d", o.Market)
	}
	b := &v.books[o.Market]
	switch balance := v.accounts.list[a].balances; {
	case o.ID <= 0 || v.orders.Get(o.ID) != nil:
		return fmt.Errorf("the id is none, or taken")
	case o.Side != market.Buy && o.Side != market.Sell:
		return fmt.Errorf("side %d", o.Side)
	case o.Done() || o.Status == 0 || !o.Type.HasPrice() && !waitsForTrigger(o) && !r.Aside ||
		waitsForTrigger(o) != (o.Status == market.StatusAwaitingTrigger):
		return fmt.Errorf("a %s order with status %s does not rest", o.Type, o.Status)
	case o.AmountRemaining < 0 || o.AmountQuoteRemaining < 0 || o.AmountRemaining == 0 && o.AmountQuoteRemaining == 0:
		return fmt.Errorf("nothing of it is left")
	case o.Type.HasPrice() && o.Price <= 0 || waitsForTrigger(o) && o.TriggerAmount <= 0:
		return fmt.Errorf("it has no price")
	case o.OnHoldCurrency != exchange.HoldAsset(b.market, o.Side) || o.OnHold < 0 ||
		balance[o.OnHoldCurrency].Total-balance[o.OnHoldCurrency].Held < o.OnHold:
		return fmt.Errorf("it holds %d of asset %d, more than there is", o.OnHold, o.OnHoldCurrency)
	}
	if !waitsForTrigger(o) && !r.Aside && b.bids != nil {
		if last := b.queueAt(o.Side, o.Price); last != nil && last.sequence >= r.Sequence {
			return fmt.Errorf("sequence %d stands behind %d of order %d", r.Sequence, last.sequence, last.ID)
		}
	}
	return nil
}

// queueAt returns the last order in the queue of a price, or nil.
func (b *book) queueAt(side market.Side, price market.Price) *order {
	d := b.opposite(side.Opposite())
	if l := d.find(price); l != nil {
		return l.last
	}
	return nil
}

// find returns the level of a price, or nil.
func (d *depth) find(price market.Price) *level {
	if d.root == nil || price%d.unit != 0 {
		return nil
	}
	key, n := uint64(price/d.unit), d.root
	if key>>(digit*(d.height+1)) != 0 {
		return nil
	}
	for row := d.height; row > 1; row-- {
		if n = n.kids[key>>(digit*row)&63]; n == nil {
			return nil
		}
	}
	if f := n.leaves[key>>digit&63]; f != nil {
		return f.levels[key&63]
	}
	return nil
}

// BookState is the state of a market's Book, apart from the orders in it.
type BookState struct {
	Last, Bid, Ask market.Price
	Time           market.Time
	Placed, Filled uint64         // orders and trades so far
	Liquidity      LiquidityState `json:"House"` // the key of saved files
}

// LiquidityState is the state of the house in a Book.
type LiquidityState struct {
	Price, Step market.Price
	Best        [2]market.Price // by the taker's side
	Taken       [2][]market.Qty // of each level, by the taker's side
	Sequence    int64
}

// BookState returns the state of a market's Book. It shares no memory with the venue.
func (v *Venue) BookState(id market.ID) BookState {
	b := &v.books[id]
	h := &b.house
	s := BookState{Last: b.last, Bid: b.bid, Ask: b.ask, Time: b.time, Placed: b.placed, Filled: b.filled}
	s.Liquidity = LiquidityState{Price: h.price, Step: h.step, Best: h.best, Sequence: h.sequence}
	for side, taken := range h.taken {
		s.Liquidity.Taken[side] = append([]market.Qty(nil), taken...)
	}
	return s
}

// Resume sets the state of a market's Book to that of another venue. New levels of the house begin
// untaken. Restore brings the orders, before or after.
func (v *Venue) Resume(id market.ID, s *BookState) {
	b := &v.books[id]
	b.last, b.bid, b.ask, b.time, b.placed, b.filled = s.Last, s.Bid, s.Ask, s.Time, s.Placed, s.Filled
	h := &b.house
	h.price, h.step, h.best, h.sequence = s.Liquidity.Price, s.Liquidity.Step, s.Liquidity.Best, s.Liquidity.Sequence
	for side := range h.taken {
		copy(h.taken[side], s.Liquidity.Taken[side])
	}
	v.now = max(v.now, b.time)
	v.sequence = max(v.sequence, h.sequence)
}

// Err returns the arithmetic error after which the venue stands still, or nil.
func (v *Venue) Err() error { return v.err }
