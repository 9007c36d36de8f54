package bot

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/schema"
)

var updateSchemas = flag.Bool("update-schemas", false, "write docs/schemas anew")

// everyCommand calls look with each command and its words, without the program's.
func everyCommand(c *cobra.Command, look func(words string, c *cobra.Command)) {
	for _, one := range c.Commands() {
		_, words, _ := strings.Cut(one.CommandPath(), " ")
		look(words, one)
		everyCommand(one, look)
	}
}

func TestEachJSONOfACommandHasASchema(t *testing.T) {
	have := map[string]bool{}
	for name := range documents() {
		words, flag, other := strings.Cut(name, " +")
		have[words] = have[words] || !other
		_ = flag
	}
	everyCommand(Command(), func(words string, c *cobra.Command) {
		if asJSON := c.Flags().Lookup("json"); asJSON != nil {
			require.True(t, have[words], "bot %s --json has no row in documents()", words)
			delete(have, words)
		}
	})
	require.Empty(t, have, "these commands have no --json")
}

func TestTheSchemasOfDocumentsAreThoseOfTheirTypes(t *testing.T) {
	folder := filepath.Join("..", "docs", "schemas")
	var want []string
	for _, name := range slices.Sorted(maps.Keys(documents())) {
		file := strings.NewReplacer(" +", "--", " ", "-").Replace(name) + ".json"
		want = append(want, file)
		text, err := json.Marshal(schema.Document(documents()[name], "bot "+strings.ReplaceAll(name, "+", "--")))
		require.NoError(t, err)
		path := filepath.Join(folder, file)
		if *updateSchemas {
			require.NoError(t, os.MkdirAll(folder, 0o755))
			require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o644))
		}
		stored, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(text)+"\n", string(stored), "%s: go test ./bot -run Schemas -update-schemas", file)
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var have []string
	for _, entry := range entries {
		have = append(have, entry.Name())
	}
	slices.Sort(want)
	require.Equal(t, want, have, "docs/schemas has what is written, and nothing else")
}
