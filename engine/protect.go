package engine

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Protect opens a bracket over what a strategy holds in a market and no other bracket covers: one whose entry has filled
// already. Its id comes from the same sequence as those of orders.
func (e *Engine) Protect(id market.StrategyID, m market.ID, levels market.Bracket) (market.OrderID, error) {
	if e.recalling || e.stopped {
		return 0, e.refuse(&market.Command{Kind: market.CommandPlace, At: e.now, Order: market.Order{Strategy: id, Market: m, Side: market.Sell, Bracket: levels}})
	}
	amount := e.account.Position(id, m).Amount
	for i := range e.brackets {
		if b := &e.brackets[i]; b.strategy == id && b.market == m {
			amount -= b.amount
		}
	}
	if amount <= 0 || levels.Stop == 0 && levels.Target == 0 {
		return 0, strategy.ErrNoPosition
	}
	rules := e.catalog.Market(m)
	levels.Stop, levels.Target = market.CeilTo(levels.Stop, rules.TickSize), market.CeilTo(levels.Target, rules.TickSize)
	e.nextID()
	e.brackets = append(e.brackets, bracket{
		entry: e.lastID, strategy: id, market: m, levels: levels, leg: firstLeg(levels), amount: amount, closed: true,
	})
	name := e.lastID
	if err := e.placeExit(e.bracketOf(name), false); err != nil {
		return 0, err
	}
	e.watch(m)
	return name, nil
}

// firstLeg is the exit that rests first: the one to keep, or the only one there is.
func firstLeg(levels market.Bracket) market.Leg {
	switch {
	case levels.Stop == 0:
		return market.KeepTarget
	case levels.Target == 0:
		return market.KeepStop
	}
	return levels.Keep
}
