package engine

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

func (e *Engine) nextID() market.OrderID {
	e.lastID++
	e.saves.changed = true
	return e.lastID
}

// place passes a new order through the gate and sends it. attached lets it act inside a candle's
// path, as in cancel and change.
func (e *Engine) place(c *market.Command, why port.Why, attached bool) (market.OrderID, error) {
	e.refusals.Keep(c)
	approved, err := e.gate.Check(e.account, c)
	if err != nil {
		e.refusals.ReportChecked(c, err)
		return 0, err
	}
	c.Order.ID = e.nextID()
	return e.sendPlace(c, approved, why, attached), nil
}

// sendPlace sends a new order that the gate has approved and that has its number.
func (e *Engine) sendPlace(c *market.Command, approved risk.Approved, why port.Why, attached bool) market.OrderID {
	c.Order.Created = e.now
	if e.run != uuid.Nil {
		c.Order.ClientOrderID = market.ClientOrderID(e.run, c.Order.ID)
	}
	o := e.account.Send(&c.Order, approved.Hold())
	e.send(approved, why, attached)
	if o.Bracket.Any() {
		e.brackets.Open(&o.Order)
	}
	if s := &e.slots[o.Strategy-1]; s.onOrder != nil {
		e.noteSent(s, o.ID)
	}
	return o.ID
}

// noteSent notes an order whose strategy gets OnOrder.
//
//go:noinline
func (e *Engine) noteSent(s *strategyState, id market.OrderID) {
	e.sent = append(e.sent, sentOrder{slot: s, id: id})
}

func (e *Engine) update(c *market.Command, why port.Why, attached bool) error {
	terms, found := e.brackets.Terms(c.Order.Strategy, c.Order.ID)
	sells := c.Changed.Has(market.ChangeSells)
	c.Changed &^= market.ChangeSells
	if c.Changed.Has(market.ChangeExits) {
		// the rest, if any, is for the entry itself; the gate refuses a change of nothing
		c.Changed &^= market.ChangeExits
		if found {
			if err := e.updateExits(c, &terms, sells); err != nil || c.Changed == 0 {
				return err
			}
			terms.Entry = 0 // updateExits has checked them against the changed entry
		}
	}
	c.Order.Bracket = market.Bracket{}
	if found && terms.Entry == c.Order.ID {
		c.Order.Bracket = terms.Levels // the gate checks them against the changed entry
	}
	return e.change(c, why, attached)
}

// updateExits sets new levels, c.Order.Bracket, for a bracket. The levels of an entry that has
// bought nothing are checked against its price after the same command, otherwise against the
// market's price, unless an exit that the price has passed may sell at once.
func (e *Engine) updateExits(c *market.Command, terms *bracket.Terms, sells bool) error {
	own := e.account.Own(terms.Entry)
	x := &e.exits
	*x = risk.Exits{Strategy: c.Order.Strategy, Market: terms.Market, Levels: c.Order.Bracket, Current: terms.Levels,
		Amount: terms.Amount}
	if own != nil {
		x.Amount += own.AmountRemaining
	} else {
		x.Amount += e.tactics.Coming(c.Order.ID)
	}
	x.Passed = sells && !terms.Untouched
	if own != nil && terms.Untouched {
		e.entry = own.Order
		exchange.ApplyChange(&e.entry, c)
		x.Entry, x.Amount = &e.entry, 0
		if c.Changed != 0 {
			x.Current = market.Bracket{} // the entry moves away from levels that stay
		}
	}
	e.refusals.KeepExits(c, x.Market)
	if err := e.gate.CheckExits(e.account, x); err != nil {
		e.refusals.Report(c, err)
		return err
	}
	return e.brackets.SetLevels(c.Order.ID, x.Levels.Stop, x.Levels.Target)
}

// change passes a change of an open order through the gate and sends it.
func (e *Engine) change(c *market.Command, why port.Why, attached bool) error {
	e.refusals.Keep(c)
	approved, err := e.gate.Check(e.account, c)
	if err != nil {
		e.refusals.ReportChecked(c, err)
		return err
	}
	own := e.account.Own(c.Order.ID)
	e.account.SendUpdate(own, approved.Hold())
	e.complete(c, own)
	e.send(approved, why, attached)
	return nil
}

// cancel asks for an open order to end. While another write to the order has no answer, the cancel
// waits: one write at a time for each order.
func (e *Engine) cancel(id market.OrderID, why port.Why, attached bool) {
	if e.tactics.Len() > 0 {
		e.tactics.Cancelled(id, why)
	}
	o := e.account.Own(id)
	switch {
	case o == nil || o.InFlight == market.CommandCancel:
		return
	case o.InFlight != 0:
		e.account.WantCancel(o, true)
		return
	}
	e.sendCancel(o, why, attached)
}

func (e *Engine) sendCancel(o *state.Order, why port.Why, attached bool) {
	e.account.SendCancel(o)
	e.command = market.Command{Kind: market.CommandCancel, At: e.now}
	e.refusals.KeepNone()
	e.command.Order.ID, e.command.Order.Market, e.command.Order.Strategy = o.ID, o.Market, o.Strategy
	approved, _ := e.gate.Check(e.account, &e.command) // cancels always pass
	e.complete(&e.command, o)
	e.send(approved, why, attached)
}

// complete makes a live update or cancel carry the whole order after the change. The request needs
// the order's names and operator; an update also needs the order's conditions, which the exchange
// resets where the request leaves them out (specification 4.4). Only complete works out the terms
// of an update: loop, journal and client take the order from the command.
func (e *Engine) complete(c *market.Command, own *state.Order) {
	if e.run == uuid.Nil {
		return
	}
	whole := own.Order
	exchange.ApplyChange(&whole, c)
	c.Order = whole
}

// send appends an approved command to the step's commands. Commands get there no other way.
func (e *Engine) send(approved risk.Approved, why port.Why, attached bool) {
	n := len(e.out)
	if n == cap(e.out) {
		e.moreOut()
	}
	e.out = e.out[:n+1]
	out := &e.out[n]
	*out = *approved.Command()
	out.Attached = attached
	if e.approver != nil {
		e.showApproved(approved, why)
	}
}

// showApproved tells the observer what the gate has approved.
//
//go:noinline
func (e *Engine) showApproved(approved risk.Approved, why port.Why) {
	c := approved.Command()
	e.approver.Approved(state.TermsOf(&e.refusals.Asked().Order), c, e.figures(c, why))
}

// moreOut makes room for commands: twice as many, because append grows long slices by a quarter,
// and thousands of orders would be copied four times.
//
//go:noinline
func (e *Engine) moreOut() { e.out = slices.Grow(e.out, max(len(e.out), 8)) }

// dropCallback takes back the commands of the current callback, because its strategy panicked and
// may have been half way. Earlier commands of the same step stay, as do those of other strategies.
func (e *Engine) dropCallback(s *strategyState) {
	first := market.OrderID(0)
	for i := e.mark; i < len(e.out); i++ {
		c := &e.out[i]
		own := e.account.Own(c.Order.ID)
		switch {
		case c.Kind == market.CommandPlace && first == 0:
			first = c.Order.ID
		case c.Kind != market.CommandPlace && own != nil:
			e.account.TakeBack(own)
		}
	}
	e.out = e.out[:e.mark]
	if first != 0 {
		e.account.Drop(s.id, first)
	}
	e.brackets.Rollback(func(exit market.OrderID) {
		if own := e.account.Own(exit); own != nil {
			e.account.WantCancel(own, false)
		}
	})
}
