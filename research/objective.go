package research

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Formula is an expression over figures, such as "sharpe - 2*drawdown" or "trips >= 30". It has the
// operators of expr-lang.org, and sqrt and log beside its functions.
type Formula struct {
	text    string
	program *vm.Program
	alone   int   // place of the figure that is all of it; -1: it is more
	places  []int // of the figures that it names
}

// Objective reads the formula by which sets are ranked: more is better. Its value is a number.
func Objective(text string) (*Formula, error) { return compile(text, "a number", expr.AsFloat64()) }

// Requirement reads a condition on the figures of a set. Its value is true or false.
func Requirement(text string) (*Formula, error) { return compile(text, "true or false", expr.AsBool()) }

// String is the formula as it was written.
func (f *Formula) String() string { return f.text }

// Of is the value of an objective, a finite number; NaN where it has none. It has none where a
// figure that it names has none, and where a step divides by 0 or leaves the numbers.
func (f *Formula) Of(figures Figures) float64 {
	if f.alone >= 0 && f.alone < len(figures) {
		return valueOr(figures[f.alone], math.NaN())
	}
	number, is := f.run(figures).(float64)
	if !is {
		return math.NaN()
	}
	return valueOr(number, math.NaN())
}

// Holds reports whether a set meets a requirement. A requirement without a value is not met.
func (f *Formula) Holds(figures Figures) bool {
	met, is := f.run(figures).(bool)
	return is && met
}

// run is the value of the formula; nil: it has none.
func (f *Formula) run(figures Figures) any {
	for _, at := range f.places {
		if at < len(figures) && !backtest.Figure(figures[at]).Defined() {
			return nil
		}
	}
	value, err := expr.Run(f.program, environment(figures))
	if err != nil {
		return nil
	}
	return value
}

// valueOr is x where it is a finite number.
func valueOr(x, other float64) float64 {
	if backtest.Figure(x).Defined() {
		return x
	}
	return other
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
		if is && !slices.Contains(names, id.Value) && placeOf(id.Value) >= 0 {
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

// steps passes the result of each division and power through "valued": min, max and comparisons
// would hide that it is infinite.
type steps struct{}

func (steps) Visit(n *ast.Node) {
	b, is := (*n).(*ast.BinaryNode)
	if is && slices.Contains([]string{"/", "**", "^"}, b.Operator) {
		ast.Patch(n, &ast.CallNode{Callee: &ast.IdentifierNode{Value: "valued"}, Arguments: []ast.Node{b}})
	}
}

var errNoValue = errors.New("a step of the formula has no value")

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
	program, err := expr.Compile(text, expr.Env(env), kind, expr.Patch(steps{}),
		function("sqrt", math.Sqrt), function("log", math.Log),
		function("valued", func(x float64) float64 { return x }))
	if err == nil {
		f := &Formula{text: text, program: program, alone: placeOf(text)}
		for _, name := range f.names() {
			f.places = append(f.places, placeOf(name))
		}
		return f, nil
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

// placeOf is the place of a figure in the table; -1: there is none of that name.
func placeOf(name string) int {
	return slices.IndexFunc(figureTable[:], func(f figure) bool { return f.name == name })
}

// function lets formulas call f. A result that is no finite number ends the formula.
func function(name string, f func(float64) float64) expr.Option {
	return expr.Function(name, func(args ...any) (any, error) {
		x, is := args[0].(float64)
		if whole, is2 := args[0].(int); is2 {
			x, is = float64(whole), true
		}
		if x = f(x); !is || !backtest.Figure(x).Defined() {
			return nil, errNoValue
		}
		return x, nil
	}, new(func(float64) float64), new(func(int) float64))
}
