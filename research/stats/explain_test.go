package stats

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plumbing are exported functions that compute no figure; all but the last two need no source.
var plumbing = []string{"Rows", "Rows32", "Returns.Only", "Trials.Count", "Trials.Variance", "Explain", "Figures",
	"NewEvidence", "Evidence.Add", "Evidence.Broken", "Evidence.Days", "Evidence.Deepest", "Promise.Check",
	"Quantity.String",
	"Quantile",
	"PValue"}

// exported are the doc comments of the exported functions, by name; a method's has its type's.
func exported(t *testing.T) map[string]string {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	docs := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				of := f.Recv.List[0].Type
				if pointer, ok := of.(*ast.StarExpr); ok {
					of = pointer.X
				}
				name = of.(*ast.Ident).Name + "." + name
			}
			docs[name] = f.Doc.Text()
		}
	}
	return docs
}

func TestEveryFigureIsExplained(t *testing.T) {
	docs, explained := exported(t), map[string]bool{}
	for _, f := range Figures() {
		e := Explain(f)
		for _, text := range []string{e.Name, e.Source, e.Says, e.SaysNot} {
			require.NotEmpty(t, text, "figure %d", f)
		}
		require.NotEmpty(t, e.Functions, e.Name)
		for _, name := range e.Functions {
			require.Contains(t, docs, name, e.Name)
			explained[name] = true
		}
	}
	for name, doc := range docs {
		for _, one := range plumbing {
			explained[one] = true
		}
		require.True(t, explained[name], "%s has no figure in explain.go", name)
		if strings.Contains(strings.Join(plumbing[:len(plumbing)-2], " "), name) {
			continue
		}
		require.Contains(t, doc, "Source", "%s names no source", name)
	}
	require.Zero(t, Explain(0))
	require.Zero(t, Explain(figures))
}

// A p-value says how often luck looks like this; it says nothing about one strategy.
func TestNoFigureIsCalledAProbability(t *testing.T) {
	for _, f := range Figures() {
		e := Explain(f)
		own := strings.ToLower(e.Name + " " + e.Says + " " + e.SaysNot)
		require.NotRegexp(t, `probab|chance|confiden|likely to|certain`, own)
		for _, sentence := range []string{e.Says, e.SaysNot} {
			require.Regexp(t, `^[A-Z].*[^.]\.$`, sentence)
			require.NotRegexp(t, regexp.MustCompile(`[0-9]`), strings.ReplaceAll(sentence, "√365", ""),
				"a number belongs to a run")
		}
	}
}

// The document has the sentences of the table, in its order.
func TestTheDocumentSaysTheSame(t *testing.T) {
	document, err := os.ReadFile("../../docs/statistics.md")
	require.NoError(t, err)
	var table strings.Builder
	for _, f := range Figures() {
		e := Explain(f)
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", e.Name, e.Says, e.SaysNot, untitled(e.Source))
	}
	require.Contains(t, string(document), table.String(), "docs/statistics.md must have this table:\n\n%s",
		table.String())
}

// untitled is a source without the titles of its works.
func untitled(source string) string {
	var short []string
	for work := range strings.SplitSeq(source, "; ") {
		authors := regexp.MustCompile(`^[^:]*?[0-9]{4}|^[^:]*`).FindString(work)
		if !slices.Contains(short, authors) {
			short = append(short, authors)
		}
	}
	return strings.Join(short, "; ")
}
