package research

import (
	"math"

	"github.com/tidemark-trading/tidemark/backtest"
)

// Figures are the numbers that a sweep keeps of a set, in the order of FigureNames. A figure
// without a value is NaN.
type Figures []float64

// figureTable are the figures that formulas may name. A new one goes to the end, and raises the
// version of the file.
var figureTable = [...]struct {
	name string
	of   func(r *backtest.Result) float64
}{
	{"sharpe", func(r *backtest.Result) float64 { return float64(r.Performance.Sharpe) }},
	{"sortino", func(r *backtest.Result) float64 { return float64(r.Performance.Sortino) }},
	{"calmar", func(r *backtest.Result) float64 { return float64(r.Performance.Calmar) }},
	{"return", func(r *backtest.Result) float64 { return float64(r.Performance.Return) }},
	{"profit_factor", func(r *backtest.Result) float64 { return float64(r.Trips.ProfitFactor) }},
	{"expectancy", func(r *backtest.Result) float64 { return ofTrips(r, r.Trips.Expectancy.Float()) }},
	{"cagr", func(r *backtest.Result) float64 { return float64(r.Performance.CAGR) }},
	{"volatility", func(r *backtest.Result) float64 { return float64(r.Performance.Volatility) }},
	{"drawdown", func(r *backtest.Result) float64 { return float64(r.Performance.Drawdown.Depth) }},
	{"exposure", func(r *backtest.Result) float64 { return float64(r.Performance.Exposure) }},
	{"turnover", func(r *backtest.Result) float64 { return float64(r.Performance.Turnover) }},
	{"fees", func(r *backtest.Result) float64 { return r.Performance.Fees.Float() }},
	{"final", func(r *backtest.Result) float64 { return r.Performance.Final.Float() }},
	{"trips", func(r *backtest.Result) float64 { return float64(r.Trips.Count) }},
	{"positions", func(r *backtest.Result) float64 { return float64(r.Trips.Positions) }},
	{"win_rate", func(r *backtest.Result) float64 { return float64(r.Trips.WinRate) }},
	{"orders", func(r *backtest.Result) float64 { return float64(r.Orders.Orders) }},
	{"fills", func(r *backtest.Result) float64 { return float64(r.Orders.Fills) }},
	{"days", func(r *backtest.Result) float64 { return float64(r.Performance.Days) }},
	{"hold_return", func(r *backtest.Result) float64 { return float64(r.Hold.Return) }},
	{"hold_sharpe", func(r *backtest.Result) float64 { return float64(r.Hold.Sharpe) }},
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
