// Package recipes has the strategies of docs/recipes.md, one in each file. Their blocks in the page
// and the trades that it shows are compared with these files: go test -update writes them anew.
package recipes_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/strategy"
)

const page = "../recipes.md"

var update = flag.Bool("update", false, "write the blocks of "+page)

// definitions are the recipes by the names of their files.
var definitions = map[string]strategy.Definition{
	"balance":   balanceDefinition,
	"daily":     dailyDefinition,
	"first":     firstDefinition,
	"intervals": intervalsDefinition,
	"leave":     leaveDefinition,
	"memory":    memoryDefinition,
	"out":       outDefinition,
	"patient":   patientDefinition,
	"insist":    insistDefinition,
	"ranges":    rangesDefinition,
	"risk":      riskDefinition,
	"scale":     scaleDefinition,
	"seen":      seenDefinition,
	"strongest": strongestDefinition,
	"trail":     trailDefinition,
}

// A section is a recipe of the page: a file that is named, a block of Go, a block of candles and
// trades.
var section = regexp.MustCompile("(?s)\\(recipes/([a-z]+)_test\\.go\\)(.*?)```go\n(.*?)```(.*?)```\n(.*?)```")

func TestTheRecipesOfThePageAreTheFilesAndMakeTheseTrades(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	shown := map[string]bool{}
	written := section.ReplaceAllStringFunc(string(text), func(part string) string {
		m := section.FindStringSubmatch(part)
		name, code, scene := m[1], m[3], m[5]
		shown[name] = true
		definition, known := definitions[name]
		require.True(t, known, "%s names recipes/%s_test.go, which definitions has not", page, name)
		wantCode, wantScene := marked(t, name), played(t, definition, scene)
		if !*update {
			require.Equal(t, wantCode, code, "%s: the code of %s; go test ./docs/recipes -update writes it", page, name)
			require.Equal(t, wantScene, scene, "%s: the trades of %s; go test ./docs/recipes -update writes them", page,
				name)
			require.LessOrEqual(t, len(strings.Split(code, "\n")), 50, name)
		}
		return "(recipes/" + name + "_test.go)" + m[2] + "```go\n" + wantCode + "```" + m[4] + "```\n" + wantScene +
			"```"
	})
	for name := range definitions {
		require.True(t, shown[name], "%s does not show %s", page, name)
	}
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(written), 0o644))
	}
}

// marked is the part of a recipe's file between its comments recipe and end.
func marked(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name + "_test.go")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "// recipe\n")
	require.True(t, found, name)
	code, _, found := strings.Cut(after, "\n// end\n")
	require.True(t, found, name)
	return code
}
