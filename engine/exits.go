package engine

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

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

// MayClose passes a Close that a bracket begins by itself through the gate.
func (e exits) MayClose(id market.StrategyID, m market.ID, amount market.Qty) (market.OrderID, error) {
	return e.mayClose(e.sale(id, m, amount, ""))
}

// MayLeave passes a Close that a person begins through the gate.
func (e exits) MayLeave(id market.StrategyID, m market.ID, amount market.Qty) (market.OrderID, error) {
	c := e.sale(id, m, amount, "")
	c.Attached = true
	return e.mayClose(c)
}

// Newest is the newest order number.
func (e exits) Newest() market.OrderID { return e.lastID }

func (e exits) mayClose(c *market.Command) (market.OrderID, error) {
	if e.replaying || e.stopped {
		return 0, e.refusals.Closed(c, e.stopped)
	}
	e.refusals.Keep(c)
	if err := e.gate.CheckClose(e.account, c, !e.brackets.Guards(c.Order.Strategy, c.Order.Market)); err != nil {
		e.refusals.Report(c, err)
		return 0, err
	}
	return e.lastID, nil
}

// PartReached tells the log of a partial target that stays with the rest, and the observer of all.
func (e exits) PartReached(p *strategy.PartReached) {
	if p.Why != "" {
		s, m := &e.slots[p.Strategy-1], e.catalog.Market(p.Market)
		s.Log.Info().Str("market", m.Name).Int64("bracket", int64(p.Bracket)).
			Str("level", m.FormatPrice(p.Price)).Str("amount", m.FormatQty(p.Amount)).Str("why", p.Why).
			Msg("partial target: its amount stays with the rest")
	}
	if e.parter != nil {
		e.parter.PartReached(p)
	}
}

// Buyers are the orders under way that a tactic has sent after the entry of a bracket.
func (e exits) Buyers(entry market.OrderID) []market.OrderID { return e.tactics.Buyers(entry) }
