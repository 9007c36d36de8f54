package tidy

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The widest lines, in columns; a tab counts four.
const (
	widestCode    = 120
	widestComment = 100
)

func TestLinesFitTheirColumns(t *testing.T) {
	for _, s := range sources(t) {
		text, err := os.ReadFile(s.path)
		require.NoError(t, err)
		comments, exempt := linesOf(s)
		for i, line := range strings.Split(string(text), "\n") {
			limit := widestCode
			// a block of code in a comment
			if comments[i+1] && !strings.HasPrefix(strings.TrimLeft(line, "\t"), "//\t") {
				limit = widestComment
			}
			if columns(line) <= limit || exempt[i+1] || unbreakable(line, limit) {
				continue
			}
			t.Errorf("%s:%d: %d columns, more than %d", s.path, i+1, columns(line), limit)
		}
	}
}

// outputOf is the line of an example above its output.
var outputOf = regexp.MustCompile("^// (Unordered o|O)utput:")

// linesOf returns the lines of a file that hold comments alone, and the lines that cannot be
// broken: struct tags, and in tests raw strings and the output of examples.
func linesOf(s *source) (comments, exempt map[int]bool) {
	comments, exempt = map[int]bool{}, map[int]bool{}
	line := func(at token.Pos) int { return s.set.Position(at).Line }
	mark := func(lines map[int]bool, node ast.Node) {
		for i := line(node.Pos()); i <= line(node.End()); i++ {
			lines[i] = true
		}
	}
	code := map[int]bool{}
	ast.Inspect(s.File, func(node ast.Node) bool {
		switch n := node.(type) {
		case nil, *ast.File, *ast.CommentGroup, *ast.Comment:
		case *ast.BasicLit:
			code[line(n.Pos())] = true
			if s.test && strings.HasPrefix(n.Value, "`") {
				mark(exempt, n)
			}
		case *ast.Field:
			code[line(n.Pos())] = true
			if n.Tag != nil {
				mark(exempt, n.Tag)
			}
		default:
			code[line(n.Pos())], code[line(n.End()-1)] = true, true
		}
		return true
	})
	for _, group := range s.Comments {
		output := false
		for _, comment := range group.List {
			mark(comments, comment)
			output = output || s.test && outputOf.MatchString(comment.Text)
			if output {
				exempt[line(comment.Pos())] = true
			}
		}
	}
	maps.DeleteFunc(comments, func(i int, _ bool) bool { return code[i] })
	return comments, exempt
}

// columns is the width of a line.
func columns(line string) int { return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t") }

// unbreakable reports whether a line is too wide because of one word: an import path, a URL, a text
// without a space.
func unbreakable(line string, limit int) bool {
	indent := columns(line) - columns(strings.TrimLeft(line, "\t"))
	return slices.ContainsFunc(strings.Fields(line), func(word string) bool { return indent+columns(word) > limit })
}

func TestTheWidthOfALineIsCountedInColumns(t *testing.T) {
	require.Equal(t, 10, columns("\t\ta€"))
	require.True(t, unbreakable("\t// see https://"+strings.Repeat("x", 100), widestComment))
	require.False(t, unbreakable(strings.Repeat("word ", 40), widestComment))
}

// Function lengths may not get worse: half of all functions have at most 12 lines, 95 % at most 40.
func TestMostFunctionsAreShort(t *testing.T) {
	var lengths []int
	functions(t, func(s *source, f *ast.FuncDecl) { lengths = append(lengths, linesIn(s, f)) })
	slices.Sort(lengths)
	for _, goal := range []struct{ percent, most int }{{50, 12}, {95, 40}, {100, longest}} {
		length := lengths[(len(lengths)-1)*goal.percent/100]
		require.LessOrEqual(t, length, goal.most,
			strconv.Itoa(goal.percent)+" % of the functions have at most so many lines")
	}
}
