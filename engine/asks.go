package engine

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// asks is the engine as a Desk sees it: what a strategy asks for, and what it may read.
type asks struct{ *Engine }

var _ strategy.Engine = asks{}

// Book is the account, with the orders that wait.
func (e asks) Book() strategy.AccountView {
	if e.replaces.Len() > 0 {
		return e.replaces.Book()
	}
	return e.account
}

// Idle reports whether a strategy has neither an open order in a market, nor one that waits, nor a
// tactic under way.
func (e asks) Idle(id market.StrategyID, m market.ID) bool {
	return e.account.IsIdle(id, m) && (e.replaces.Len()+e.tactics.Len() == 0 || e.idleBeside(id, m))
}

// idleBeside is Idle for what is no open order.
//
//go:noinline
func (e asks) idleBeside(id market.StrategyID, m market.ID) bool {
	return !e.Working(id, m) && !e.replaces.Waiting(id, m)
}

// Costs are the gate's assumptions about the costs of orders in a market.
func (e asks) Costs(m market.ID) strategy.Costs {
	fees, spread := e.gate.Costs(m)
	offered, _ := e.account.BestPrice(m, market.Buy)
	paid := spread.Met(market.Buy, offered, e.account.Last(m), e.catalog.Market(m).TickSize)
	return strategy.Costs{Buy: paid, Maker: fees.Maker, Taker: fees.Taker,
		Half: spread.Half, Slippage: spread.Slippage}
}

// Exits are the present levels of the bracket of a strategy's order.
func (e asks) Exits(id market.StrategyID, order market.OrderID) (levels market.Bracket, found bool) {
	terms, found := e.brackets.Terms(id, order)
	return terms.Levels, found
}

// Ask passes a strategy's command through the gate, into the account, and into the step's commands.
// The error is a *risk.Refusal, or wraps strategy.ErrMeaningless.
func (e asks) Ask(id market.StrategyID, c *market.Command, f *strategy.Follow) (market.OrderID, error) {
	c.At = e.now
	c.Order.Strategy = id
	if e.replaying || e.stopped && c.Kind != market.CommandCancel {
		return 0, e.refusals.Closed(c, e.stopped)
	}
	switch c.Kind {
	case market.CommandPlace:
		if e.universes.Any() && e.universes.Bars(id, c) {
			return 0, e.refusals.Outside(c)
		}
		if f != nil {
			return e.placeWith(c, f)
		}
		placed, err := e.place(c, nil, false)
		if err != nil {
			e.refusals.Tell(id, c, err)
		}
		return placed, err
	case market.CommandUpdate:
		if e.replaces.Len() > 0 && e.replaces.MustWait(id, c) {
			err := e.refusals.Refuse(c, risk.ReasonInFlight, int64(c.Order.ID))
			e.refusals.Tell(id, c, err)
			return 0, err
		}
		if e.tactics.Len() > 0 && c.Changed&^(market.ChangeExits|market.ChangeSells) != 0 &&
			e.tactics.Owns(id, c.Order.ID) {
			err := fmt.Errorf("%w: order %d is of a MakerFirst or a TWAP: Update changes its exits alone",
				strategy.ErrMeaningless, c.Order.ID)
			e.refusals.Tell(id, c, err)
			return 0, err
		}
		err := e.updateWith(c, f)
		if err != nil {
			e.refusals.Tell(id, c, err)
		}
		return c.Order.ID, err
	case market.CommandCancel:
		return e.askCancel(id, c)
	}
	return c.Order.ID, nil
}

// askCancel is Ask for a cancel.
func (e asks) askCancel(id market.StrategyID, c *market.Command) (market.OrderID, error) {
	order := c.Order.ID
	if order > e.lastID {
		err := e.refusals.Refuse(c, risk.ReasonNoSuchOrder, int64(order))
		e.refusals.Tell(id, c, err)
		return 0, err
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

// placeWith is place of an entry with what its exits follow.
func (e asks) placeWith(c *market.Command, f *strategy.Follow) (market.OrderID, error) {
	if f.Parts != nil {
		if warming := e.refusals.WarmUp(c); warming != nil {
			return 0, warming
		}
		if err := e.checkEntryParts(c, f.Parts); err != nil {
			e.refusals.Tell(c.Order.Strategy, c, err)
			return 0, err
		}
	}
	id, err := e.place(c, (*following)(f), false)
	if err != nil {
		e.refusals.Tell(c.Order.Strategy, c, err)
		return 0, err
	}
	e.brackets.Follows(id, *f)
	return id, nil
}

// updateWith is update with what the exits of a bracket are to follow.
func (e asks) updateWith(c *market.Command, f *strategy.Follow) error {
	if f == nil {
		return e.update(c, nil, false)
	}
	terms, found := e.brackets.Terms(c.Order.Strategy, c.Order.ID)
	if !found {
		return e.refusals.Refuse(c, risk.ReasonNoSuchOrder, int64(c.Order.ID))
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

// Work begins a tactic. Its first order leaves at once; where the gate refuses that, or the whole,
// nothing begins.
func (e asks) Work(id market.StrategyID, c *market.Command, way *strategy.Tactic,
	f *strategy.Follow) (market.OrderID, error) {
	c.At, c.Order.Strategy = e.now, id
	if e.replaying || e.stopped {
		return 0, e.refusals.Closed(c, e.stopped)
	}
	if e.universes.Bars(id, c) {
		return 0, e.refusals.Outside(c)
	}
	err := e.checkTactic(c, way, f)
	if err == nil {
		var order market.OrderID
		if order, err = e.tactics.Begin(c, way, f); err == nil {
			return order, nil
		}
	}
	e.refusals.Tell(id, c, err)
	return 0, err
}

// checkTactic passes a whole tactic through the gate.
func (e asks) checkTactic(c *market.Command, way *strategy.Tactic, f *strategy.Follow) error {
	if f != nil && f.Parts != nil {
		if err := e.checkEntryParts(c, f.Parts); err != nil {
			return err
		}
	}
	e.refusals.Keep(c)
	err := e.gate.CheckTactic(e.account, c, way.PerMinute())
	if err != nil {
		e.refusals.Report(c, err)
	}
	return err
}

// Working reports whether a tactic of a strategy is under way in a market, 0 for all markets.
func (e asks) Working(id market.StrategyID, m market.ID) bool { return e.tactics.Working(id, m) }

// Replace places an order over the funds of another, which it cancels: see strategy.Replacing.
func (e asks) Replace(id market.StrategyID, old market.OrderID, c *market.Command,
	f *strategy.Follow) (market.OrderID, error) {
	c.At, c.Order.Strategy = e.now, id
	if e.replaying || e.stopped {
		return 0, e.refusals.Closed(c, e.stopped)
	}
	if e.universes.Bars(id, c) {
		return 0, e.refusals.Outside(c)
	}
	if f != nil && f.Parts != nil {
		if err := e.checkEntryParts(c, f.Parts); err != nil {
			e.refusals.Tell(id, c, err)
			return 0, err
		}
	}
	e.refusals.Keep(c)
	order, err := e.replaces.Begin(old, c, f)
	if err != nil {
		e.refusals.Report(c, err)
		e.refusals.Tell(id, c, err)
	}
	return order, err
}

// Rebalance sells what a portfolio has too much of, and keeps the buys until these sells have
// ended.
func (e asks) Rebalance(id market.StrategyID, p strategy.Portfolio) error {
	if e.replaying || e.stopped {
		return e.refusals.Closed(nil, e.stopped)
	}
	err := e.rebalances.Begin(id, &p)
	if err != nil {
		e.refusals.TellPlan(id, err)
	}
	return err
}

// Close leaves a strategy's position in a market, or an amount of it: see MarketDesk.Close. A
// halted strategy is not called, so it cannot ask; a Close that it began before goes on.
func (e asks) Close(id market.StrategyID, m market.ID, amount market.Qty, tag string) error {
	call, _ := e.calls.Now()
	return e.close(id, m, amount, tag, call.Kind == CallCandle || call.Kind == CallCandles)
}

// InWarmUp reports whether a strategy's asks in a market are refused because of its warm-up.
func (e asks) InWarmUp(id market.StrategyID, m market.ID) bool {
	return e.replaying || e.slots[id-1].wait.Cold(m)
}

// RefuseAsk is the answer to an ask that the desk refuses by itself. In a warm-up and after Stop
// that comes first: the account of a bot that starts has no equity yet, so most asks cannot be
// measured.
func (e asks) RefuseAsk(id market.StrategyID, c *market.Command, why error) error {
	c.At, c.Order.Strategy = e.now, id
	if e.replaying || e.stopped {
		return e.refusals.Closed(c, e.stopped)
	}
	if warming := e.refusals.WarmUp(c); warming != nil {
		return warming
	}
	e.refusals.Tell(id, c, why)
	return why
}

// Signal is the latest signal of a source about a market; heard is false where none holds.
func (e asks) Signal(source string, m market.ID) (s market.Signal, heard bool) {
	return e.signals.Last(source, m)
}

// SetTimer asks for an OnTimer. Timers of one time fire in the order in which they were set. A
// strategy whose timers each set another for now is halted after maxRounds of them: otherwise time
// would never advance.
func (e asks) SetTimer(id market.StrategyID, at market.Time, name int64) {
	if !e.replaying {
		e.timers.Add(id, at, name)
	}
}

// following is what the exits of an entry at the gate follow.
type following strategy.Follow

// Figures explain such an entry.
func (f *following) Figures(_ *market.Command, m *market.Market) []state.Figure {
	return []state.Figure{port.Follows((*strategy.Follow)(f), m)}
}
