package engine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// CrossWatcher is an Observer that is also notified of what changes hands between strategies.
type CrossWatcher interface {
	// Crossed is called for each cross, before the calls for its fills and orders.
	Crossed(c *state.Cross)
}

// takers are the orders at market that strategies have asked for in a step: with
// risk.AccountLimits.CrossOpposite, opposite ones change hands before they leave.
type takers struct {
	cross   bool             // the limit is set
	asked   []market.OrderID // in this step, in their order
	watcher CrossWatcher     // nil: none
}

// noteTaker notes an order at market that a strategy has asked for.
//
//go:noinline
func (e *Engine) noteTaker(id market.OrderID) { e.takers.asked = append(e.takers.asked, id) }

// crossTakers lets the orders at market of this step change hands. Each order meets those that were
// asked for before it, in their order. First the account has all crosses, then the strategies hear
// of them; orders that they ask for then go to the exchange.
//
//go:noinline
func (e *Engine) crossTakers() {
	sides := e.takersOut()
	e.takers.asked = e.takers.asked[:0]
	var all []crossed
	for i := range sides {
		for k := range sides[:i] {
			if p, meet := e.pairOf(&sides[k], &sides[i]); meet && e.err == nil {
				all = append(all, e.carryOut(&p))
			}
		}
	}
	if len(all) == 0 {
		return
	}
	if e.err != nil {
		e.out = e.out[:0]
		return
	}
	e.out = slices.DeleteFunc(e.out, func(c market.Command) bool { return c.Kind == 0 })
	for i := range all {
		e.tellCross(&all[i])
	}
}

// side is an order of a pair.
type side struct {
	order *state.Order
	out   *market.Command // the order, in the step's commands
	rest  market.Command  // what the exchange gets of it …
	hold  market.Money    // … and what that holds
	part  bool            // there is a rest that leaves
}

// takersOut are the noted orders that have not left: all of the step but those that a panic took
// back.
func (e *Engine) takersOut() (sides []side) {
	for i := range e.out {
		c := &e.out[i]
		own := e.account.Own(c.Order.ID)
		if c.Kind == market.CommandPlace && own != nil && slices.Contains(e.takers.asked, own.ID) {
			sides = append(sides, side{order: own, out: c})
		}
	}
	return sides
}

// pair is an amount that two orders exchange.
type pair struct {
	market    *market.Market
	price     market.Price
	amount    market.Qty
	gross     market.Value
	money     market.Money // gross, rounded up: the buyer pays it, the seller gets it
	sell, buy *side
}

// pairOf is what two orders exchange; meet is false where they do not.
func (e *Engine) pairOf(one, other *side) (p pair, meet bool) {
	id := one.order.Market
	if id != other.order.Market || one.order.Side == other.order.Side ||
		one.order.Strategy == other.order.Strategy || !e.mayCross(one) || !e.mayCross(other) {
		return p, false
	}
	if p.sell, p.buy = one, other; one.order.Side == market.Buy {
		p.sell, p.buy = other, one
	}
	p.market, p.price = e.catalog.Market(id), e.account.Middle(id)
	if p.price <= 0 || e.account.Unreliable(id) || !p.measure() {
		return p, false
	}
	return p, e.leaveRest(p.sell, &p) && e.leaveRest(p.buy, &p) && e.covers(&p)
}

// mayCross reports whether an order still waits to leave, and nothing is to end it.
func (e *Engine) mayCross(s *side) bool {
	return s.order.State == state.Sent && !s.order.CancelWanted && !e.slots[s.order.Strategy-1].halted
}

// measure finds amount and money: the smaller amount, rounded down to what the market takes.
func (p *pair) measure() bool {
	p.amount = p.market.RoundAmount(min(p.sell.base(p), p.buy.base(p)))
	if p.amount <= 0 {
		return false
	}
	var err error
	if p.gross, err = p.market.Value(p.price, p.amount); err == nil {
		p.money, err = p.gross.CeilMoney(p.market.MoneyDrop())
	}
	return err == nil
}

// base is the amount of an order; of one in quote, what that is at the price.
func (s *side) base(p *pair) market.Qty {
	if o := &s.order.Order; o.ByQuote() {
		return p.market.AmountFor(p.market.MoneyValue(o.AmountQuote), p.price)
	}
	return s.order.Amount
}

// leaveRest works out what the exchange gets of an order, and reports whether the order may cross.
// A rest below the market's minimum is given up. An order with exits crosses as a whole or not at
// all: they belong to one order.
func (e *Engine) leaveRest(s *side, p *pair) bool {
	s.rest = *s.out
	if o := &s.rest.Order; o.ByQuote() {
		o.AmountQuote -= p.money
	} else {
		o.Amount -= p.amount
	}
	approved, rest := e.gate.CheckRest(e.account, s.order, &s.rest)
	s.part, s.hold = rest == risk.RestLeaves, approved.Hold()
	return rest == risk.RestDust || s.part && !s.order.Bracket.Any()
}

// covers reports whether both strategies have what they give, beside the holds of the rests, and
// can take what they get.
func (e *Engine) covers(p *pair) bool {
	s, b, m := p.sell.order, p.buy.order, p.market
	base, _ := e.account.Balance(s.Strategy, m.Base)
	quote, _ := e.account.Balance(b.Strategy, m.Quote)
	return market.Money(p.amount) <= base+s.OnHold-p.sell.hold && p.money <= quote+b.OnHold-p.buy.hold &&
		e.account.Takes(s.Strategy, m.Quote, p.money) && e.account.Takes(b.Strategy, m.Base, market.Money(p.amount))
}

// crossed is a cross that the account has folded.
type crossed struct {
	state.Cross
	done [2]state.Applied
}

// carryOut lets the amount of a pair change hands in the account. The fee of a fill is what rounds
// its money: the buyer's is that of the seller, below zero.
func (e *Engine) carryOut(p *pair) (c crossed) {
	fee, err := p.market.MoneyValue(p.money).Sub(p.gross)
	c.Sell, c.Buy = e.legOf(p.sell, p, fee.Neg()), e.legOf(p.buy, p, fee)
	if err == nil {
		c.done, err = e.account.Cross(&c.Cross)
	}
	if err != nil {
		e.err = fmt.Errorf("engine: cross of orders %d and %d at %s: %w", p.sell.order.ID, p.buy.order.ID, e.now, err)
	}
	return c
}

// legOf is the leg of an order. Where a rest of the order leaves, the leg is an order of its own.
func (e *Engine) legOf(s *side, p *pair, fee market.Value) (leg state.CrossLeg) {
	own := s.order
	if s.part {
		order := own.Order
		order.ID, order.Amount, order.AmountQuote = e.nextID(), p.amount, 0
		if e.run != uuid.Nil {
			order.ClientOrderID = market.ClientOrderID(e.run, order.ID)
		}
		*s.out = s.rest
		e.account.Reduce(own, s.rest.Order.Amount, s.rest.Order.AmountQuote, s.hold)
		leg.Of, own = own.ID, e.account.Send(&order, 0)
	} else {
		e.account.Reduce(own, p.amount, 0, own.OnHold)
		s.out.Kind = 0 // it does not leave
	}
	r := market.ReportOf(&own.Order, market.ExecTrade)
	r.Status, r.Updated, r.AmountRemaining, r.OnHold = market.StatusFilled, e.now, 0, 0
	r.FilledAmount, r.FilledAmountQuote, r.FeePaid = p.amount, p.gross, fee
	leg.Report = r
	leg.Fill = market.Fill{ID: crossFill(own.ID), Order: own.ID, Market: own.Market, Strategy: own.Strategy,
		Side: own.Side, Settled: true, Crossed: true, FeeCurrency: p.market.Quote, Price: p.price, Amount: p.amount,
		Fee: fee, Time: e.now}
	return leg
}

// crossFill is the id of the only fill of an order that crossed: a UUID of version 8, whose rest is
// a text and the order's number. The exchange's ids are of other versions.
func crossFill(order market.OrderID) (id uuid.UUID) {
	copy(id[:], "cross")
	binary.BigEndian.PutUint64(id[8:], uint64(order))
	id[6], id[8] = 8<<4, id[8]&0x3f|0x80
	return id
}

// tellCross tells observer, gate, brackets and strategies of a cross, as of any fill.
func (e *Engine) tellCross(c *crossed) {
	if e.takers.watcher != nil {
		e.takers.watcher.Crossed(&c.Cross)
	}
	for i, leg := range c.Legs() {
		ev := market.Event{Kind: market.KindReport, At: e.now, Market: leg.Fill.Market, Report: &leg.Report,
			Fills: []market.Fill{leg.Fill}}
		e.deliverReport(&ev, c.done[i])
	}
}
