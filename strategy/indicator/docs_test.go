package indicator_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// row is a line of the tables of docs/indicators.md.
type row struct {
	indicator string // the type
	cells     []string
}

func rows(t *testing.T) (all []row) {
	text, err := os.ReadFile("../../docs/indicators.md")
	require.NoError(t, err)
	name := regexp.MustCompile("^`(?:New)?([A-Z]\\w*)[({]")
	for _, line := range strings.Split(string(text), "\n") {
		if m := name.FindStringSubmatch(strings.TrimPrefix(line, "| ")); m != nil && strings.HasPrefix(line, "| ") {
			all = append(all, row{m[1], regexp.MustCompile(` *\| *`).Split(strings.Trim(line, "| "), -1)})
		}
	}
	return all
}

func TestEachIndicatorHasARowInTheDocuments(t *testing.T) {
	told := map[string]bool{}
	for _, r := range rows(t) {
		require.False(t, told[r.indicator], "%s has two rows", r.indicator)
		require.Len(t, r.cells, 5, r.indicator)
		told[r.indicator] = true
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Push" {
				indicator := f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name
				require.True(t, told[indicator], "docs/indicators.md has no row for %s", indicator)
				delete(told, indicator)
			}
		}
	}
	require.Empty(t, told, "docs/indicators.md has rows without an indicator")
}

func TestTheWarmupsOfTheDocumentsAreThoseOfTheIndicators(t *testing.T) {
	warmups := map[string]int{}
	for _, f := range figures() {
		warmups[f.name] = f.warmup
	}
	example := regexp.MustCompile("`([^`]+)`: (\\d+)$")
	for _, r := range rows(t) {
		m := example.FindStringSubmatch(r.cells[3])
		require.NotNil(t, m, "%s: no example of a warm-up", r.indicator)
		require.Contains(t, warmups, m[1])
		require.Equal(t, strconv.Itoa(warmups[m[1]]), m[2], m[1])
		delete(warmups, m[1])
	}
	require.Empty(t, warmups, "examples that docs/indicators.md does not have")
}
