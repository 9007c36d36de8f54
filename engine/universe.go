package engine

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Members are the markets of a strategy's universe at the present time; without a universe, all of
// its markets.
func (e *Engine) Members(id market.StrategyID) []market.ID { return e.universes.Members(id) }

// Universe are the members of a strategy's universe from the present time on; nil: it has none.
func (e *Engine) Universe(id market.StrategyID) []strategy.Membership { return e.universes.Ahead(id) }
