package research

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/tidemark-trading/tidemark/strategy"
)

// Formula is an expression over figures, such as "sharpe - 2*drawdown" or "trips >= 30". It has the
// operators of expr-lang.org, and sqrt and log beside its functions.
type Formula struct {
	text    string
	program *vm.Program
	alone   int // place of the figure that is all of it; -1: it is more
}

// Objective reads the formula by which sets are ranked: more is better. Its value is a number.
func Objective(text string) (*Formula, error) { return compile(text, "a number", expr.AsFloat64()) }

// Requirement reads a condition on the figures of a set. Its value is true or false.
func Requirement(text string) (*Formula, error) { return compile(text, "true or false", expr.AsBool()) }

// String is the formula as it was written.
func (f *Formula) String() string { return f.text }

// Of is the value of an objective; NaN where it is undefined.
func (f *Formula) Of(figures Figures) float64 {
	if f.alone >= 0 && f.alone < len(figures) {
		return figures[f.alone]
	}
	value, err := expr.Run(f.program, environment(figures))
	number, is := value.(float64)
	if err != nil || !is {
		return math.NaN() // such as a whole number divided by 0
	}
	return number
}

// Holds reports whether a set meets a requirement.
func (f *Formula) Holds(figures Figures) bool {
	value, err := expr.Run(f.program, environment(figures))
	met, is := value.(bool)
	return err == nil && is && met
}

// Beyond lists the figures of the formula that do not follow from daily returns: see Part.
func (f *Formula) Beyond() []string {
	return slices.DeleteFunc(f.names(), func(name string) bool {
		return slices.ContainsFunc(figureTable[:], func(f figure) bool { return f.name == name && f.daily })
	})
}

// names are the figures of the formula.
func (f *Formula) names() (names []string) {
	var seen visitor = func(n ast.Node) {
		id, is := n.(*ast.IdentifierNode)
		if is && !slices.Contains(names, id.Value) &&
			slices.ContainsFunc(figureTable[:], func(f figure) bool { return f.name == id.Value }) {
			names = append(names, id.Value)
		}
	}
	node := f.program.Node()
	ast.Walk(&node, seen)
	return names
}

// visitor is called with the nodes of a formula.
type visitor func(ast.Node)

func (v visitor) Visit(n *ast.Node) { v(*n) }

// environment names the figures.
func environment(figures Figures) map[string]float64 {
	env := make(map[string]float64, len(figures))
	for i := range figures {
		env[figureTable[i].name] = figures[i]
	}
	return env
}

func compile(text, want string, kind expr.Option) (*Formula, error) {
	env := environment(make(Figures, len(figureTable)))
	program, err := expr.Compile(text, expr.Env(env), kind,
		function("sqrt", math.Sqrt), function("log", math.Log))
	if err == nil {
		alone := slices.IndexFunc(figureTable[:], func(f figure) bool { return f.name == text })
		return &Formula{text: text, program: program, alone: alone}, nil
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	first, _, _ = strings.Cut(first, " (1:")
	if name, is := strings.CutPrefix(first, "unknown name "); is {
		names := slices.Sorted(maps.Keys(env))
		return nil, fmt.Errorf("%q: unknown figure %s; the nearest is %q; the figures are %s", text, name,
			strategy.Nearest(name, names), strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%q is no formula whose value is %s: %s", text, want, first)
}

// function lets formulas call f.
func function(name string, f func(float64) float64) expr.Option {
	return expr.Function(name, func(args ...any) (any, error) {
		switch x := args[0].(type) {
		case float64:
			return f(x), nil
		case int:
			return f(float64(x)), nil
		}
		return math.NaN(), nil
	}, new(func(float64) float64), new(func(int) float64))
}
