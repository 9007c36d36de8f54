package grid

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// ladder is the state of one market. Prices and amounts of the rungs are reckoned when the centre
// or the market's rules change. An order is looked up when a report has named it. A close costs
// little while each rung rests, or waits for a price that has not come.
type ladder struct {
	money       market.Money
	centre      market.Price
	buys, sells []rung // the nearest first

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

// rung is one order's place.
type rung struct {
	order  market.OrderID
	price  market.Price
	amount market.Qty // of a full order; 0: below the market's minimum
	open   market.Qty // of a sell: its part of ladder.offered
	state  rungState
}

// rungState is the known state of a rung's order.
type rungState uint8

const (
	unsure rungState = iota // to be looked up
	rests                   // answered, at the rung's price
	empty                   // gone, or never placed
)

// reckon computes the rungs around the centre.
func (g *grid) reckon(l *ladder, m *market.Market) {
	l.reckoned, l.rules, l.reach = true, m.Rules, l.centre.Part(g.recentre)
	money := m.MoneyValue(l.money)
	for k := range l.buys {
		r, distance := &l.buys[k], g.spacing*market.Rate(k+1)
		r.price = m.RoundPrice(market.Buy, l.centre.Below(distance))
		r.amount = m.Tradable(m.AmountFor(money, r.price), r.price)
		r = &l.sells[k]
		r.price = m.RoundPrice(market.Sell, l.centre.Above(distance))
		r.amount = m.RoundAmount(m.AmountFor(money, r.price))
	}
	l.recheck()
}

// recheck lets the next close look up all orders.
func (l *ladder) recheck() {
	l.settled, l.counted = false, false
	for k := range l.buys {
		l.buys[k].state, l.sells[k].state = unsure, unsure
	}
}

// calm reports whether a close asks for nothing, as far as cash is not what a buy waits for.
func (l *ladder) calm(at market.Price) bool { return l.settled && l.low <= at && at <= l.high }

// find returns the rung of an order, or nil.
func (l *ladder) find(side market.Side, id market.OrderID) *rung {
	rungs := l.buys
	if side == market.Sell {
		rungs = l.sells
	}
	for k := range rungs {
		if rungs[k].order == id {
			return &rungs[k]
		}
	}
	return nil
}

func (l *ladder) keepBuys(d *strategy.Desk, m *market.Market, at market.Price) {
	for k := range l.buys {
		switch r := &l.buys[k]; {
		case l.keep(d, r) || r.amount == 0:
		case r.price >= at:
			l.high = min(l.high, r.price)
		case d.In(m.ID).Cash() < l.money:
			l.poor = true
		default:
			l.place(d, m.ID, market.Buy, r, r.amount)
		}
	}
}

func (l *ladder) keepSells(d *strategy.Desk, m *market.Market, at market.Price) {
	free := l.unsold(d, m.ID)
	for k := range l.sells {
		r := &l.sells[k]
		if l.keep(d, r) || free <= 0 {
			continue
		}
		amount := m.Tradable(min(free, r.amount), r.price)
		switch {
		case amount == 0:
		case r.price <= at:
			l.low = max(l.low, r.price)
		case l.place(d, m.ID, market.Sell, r, amount):
			free -= amount
		}
	}
}

// unsold is the part of the position that no open sell covers.
func (l *ladder) unsold(d *strategy.Desk, m market.ID) market.Qty {
	all := !l.counted
	if all {
		l.offered, l.counted = 0, true
		for _, o := range d.In(m).OpenOrders() {
			if o.Side == market.Sell {
				l.offered += o.AmountRemaining
			}
		}
	}
	for k := range l.sells {
		r := &l.sells[k]
		if !all && r.state != unsure {
			continue
		}
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

// keep brings the rung's order to its price, unless the exchange has not answered it yet. It
// reports whether there is an order.
func (l *ladder) keep(d *strategy.Desk, r *rung) bool {
	if r.state != unsure {
		return r.state == rests
	}
	o, open := d.Order(r.order)
	switch {
	case !open:
		r.state = empty
		return false
	case o.Status != 0 && o.Price == r.price:
		r.state = rests
		return true
	case o.Status != 0:
		d.Update(o.ID, strategy.At(r.price))
	}
	l.settled = false
	return true
}

// place fills an empty rung. It reports whether the gate let the order pass.
func (l *ladder) place(d *strategy.Desk, m market.ID, side market.Side, r *rung, amount market.Qty) bool {
	tag := TagBuy
	if side == market.Sell {
		tag = TagSell
	}
	id, err := d.In(m).Place(side, strategy.Amount(amount), strategy.At(r.price), strategy.PostOnly(),
		strategy.Tag(tag))
	r.order, r.open, r.state = id, 0, unsure
	l.settled = false
	return err == nil
}
