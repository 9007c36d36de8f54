package engine

import "github.com/tidemark-trading/tidemark/market"

// CheckBrackets is bracket.Set.Check of the engine's brackets.
func (e *Engine) CheckBrackets() error { return e.brackets.Check() }

// Covered is the base of a strategy in a market that brackets protect, or are about to.
func (e *Engine) Covered(s market.StrategyID, m market.ID) market.Qty {
	return e.brackets.Covered(s, m)
}
