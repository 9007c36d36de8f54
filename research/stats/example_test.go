package stats_test

import (
	"fmt"
	"math"

	"github.com/tidemark-trading/tidemark/research/stats"
)

// A search of 40 sets over two years: what the best of them is worth.
func Example() {
	// Daily returns in excess of a hold at each set's own average exposure.
	const sets, days = 40, 2 * stats.DaysPerYear
	rows := make([][]float64, sets)
	for set := range rows {
		rows[set] = make([]float64, days)
		for day := range rows[set] {
			rows[set][day] = 0.02 * math.Sin(float64((day+1)*(day+1)*(set+3)))
		}
	}
	returns, err := stats.Rows(rows)
	if err != nil {
		fmt.Println(err)
		return
	}
	best, sharpes := 0, make([]float64, sets)
	for set, row := range rows {
		sharpes[set] = stats.Sharpe(row)
		if sharpes[set] > sharpes[best] {
			best = set
		}
	}
	fmt.Printf("Before: of searches like this on worthless data, 5 in 100 show more than %.2f.\n",
		stats.Bar(sets, 0.05, 2))
	fmt.Printf("The best shows %.2f.\n", stats.Annual(sharpes[best]))

	test, err := stats.SPA(returns, stats.Resampling{Resamples: 999}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("SPA: p %.2f. %s\n", test.Consistent, stats.Explain(stats.FigureSPA).SaysNot)
	// Output:
	// Before: of searches like this on worthless data, 5 in 100 show more than 2.13.
	// The best shows 1.51.
	// SPA: p 0.43. It does not say which set has the edge, nor that the edge will last; unrecorded tries do not count.
}
