// Package shipped lists the strategies that come with Tidemark. It holds no rules of its own. Start
// at Kinds; a strategy that is added to the project joins the list and is then in the command and
// under every test that all strategies must pass.
package shipped

import (
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/breakout"
	"github.com/tidemark-trading/tidemark/strategy/dca"
	"github.com/tidemark-trading/tidemark/strategy/grid"
	"github.com/tidemark-trading/tidemark/strategy/maker"
	"github.com/tidemark-trading/tidemark/strategy/rsirevert"
	"github.com/tidemark-trading/tidemark/strategy/smacross"
)

// Kinds returns the strategies, the one that `bot backtest` runs without a config first. The slice
// is the caller's.
func Kinds() []strategy.Kind {
	return []strategy.Kind{smacross.Kind, breakout.Kind, rsirevert.Kind, grid.Kind, dca.Kind, maker.Kind}
}
