package research

import (
	"math"

	"github.com/tidemark-trading/tidemark/backtest"
)

// Figures are the numbers that a sweep keeps of a set, in the order of FigureNames. A figure
// without a value is NaN.
type Figures []float64

// figure is one of the numbers.
type figure struct {
	name  string
	daily bool // it follows from daily returns: see Part
	of    func(r *backtest.Result) float64
}

// figureTable are the figures that formulas may name. A new one goes to the end, and raises the
// version of the file.
var figureTable = [...]figure{
	{"sharpe", true, func(r *backtest.Result) float64 { return float64(r.Performance.Sharpe) }},
	{"sortino", true, func(r *backtest.Result) float64 { return float64(r.Performance.Sortino) }},
	{"calmar", true, func(r *backtest.Result) float64 { return float64(r.Performance.Calmar) }},
	{"return", true, func(r *backtest.Result) float64 { return float64(r.Performance.Return) }},
	{"profit_factor", false, func(r *backtest.Result) float64 { return float64(r.Trips.ProfitFactor) }},
	{"expectancy", false, func(r *backtest.Result) float64 { return ofTrips(r, r.Trips.Expectancy.Float()) }},
	{"cagr", true, func(r *backtest.Result) float64 { return float64(r.Performance.CAGR) }},
	{"volatility", true, func(r *backtest.Result) float64 { return float64(r.Performance.Volatility) }},
	{"drawdown", true, func(r *backtest.Result) float64 { return float64(r.Performance.Drawdown.Depth) }},
	{"exposure", false, func(r *backtest.Result) float64 { return float64(r.Performance.Exposure) }},
	{"turnover", false, func(r *backtest.Result) float64 { return float64(r.Performance.Turnover) }},
	{"fees", false, func(r *backtest.Result) float64 { return r.Performance.Fees.Float() }},
	{"final", false, func(r *backtest.Result) float64 { return r.Performance.Final.Float() }},
	{"trips", false, func(r *backtest.Result) float64 { return float64(r.Trips.Count) }},
	{"positions", false, func(r *backtest.Result) float64 { return float64(r.Trips.Positions) }},
	{"win_rate", false, func(r *backtest.Result) float64 { return float64(r.Trips.WinRate) }},
	{"orders", false, func(r *backtest.Result) float64 { return float64(r.Orders.Orders) }},
	{"fills", false, func(r *backtest.Result) float64 { return float64(r.Orders.Fills) }},
	{"days", true, func(r *backtest.Result) float64 { return float64(r.Performance.Days) }},
	{"hold_return", false, func(r *backtest.Result) float64 { return float64(r.Hold.Return) }},
	{"hold_sharpe", false, func(r *backtest.Result) float64 { return float64(r.Hold.Sharpe) }},
}

// ofTrips is a figure that a run without a round trip does not have.
func ofTrips(r *backtest.Result, x float64) float64 {
	if r.Trips.Count == 0 {
		return math.NaN()
	}
	return x
}

// FigureNames are the names of the figures, as formulas use them.
func FigureNames() []string {
	names := make([]string, len(figureTable))
	for i := range figureTable {
		names[i] = figureTable[i].name
	}
	return names
}

// FiguresOf takes the figures of a result.
func FiguresOf(r *backtest.Result) Figures {
	f := make(Figures, len(figureTable))
	for i := range figureTable {
		f[i] = figureTable[i].of(r)
	}
	return f
}

// Of is the figure of a name; NaN where there is none.
func (f Figures) Of(name string) float64 {
	for i := range f {
		if figureTable[i].name == name {
			return f[i]
		}
	}
	return math.NaN()
}

// FigureText writes a figure for a person, with the digits that suit its name.
func FigureText(name string, f backtest.Figure) string {
	switch name {
	case "return", "drawdown", "exposure":
		return f.Percent(1)
	case "trips", "fees":
		return f.Text(0)
	}
	return f.Text(2)
}
