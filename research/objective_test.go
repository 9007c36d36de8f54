package research

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// figuresOf are figures of which these are set.
func figuresOf(values map[string]float64) Figures {
	f := make(Figures, len(figureTable))
	for i := range figureTable {
		f[i] = values[figureTable[i].name]
	}
	return f
}

func TestFormulasComputeFromFigures(t *testing.T) {
	f := figuresOf(map[string]float64{"sharpe": 2, "drawdown": 0.25, "trips": 30, "return": 0.5, "calmar": math.NaN()})
	for _, c := range []struct {
		text string
		want float64
	}{
		{"sharpe", 2},
		{"return", 0.5},
		{"sharpe - 2*drawdown", 1.5},
		{"return / (1 + drawdown)", 0.4},
		{"sqrt(trips - 5)", 5},
		{"log(1)", 0},
		{"trips >= 30 ? sharpe : -1", 2},
		{"min(sharpe, 1)", 1},
		{"3", 3},
	} {
		o, err := Objective(c.text)
		require.NoError(t, err, c.text)
		require.InDelta(t, c.want, o.Of(f), 1e-12, c.text)
	}
	for _, text := range []string{"calmar", "calmar * 2", "sqrt(-1)", "return / 0 - return / 0"} {
		o, err := Objective(text)
		require.NoError(t, err, text)
		require.True(t, math.IsNaN(o.Of(f)), text)
	}
	f[0], f[4] = 2, math.Inf(1) // sharpe, profit_factor
	for _, text := range []string{"profit_factor", "-profit_factor", "1 / profit_factor", "min(profit_factor, 3)",
		"max(3, profit_factor)", "trips > 5 ? profit_factor : 0", "sharpe / 0", "min(sharpe / 0, 3)", "-sharpe / 0",
		"log(trips - 30)", "max(1, log(0))", "sharpe ** 2000", "min(1, sharpe ^ 2000)", "max(-1, sqrt(-sharpe))",
		"max(calmar, 1)", "min(1, 0 / 0)", "sharpe / 0 > 1 ? 1 : 0", "1e308 * trips"} {
		o, err := Objective(text)
		require.NoError(t, err, text)
		require.True(t, math.IsNaN(o.Of(f)), text)
	}
	for _, text := range []string{"profit_factor > 1", "not (profit_factor < 1)", "sharpe / 0 > 1", "calmar != 1"} {
		need, err := Requirement(text)
		require.NoError(t, err)
		require.False(t, need.Holds(f), text)
	}
	need, err := Requirement("trips>=30 and drawdown < 0.3")
	require.NoError(t, err)
	require.True(t, need.Holds(f))
	need, err = Requirement("calmar > 0")
	require.NoError(t, err)
	require.False(t, need.Holds(f), "an undefined figure meets nothing")
}

func TestBadFormulasSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"sharp", `unknown figure sharp; the nearest is "sharpe"`},
		{"sharpe +", "is no formula"},
		{"", "is no formula"},
		{"trips > 30", "a number"},
		{"'text'", "a number"},
	} {
		_, err := Objective(c.text)
		require.ErrorContains(t, err, c.want, c.text)
	}
	_, err := Requirement("trips")
	require.ErrorContains(t, err, "true or false")
}
