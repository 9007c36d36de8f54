package strategy_test

import (
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/strategy"
)

// Where nothing is shown, a plot looks at nothing, not even at the engine.
func TestAPlotThatGoesNowhereCostsNothing(t *testing.T) {
	m := strategy.NewDesk(nil, 1, zerolog.Nop().Level(zerolog.InfoLevel)).In(1)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		m.Plot("mean", 1)
		m.Plot("RSI", 1, strategy.Pane("RSI"))
		m.Mark("here")
	}))
}
