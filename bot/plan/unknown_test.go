package plan

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

func TestAShippedStrategyThatAProgramDoesNotHaveIsExplained(t *testing.T) {
	for _, name := range ofTidemark {
		require.EqualError(t, UnknownStrategy(name, smaCross()), "the strategy "+name+" comes with Tidemark, and this "+
			"program does not have it: in main.go import \"github.com/tidemark-trading/tidemark/strategy/shipped\" "+
			"and pass shipped.Definitions() to bot.Main too")
	}
	require.EqualError(t, UnknownStrategy("smacros", smaCross()),
		`unknown strategy "smacros"; the nearest is "smacross"`)

	var names []string
	for _, d := range shipped.Definitions() {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	require.Equal(t, names, ofTidemark)
}
