package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// The methods of strategy.Engine, which a Desk calls.
var _ strategy.Engine = (*Engine)(nil)

// Now is the arrival time of the current event.
func (e *Engine) Now() market.Time { return e.now }

// Book is the account, with the orders that wait.
func (e *Engine) Book() strategy.Book {
	if e.replaces.Len() > 0 {
		return e.replaces.Book()
	}
	return e.account
}

// Idle reports whether a strategy has neither an open order in a market, nor one that waits, nor a
// tactic under way.
func (e *Engine) Idle(id market.StrategyID, m market.ID) bool {
	return e.account.IsIdle(id, m) && (e.replaces.Len()+e.tactics.Len() == 0 || e.idleBeside(id, m))
}

// idleBeside is Idle for what is no open order.
//
//go:noinline
func (e *Engine) idleBeside(id market.StrategyID, m market.ID) bool {
	return !e.Working(id, m) && !e.replaces.Waiting(id, m)
}

// Catalog lists markets and assets.
func (e *Engine) Catalog() *market.Catalog { return e.catalog }

// Costs are the gate's assumptions about the costs of orders in a market.
func (e *Engine) Costs(m market.ID) strategy.Costs {
	fees, spread := e.gate.Costs(m)
	offered, _ := e.account.BestPrice(m, market.Buy)
	paid := spread.Met(market.Buy, offered, e.account.Last(m), e.catalog.Market(m).TickSize)
	return strategy.Costs{Buy: paid, Maker: fees.Maker, Taker: fees.Taker,
		Half: spread.Half, Slippage: spread.Slippage}
}

// Exits are the present levels of the bracket of a strategy's order.
func (e *Engine) Exits(id market.StrategyID, order market.OrderID) (levels market.Bracket, found bool) {
	terms, found := e.brackets.Terms(id, order)
	return terms.Levels, found
}

// Ask passes a strategy's command through the gate, into the account, and into the step's commands.
// The error is a *risk.Refusal.
func (e *Engine) Ask(id market.StrategyID, c *market.Command, f *strategy.Follow) (market.OrderID, error) {
	c.At = e.now
	c.Order.Strategy = id
	if e.replaying || e.stopped && c.Kind != market.CommandCancel {
		return 0, e.refuse(c)
	}
	switch c.Kind {
	case market.CommandPlace:
		if e.universes.Any() && e.universes.Bars(id, c) {
			return 0, e.refuseOutside(c)
		}
		if f != nil {
			return e.placeWith(c, f)
		}
		placed, err := e.place(c, nil, false)
		if err != nil {
			e.tell(&e.slots[id-1], c, err)
		}
		return placed, err
	case market.CommandUpdate:
		if e.replaces.Len() > 0 && e.replaces.Holds(id, c) {
			e.refusal = risk.Refusal{Reason: risk.ReasonInFlight, Have: int64(c.Order.ID)}
			e.tell(&e.slots[id-1], c, &e.refusal)
			return 0, &e.refusal
		}
		if e.tactics.Len() > 0 && c.Changed&^(market.ChangeExits|market.ChangeSells) != 0 &&
			e.tactics.Owns(id, c.Order.ID) {
			return 0, fmt.Errorf("%w: order %d is of a MakerFirst or a TWAP: Update changes its exits alone",
				strategy.ErrMeaningless, c.Order.ID)
		}
		err := e.updateWith(c, f)
		if err != nil {
			e.tell(&e.slots[id-1], c, err)
		}
		return c.Order.ID, err
	case market.CommandCancel:
		return e.askCancel(id, c.Order.ID)
	}
	return c.Order.ID, nil
}

// askCancel is Ask for a cancel.
func (e *Engine) askCancel(id market.StrategyID, order market.OrderID) (market.OrderID, error) {
	if order > e.lastID {
		e.refusal = risk.Refusal{Reason: risk.ReasonNoSuchOrder, Have: int64(order)}
		return 0, &e.refusal
	}
	if e.replaces.Cancel(id, order) {
		return order, nil
	}
	if e.tactics.Len() > 0 && e.tactics.Owns(id, order) {
		e.tactics.Cancelled(order, nil)
	}
	e.brackets.End(id, order)
	if o := e.account.Own(order); o != nil && o.Strategy == id {
		e.cancel(o.ID, nil, false)
	}
	return order, nil
}

// refuse is the answer to an ask during warm-up replay, or after Stop.
//
//go:noinline
func (e *Engine) refuse(c *market.Command) error {
	e.refusal = risk.Refusal{Reason: risk.ReasonWarmUp}
	if e.stopped {
		e.refusal.Reason = risk.ReasonStopping
		if e.refuser != nil {
			e.refuser.Refused(c, c, &e.refusal)
		}
	}
	return &e.refusal
}

// refuseOutside is the answer to a buy in a market that is no member of the strategy's universe.
//
//go:noinline
func (e *Engine) refuseOutside(c *market.Command) error {
	if warming := e.refuseWarm(c); warming != nil {
		return warming
	}
	err := e.gate.RefuseOutside(c.Order.Strategy)
	if e.refuser != nil {
		e.asked = *c
		e.reportRefusal(c, err)
	}
	e.tell(&e.slots[c.Order.Strategy-1], c, err)
	return err
}

// keepAsked keeps an ask as it was before the gate, for the observer.
func (e *Engine) keepAsked(c *market.Command) {
	if e.refuser != nil || e.approver != nil {
		e.asked = *c
	}
}

// reportChecked tells the observer that the gate has refused an ask.
func (e *Engine) reportChecked(c *market.Command, err error) {
	if e.refuser == nil {
		return
	}
	// a change names only its order: report that order's market, side and type
	e.asked.Order.Market, e.asked.Order.Side, e.asked.Order.Type = c.Order.Market, c.Order.Side, c.Order.Type
	e.reportRefusal(c, err)
}

func (e *Engine) nextID() market.OrderID {
	e.lastID++
	e.saves.changed = true
	return e.lastID
}

// placeWith is place of an entry with what its exits follow.
func (e *Engine) placeWith(c *market.Command, f *strategy.Follow) (market.OrderID, error) {
	if f.Parts != nil {
		if warming := e.refuseWarm(c); warming != nil {
			return 0, warming
		}
		if err := e.checkEntryParts(c, f.Parts); err != nil {
			e.tell(&e.slots[c.Order.Strategy-1], c, err)
			return 0, err
		}
	}
	id, err := e.place(c, (*following)(f), false)
	if err != nil {
		e.tell(&e.slots[c.Order.Strategy-1], c, err)
		return 0, err
	}
	e.brackets.Follows(id, *f)
	return id, nil
}

// place passes a new order through the gate and sends it. attached lets it act inside a candle's
// path, as in cancel and change.
func (e *Engine) place(c *market.Command, why port.Why, attached bool) (market.OrderID, error) {
	e.keepAsked(c)
	approved, err := e.gate.Check(e.account, c)
	if err != nil {
		e.reportChecked(c, err)
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

// updateWith is update with what the exits of a bracket are to follow.
func (e *Engine) updateWith(c *market.Command, f *strategy.Follow) error {
	if f == nil {
		return e.update(c, nil, false)
	}
	terms, found := e.brackets.Terms(c.Order.Strategy, c.Order.ID)
	if !found {
		e.refusal = risk.Refusal{Reason: risk.ReasonNoSuchOrder, Have: int64(c.Order.ID)}
		return &e.refusal
	}
	if f.Parts != nil {
		if err := e.checkUpdatedParts(c, f.Parts); err != nil {
			return err
		}
	}
	if c.Changed != 0 {
		if err := e.update(c, nil, false); err != nil {
			return err
		}
	}
	e.brackets.Follows(c.Order.ID, terms.Follow.With(f))
	return nil
}

// noteSent notes an order whose strategy gets OnOrder.
//
//go:noinline
func (e *Engine) noteSent(s *slot, id market.OrderID) {
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
	if e.refuser != nil {
		e.asked = *c
		e.asked.Order.Market, e.asked.Order.Side = x.Market, market.Buy
	}
	if err := e.gate.CheckExits(e.account, x); err != nil {
		e.reportRefusal(c, err)
		return err
	}
	return e.brackets.SetLevels(c.Order.ID, x.Levels.Stop, x.Levels.Target)
}

// reportRefusal tells the observer that e.asked was refused.
func (e *Engine) reportRefusal(c *market.Command, err error) {
	var why *risk.Refusal
	if e.refuser != nil && errors.As(err, &why) {
		e.refuser.Refused(&e.asked, c, why)
	}
}

// change passes a change of an open order through the gate and sends it.
func (e *Engine) change(c *market.Command, why port.Why, attached bool) error {
	e.keepAsked(c)
	approved, err := e.gate.Check(e.account, c)
	if err != nil {
		e.reportChecked(c, err)
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
	e.command, e.asked = market.Command{Kind: market.CommandCancel, At: e.now}, market.Command{}
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
	e.approver.Approved(state.TermsOf(&e.asked.Order), approved.Command(), e.figures(approved.Command(), why))
}

// moreOut makes room for commands: twice as many, because append grows long slices by a quarter,
// and thousands of orders would be copied four times.
//
//go:noinline
func (e *Engine) moreOut() { e.out = slices.Grow(e.out, max(len(e.out), 8)) }

// dropCallback takes back the commands of the current callback, because its strategy panicked and
// may have been half way. Earlier commands of the same step stay, as do those of other strategies.
func (e *Engine) dropCallback(s *slot) {
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

// exits is the engine as its brackets see it.
type exits struct{ *Engine }

// Last is the latest price of a market.
func (e exits) Last(m market.ID) market.Price { return e.account.Last(m) }

// Own is an own order that still expects an answer or a fill.
func (e exits) Own(id market.OrderID) *state.Order { return e.account.Known(id) }

// Unprotect takes the exits from an own order.
func (e exits) Unprotect(o *state.Order) { e.account.Unprotect(o) }

// Place passes an exit through the gate.
func (e exits) Place(c *market.Command, inPath bool) (market.OrderID, error) {
	return e.place(c, nil, inPath)
}

// Update passes a change of an exit through the gate.
func (e exits) Update(c *market.Command, inPath bool) error { return e.change(c, nil, inPath) }

// Cancel asks for an entry or an exit to end.
func (e exits) Cancel(id market.OrderID, inPath bool) { e.cancel(id, nil, inPath) }

// CancelAll asks for all open orders of a strategy in a market to end.
func (e exits) CancelAll(id market.StrategyID, m market.ID) {
	e.EndTactics(id, m)
	for _, o := range e.account.Open(nil, id, m) {
		e.cancel(o.ID, nil, false)
	}
}

// Position is a strategy's position, and the part of it that no open sell holds.
func (e exits) Position(id market.StrategyID, m market.ID) (held, free market.Qty) {
	held = e.account.Position(id, m).Amount
	free = held
	for _, o := range e.account.Open(nil, id, m) {
		if o.Side == market.Sell {
			free -= market.Qty(o.OnHold)
		}
	}
	return held, free - e.replaces.Claimed(id, m)
}

// Pending reports whether an order up to last is open, or fills of any order are missing.
func (e exits) Pending(id market.StrategyID, m market.ID, last market.OrderID) bool {
	for _, o := range e.account.Open(nil, id, m) {
		if o.ID <= last {
			return true
		}
	}
	return e.account.MissesFills(id, m)
}

// Main is the interval of a strategy by which its exits follow closes.
func (e exits) Main(id market.StrategyID) market.Interval {
	return core{e.Engine}.Main(id)
}

// TakerFee is the taker's fee in a market.
func (e exits) TakerFee(m market.ID) market.Rate {
	fees, _ := e.gate.Costs(m)
	return fees.Taker
}

// Cost is the average cost of an amount of a strategy's position.
func (e exits) Cost(id market.StrategyID, m market.ID, amount market.Qty) market.Value {
	p := e.account.Position(id, m)
	if p.Amount <= 0 {
		return market.Value{}
	}
	return p.Cost.Part(int64(amount), int64(p.Amount))
}

// Moved tells the observer.
func (e exits) Moved(m *strategy.StopMoved) {
	if e.mover != nil {
		e.mover.StopMoved(m)
	}
}
