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
	amount := e.account.Position(id, m).Amount - e.brackets.Covered(id, m)
	if amount <= 0 || levels.Stop == 0 && levels.Target == 0 {
		return 0, strategy.ErrNoPosition
	}
	rules := e.catalog.Market(m)
	levels.Stop, levels.Target = market.CeilTo(levels.Stop, rules.TickSize), market.CeilTo(levels.Target, rules.TickSize)
	name := e.nextID()
	if err := e.brackets.Protect(name, id, m, amount, levels); err != nil {
		return 0, err
	}
	return name, nil
}
