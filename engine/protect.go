package engine

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Protect opens a bracket over the part of a strategy's position in a market that no other bracket
// covers: a bracket whose entry has filled already. Its id comes from the sequence of order
// numbers.
func (e asks) Protect(id market.StrategyID, m market.ID, levels market.Bracket,
	f *strategy.Follow) (market.OrderID, error) {
	c := &e.command
	*c = market.Command{Kind: market.CommandPlace, At: e.now,
		Order: market.Order{Strategy: id, Market: m, Side: market.Sell, Bracket: levels}}
	if e.replaying || e.stopped {
		return 0, e.refusals.Closed(c, e.stopped)
	}
	if warming := e.refusals.WarmUp(c); warming != nil {
		return 0, warming
	}
	name, err := e.protect(c, f)
	if err != nil {
		e.refusals.Tell(id, c, err)
	}
	return name, err
}

// protect is Protect with its command.
func (e asks) protect(c *market.Command, f *strategy.Follow) (market.OrderID, error) {
	id, m, levels := c.Order.Strategy, c.Order.Market, c.Order.Bracket
	if e.brackets.Closing(id, m) {
		return 0, fmt.Errorf("%w: a Close is under way", strategy.ErrNoPosition)
	}
	amount := e.account.Position(id, m).Amount - e.brackets.Covered(id, m)
	if amount <= 0 || levels.Stop == 0 && levels.Target == 0 {
		return 0, strategy.ErrNoPosition
	}
	x := &e.exits
	*x = risk.Exits{Strategy: id, Market: m, Levels: levels, Amount: amount, Passed: true}
	c.Order.Amount = amount
	e.refusals.Keep(c)
	if err := e.gate.CheckExits(e.account, x); err != nil {
		e.refusals.Report(c, err)
		return 0, err
	}
	levels = x.Levels
	if f != nil && f.Parts != nil {
		if err := e.checkParts(*x, f.Parts); err != nil {
			e.refusals.Report(c, err)
			return 0, err
		}
	}
	name := e.nextID()
	if err := e.brackets.Protect(name, id, m, amount, levels); err != nil {
		return 0, err
	}
	if f != nil {
		e.brackets.Follows(name, *f)
	}
	return name, nil
}
