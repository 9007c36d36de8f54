package engine

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Working reports whether a tactic of a strategy is under way in a market, 0 for all markets.
func (e *Engine) Working(id market.StrategyID, m market.ID) bool {
	return slices.ContainsFunc(e.tactics, func(t *tactic) bool {
		return t.slot.id == id && (m == 0 || t.market == m)
	})
}

// EndTactics ends the tactics of a strategy in a market, 0 for all markets.
func (e *Engine) EndTactics(id market.StrategyID, m market.ID) {
	if e.replaying {
		return
	}
	for _, t := range e.tactics {
		if t.slot.id == id && (m == 0 || t.market == m) {
			e.stopTactic(t, false)
		}
	}
}

// cancelTactic ends the tactic that an order belongs to, because that order is being cancelled by
// its strategy, its bracket or a person.
func (e *Engine) cancelTactic(order market.OrderID) {
	for _, t := range e.tactics {
		if t != e.acting && t.has(order) {
			e.stopTactic(t, false)
		}
	}
}

// stopTactic cancels the orders of a tactic and lets no other follow.
func (e *Engine) stopTactic(t *tactic, inPath bool) {
	if t.phase == ending {
		return
	}
	t.phase, t.next, e.saves.changed = ending, e.now.Add(pause(t)), true
	if t.order != 0 {
		e.cancel(t.order, inPath)
	}
	for i := range t.open {
		e.cancel(t.open[i].id, inPath)
	}
}

// leaveUniverse ends a tactic that buys in a market that has left the universe of its strategy.
func (e *Engine) leaveUniverse(t *tactic) {
	t.slot.Log.Info().Str("strategy", t.slot.Name).Str("market", e.catalog.Market(t.market).Name).
		Str("tactic", t.Words()).Msg("tactic: the market has left the universe; the rest is not bought")
	e.stopTactic(t, false)
}

// endTactic removes a tactic, and logs why where it is not done.
func (e *Engine) endTactic(t *tactic, why string) {
	m := e.catalog.Market(t.market)
	line := t.slot.Log.Info().Str("market", m.Name).Str("side", t.side.String()).
		Str("tactic", t.Words()).Str("done", m.FormatQty(t.done)).Str("as_maker", m.FormatQty(t.made))
	if t.money == 0 {
		line = line.Str("of", m.FormatQty(t.amount))
	} else {
		line = line.Str("for", m.FormatMoney(t.money-e.rest(t))).Str("of", m.FormatMoney(t.money))
	}
	if why != "" {
		line = line.Str("why", why)
	}
	line.Msg("tactic: ended")
	e.removeTactic(t)
}

func (e *Engine) removeTactic(t *tactic) {
	e.tactics = slices.DeleteFunc(e.tactics, func(x *tactic) bool { return x == t })
	e.watchTactics()
	e.saves.changed = true
	if t.exits {
		e.brackets.Finish(t.id)
	}
}

// takesFrom reports whether a tactic cancels an order to take the rest.
func (e *Engine) takesFrom(order market.OrderID) bool {
	return slices.ContainsFunc(e.tactics, func(t *tactic) bool { return t.order == order && t.phase == taking })
}

// followTactics counts what a report says of the orders of tactics. A sale by the exits of a
// tactic's bracket ends the tactic; bracket is the entry of the order's, or 0.
//
//go:noinline
func (e *Engine) followTactics(o *state.Order, bracket market.OrderID, fresh []market.Fill) {
	for i := len(e.tactics) - 1; i >= 0; i-- {
		switch t := e.tactics[i]; {
		case t.has(o.ID):
			e.countTactic(t, o, fresh)
		case t.exits && len(fresh) > 0 && o.Side == market.Sell && bracket == t.id:
			e.stopTactic(t, true)
		}
	}
}

// countTactic counts the fills of an order, and notes its end.
func (e *Engine) countTactic(t *tactic, o *state.Order, fresh []market.Fill) {
	for i := range fresh {
		f := &fresh[i]
		e.saves.changed = true
		if t.done += f.Amount; !f.Taker {
			t.made += f.Amount
		}
		worth, err := e.worth(t, f)
		if err != nil {
			continue
		}
		addValue(&t.value, worth)
		if at := t.partOf(o.ID); at >= 0 {
			t.open[at].done += f.Amount
			addValue(&t.open[at].value, worth)
		}
	}
	if !o.State.Terminal() || o.Booked() < o.FilledAmount {
		return
	}
	e.saves.changed = true
	if at := t.partOf(o.ID); at >= 0 {
		t.open = slices.Delete(t.open, at, at+1)
	}
	if t.order != o.ID {
		return
	}
	if t.order = 0; t.phase == taking {
		t.next = e.now
	}
	if t.phase == ending {
		return
	}
	switch {
	case o.State == state.Filled, t.phase == taken && o.State == state.Rejected:
		t.phase = ending
		e.endTactic(t, endOf(o))
	case t.phase == taken:
		t.phase = taking // no buyer or seller: again
	}
}

// has reports whether an order is the first one of a tactic, or is under way.
func (t *tactic) has(order market.OrderID) bool {
	return t.id == order || t.order == order || t.partOf(order) >= 0
}

// partOf is the place of an order among those of a TWAP under way, or -1.
func (t *tactic) partOf(order market.OrderID) int {
	return slices.IndexFunc(t.open, func(p portion) bool { return p.id == order })
}

func addValue(to *market.Value, more market.Value) {
	if sum, err := to.Add(more); err == nil {
		*to = sum
	}
}

// Buyers are the orders under way that a tactic has sent after the entry of a bracket.
func (e exits) Buyers(entry market.OrderID) (orders []market.OrderID) {
	for _, t := range e.tactics {
		if t.id != entry {
			continue
		}
		for i := range t.open {
			if id := t.open[i].id; id != entry {
				orders = append(orders, id)
			}
		}
	}
	return orders
}

// endOf says why an order ended; "" for one that has filled.
func endOf(o *state.Order) string {
	if o.State == state.Filled {
		return ""
	}
	return "the exchange refused the order for the rest"
}

// worth is what a fill counts for a size in money: of a buy with its fee, which counts as a taker's
// while it is not known.
func (e *Engine) worth(t *tactic, f *market.Fill) (market.Value, error) {
	value, err := e.catalog.Market(t.market).Value(f.Price, f.Amount)
	if err != nil || t.side == market.Sell {
		return value, err
	}
	fee := f.Fee
	if !f.Settled && fee.Sign() == 0 {
		fees, _ := e.gate.Costs(t.market)
		if fee, err = value.MulRate(fees.Taker); err != nil {
			return value, err
		}
		fee = fee.QuoInt(int64(market.Whole))
	}
	return value.Add(fee)
}

// tacticsDue is the earliest time at which a tactic has something to do.
func (e *Engine) tacticsDue() (at market.Time, any bool) {
	at = farAhead
	if !e.stopped {
		for _, t := range e.tactics {
			at = min(at, t.due)
		}
	}
	return at, at != farAhead
}

// ownsTactic reports whether an order is one of a tactic of a strategy.
func (e *Engine) ownsTactic(id market.StrategyID, order market.OrderID) bool {
	return slices.ContainsFunc(e.tactics, func(t *tactic) bool {
		return t.slot.id == id && t.has(order)
	})
}

// coming is the base that the tactic of an order may still buy while it has no order under way.
func (e *Engine) coming(order market.OrderID) market.Qty {
	for _, t := range e.tactics {
		if t.has(order) && t.order == 0 {
			return e.restAt(t, e.joined(t.market, t.side))
		}
	}
	return 0
}
