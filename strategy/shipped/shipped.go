// Package shipped lists the strategies that come with Tidemark. It holds no rules of its own. Start
// at Definitions; a strategy that is added to the project joins the list and is then in the command
// and under every test that all strategies must pass.
package shipped

import (
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/accumulate"
	"github.com/tidemark-trading/tidemark/strategy/bandrevert"
	"github.com/tidemark-trading/tidemark/strategy/breakout"
	"github.com/tidemark-trading/tidemark/strategy/dca"
	"github.com/tidemark-trading/tidemark/strategy/follow"
	"github.com/tidemark-trading/tidemark/strategy/grid"
	"github.com/tidemark-trading/tidemark/strategy/maker"
	"github.com/tidemark-trading/tidemark/strategy/rotation"
	"github.com/tidemark-trading/tidemark/strategy/rsirevert"
	"github.com/tidemark-trading/tidemark/strategy/rules"
	"github.com/tidemark-trading/tidemark/strategy/smacross"
	"github.com/tidemark-trading/tidemark/strategy/trendfilter"
)

// Definitions returns the strategies, the one that `bot backtest` runs without a config first. The
// slice is the caller's.
func Definitions() []strategy.Definition {
	return []strategy.Definition{smacross.Definition, breakout.Definition, rsirevert.Definition, grid.Definition,
		dca.Definition, maker.Definition, trendfilter.Definition, rotation.Definition,
		bandrevert.Definition, accumulate.Definition, rules.Definition, follow.Definition}
}
