// Package shipped has the strategies that come with Tidemark, a file each; those of the config are
// in strategy/rules. Its strategies know neither an engine nor each other. Start at Definitions: a
// strategy of the list is in the command, and under every test that all strategies must pass.
// SMACross is the shortest complete one.
package shipped

import (
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
)

// Definitions returns the strategies, the one that `bot backtest` runs without a config first. The
// slice is the caller's.
func Definitions() []strategy.Definition {
	return []strategy.Definition{SMACross, Breakout, RSIRevert, Grid, DCA, Maker, TrendFilter, Rotation, BandRevert,
		Accumulate, rules.Definition, Follow}
}
