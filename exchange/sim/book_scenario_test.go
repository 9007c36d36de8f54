package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// TestABookWithAnEndlessHouseDoesTheSame plays the scenarios of candle filling over a Book whose house offers without end: an order
// lives the same life over both. Those that begin with "only path" say why they do not.
func TestABookWithAnEndlessHouseDoesTheSame(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	played := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, scenario := range split(string(text)) {
			title, _, _ := strings.Cut(scenario, "\n")
			script, want, _ := strings.Cut(scenario, "----\n")
			if strings.Contains(script, "\nonly path: ") {
				continue
			}
			played++
			require.Equal(t, want, playOver(t, bookStage(t), strings.TrimSpace(script)), "%s: %s", file, title)
		}
	}
	require.Greater(t, played, 100)
}

func bookStage(t *testing.T) *stage {
	s := newStage(t)
	s.config.Book = true
	s.config.House = func(*market.Market) House { return House{Levels: 1} }
	return s
}
