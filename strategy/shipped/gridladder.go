package shipped

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"sort"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// ladder is the state of one market. Prices and amounts of the rungs are reckoned when the centre
// or the market's rules change. A close costs as much as there is to do: it looks up the orders
// that a report has named, and fills the empty rungs that it can. Rungs that rest, or wait for a
// price or for cash, cost nothing.
type ladder struct {
	Centre market.Price `json:"centre"`
	Buys   half         `json:"buys"`
	Sells  half         `json:"sells"`

	money    market.Money
	reckoned bool // the rungs are those of the centre and of rules
	rules    market.Rules
	reach    market.Price // a close farther from the centre moves it

	held    market.Qty // the position
	offered market.Qty // open amount of all own sells in the market, while counted
	counted bool

	settled   bool         // at the last close no ask was under way or refused
	poor      bool         // a buy waits for cash
	low, high market.Price // a close beyond moves the centre or fills an empty rung
}

// half is the rungs of one side, the nearest first. A rung in neither set rests, or its order would
// be too small: there is nothing to do for it.
type half struct {
	rungs  []rung
	unsure rungSet // to be looked up
	empty  rungSet // to be filled: the order is gone, or was never placed
}

func newHalf(levels int) half { return half{rungs: make([]rung, levels)} }

// MarshalJSON writes the orders of the rungs.
func (h half) MarshalJSON() ([]byte, error) {
	orders := make([]market.OrderID, len(h.rungs))
	for k := range h.rungs {
		orders[k] = h.rungs[k].order
	}
	return json.Marshal(orders)
}

// UnmarshalJSON reads the orders of as many rungs. Another number is an error: the orders beyond
// would be left alone.
func (h *half) UnmarshalJSON(text []byte) error {
	var orders []market.OrderID
	if err := json.Unmarshal(text, &orders); err != nil {
		return err
	}
	if len(orders) != len(h.rungs) {
		return fmt.Errorf("saved with levels = %d, now it is %d; set it back, or cancel its orders and give it "+
			"another name", len(orders), len(h.rungs))
	}
	for k := range orders {
		h.rungs[k].order = orders[k]
	}
	return nil
}

// Loaded lets the next close reckon the rungs again.
func (l *ladder) Loaded() error {
	l.reckoned = false
	return nil
}

// rung is one order's place.
type rung struct {
	order  market.OrderID
	price  market.Price
	amount market.Qty // of a full order; 0: below the market's minimum
	open   market.Qty // of a sell: its part of ladder.offered
}

// rungSet is a set of rungs, one bit for each. Params allows fewer than 64.
type rungSet uint64

// first is the set of the n nearest rungs.
func first(n int) rungSet { return 1<<n - 1 }

// nearest is the nearest rung of a set that is not empty.
func (s rungSet) nearest() int { return bits.TrailingZeros64(uint64(s)) }

// farthest is the farthest rung of a set that is not empty.
func (s rungSet) farthest() int { return bits.Len64(uint64(s)) - 1 }

// reckon computes the rungs around the centre.
func (g *grid) reckon(l *ladder, m *market.Market) {
	l.reckoned, l.rules, l.reach = true, m.Rules, l.Centre.Part(g.Recentre)
	money := m.MoneyValue(l.money)
	for k := range l.Buys.rungs {
		r, distance := &l.Buys.rungs[k], g.Spacing*market.Rate(k+1)
		r.price = m.RoundPrice(market.Buy, l.Centre.Below(distance))
		r.amount = m.Tradable(m.AmountFor(money, r.price), r.price)
		r = &l.Sells.rungs[k]
		r.price = m.RoundPrice(market.Sell, l.Centre.Above(distance))
		r.amount = m.RoundAmount(m.AmountFor(money, r.price))
	}
	l.recheck()
}

// recheck lets the next close look up all orders.
func (l *ladder) recheck() {
	l.settled, l.counted = false, false
	for _, h := range [...]*half{&l.Buys, &l.Sells} {
		h.unsure, h.empty = first(len(h.rungs)), 0
	}
}

// calm reports whether a close asks for nothing, as far as cash is not what a buy waits for.
func (l *ladder) calm(at market.Price) bool { return l.settled && l.low <= at && at <= l.high }

// half returns the rungs of a side.
func (l *ladder) half(side market.Side) *half {
	if side == market.Sell {
		return &l.Sells
	}
	return &l.Buys
}

// find returns the place of an order, or -1.
func (h *half) find(id market.OrderID) int {
	for k := range h.rungs {
		if h.rungs[k].order == id {
			return k
		}
	}
	return -1
}

// doubt makes the next close look a rung up.
func (h *half) doubt(k int) {
	h.unsure |= 1 << k
	h.empty &^= 1 << k
}

// passed is the set of the rungs whose prices a close has reached.
func (h *half) passed(reached func(market.Price) bool) rungSet {
	return first(sort.Search(len(h.rungs), func(k int) bool { return !reached(h.rungs[k].price) }))
}

func (l *ladder) keepBuys(d *strategy.Desk, m *market.Market, at market.Price) {
	h := &l.Buys
	passed := h.passed(func(price market.Price) bool { return price >= at })
	for todo := h.unsure | h.empty&^passed; todo != 0; todo &= todo - 1 {
		k := todo.nearest()
		switch {
		case !l.missing(d, h, k) || passed&(1<<k) != 0:
		case d.In(m.ID).Cash() >= l.money:
			l.place(d, m.ID, market.Buy, k, h.rungs[k].amount)
		default:
			l.poor = true
			if todo&h.unsure == 0 { // no move of an order can free cash
				todo = 1 << k
			}
		}
	}
	if waiting := h.empty & passed; waiting != 0 {
		l.high = min(l.high, h.rungs[waiting.farthest()].price)
	}
}

func (l *ladder) keepSells(d *strategy.Desk, m *market.Market, at market.Price) {
	h := &l.Sells
	free := l.unsold(d, m.ID)
	passed := h.passed(func(price market.Price) bool { return price <= at })
	todo := h.unsure
	if l.offers(m, free) {
		todo |= h.empty &^ passed
	}
	for ; todo != 0; todo &= todo - 1 {
		k := todo.nearest()
		if !l.missing(d, h, k) || passed&(1<<k) != 0 {
			continue
		}
		r := &h.rungs[k]
		amount := m.Tradable(min(free, r.amount), r.price)
		if amount != 0 && l.place(d, m.ID, market.Sell, k, amount) {
			if free -= amount; !l.offers(m, free) {
				todo &= h.unsure
			}
		}
	}
	if waiting := h.empty & passed; waiting != 0 && l.offers(m, free) {
		l.low = max(l.low, h.rungs[waiting.farthest()].price)
	}
}

// offers reports whether some rung may sell from a free amount. The highest amount of a rung at the
// highest price is worth more than that of any rung.
func (l *ladder) offers(m *market.Market, free market.Qty) bool {
	rungs := l.Sells.rungs
	return free > 0 && m.Tradable(min(free, rungs[0].amount), rungs[len(rungs)-1].price) != 0
}

// unsold is the part of the position that no open sell covers.
func (l *ladder) unsold(d *strategy.Desk, m market.ID) market.Qty {
	h := &l.Sells
	todo, all := h.unsure, !l.counted
	if all {
		l.offered, l.counted, todo = 0, true, first(len(h.rungs))
		for _, o := range d.In(m).OpenOrders() {
			if o.Side == market.Sell {
				l.offered += o.AmountRemaining
			}
		}
	}
	for ; todo != 0; todo &= todo - 1 {
		r := &h.rungs[todo.nearest()]
		var open market.Qty
		if o, found := d.Order(r.order); found {
			open = o.AmountRemaining
		}
		if !all {
			l.offered += open - r.open
		}
		r.open = open
	}
	return l.held - l.offered
}

// missing reports whether a rung is to be filled. It looks the order of an unsure rung up, and
// brings it to the rung's price unless the exchange has not answered it yet.
func (l *ladder) missing(d *strategy.Desk, h *half, k int) bool {
	r, bit := &h.rungs[k], rungSet(1)<<k
	if h.unsure&bit == 0 {
		return true
	}
	o, open := d.Order(r.order)
	switch {
	case !open:
		h.unsure &^= bit
		if r.amount != 0 {
			h.empty |= bit
		}
		return r.amount != 0
	case o.Status != 0 && o.Price == r.price:
		h.unsure &^= bit
		return false
	case o.Status != 0:
		d.Update(o.ID, strategy.At(r.price))
	}
	l.settled = false
	return false
}

// place fills an empty rung. It reports whether the gate let the order pass.
func (l *ladder) place(d *strategy.Desk, m market.ID, side market.Side, k int, amount market.Qty) bool {
	tag := "rung below"
	if side == market.Sell {
		tag = "rung above"
	}
	h := l.half(side)
	r := &h.rungs[k]
	id, err := d.In(m).Place(side, strategy.Amount(amount), strategy.At(r.price), strategy.PostOnly(),
		strategy.Tag(tag))
	r.order, r.open, l.settled = id, 0, false
	h.doubt(k)
	return err == nil
}
