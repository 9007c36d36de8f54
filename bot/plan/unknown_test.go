package plan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

func TestAShippedStrategyThatAProgramDoesNotHaveIsExplained(t *testing.T) {
	for _, name := range ofTidemark {
		require.EqualError(t, UnknownStrategy(name, smaCross()), "the strategy "+name+" comes with Tidemark, and this "+
			"program does not have it: in main.go import \"github.com/tidemark-trading/tidemark/strategy/"+name+
			"\" and pass "+name+".Definition to bot.Main too")
		require.DirExists(t, filepath.Join("..", "..", "strategy", name))
	}
	require.EqualError(t, UnknownStrategy("smacros", smaCross()),
		`unknown strategy "smacros"; the nearest is "smacross"`)

	var names []string
	for _, d := range shipped.Definitions() {
		names = append(names, d.Name)
		text, err := os.ReadFile(filepath.Join("..", "..", "strategy", d.Name, d.Name+".go"))
		require.NoError(t, err)
		require.Contains(t, string(text), "Definition = strategy.Define")
	}
	slices.Sort(names)
	require.Equal(t, names, ofTidemark)
}
