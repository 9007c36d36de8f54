package report_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/report"
	"github.com/tidemark-trading/tidemark/research/walkforward"
)

// walked is a walk-forward with so many windows, and an objective with HTML in it.
func walked(windows int) *walkforward.Result {
	const day = 24 * 3600 * 1_000_000_000
	o := &walkforward.Result{Objective: "sharpe < 3 ? 1 : 2", Method: "grid", Train: 20, Test: 10, Border: "carry",
		Efficiency: research.Finding{Value: 0.4}, EfficiencySpread: 1.1, Files: []string{"out/<a>.sweep"}}
	o.Stitched = walkforward.Curve{Border: "carry", First: 20_000 * day, Sharpe: 1, Error: 0.5, Excess: 0.2,
		PSR: research.Finding{Value: 0.3}}
	for i := range 10 * windows {
		o.Stitched.Returns = append(o.Stitched.Returns, 0.01*math.Sin(float64(i)))
		o.Stitched.Held = append(o.Stitched.Held, 0.02*math.Cos(float64(i)))
	}
	o.Other = o.Stitched
	o.Other.Border = "flat"
	for i := range windows {
		from := backtest.Moment((20_000 + 10*i) * day)
		o.Windows = append(o.Windows, walkforward.Window{TestFrom: from, TestEnd: from + 10*day, Kept: i == 1,
			Settings: []research.Setting{{Key: "strategies.trend.params.fast", Value: "5"},
				{Key: "kind", Value: "<zz>"}},
			In: walkforward.Side{Days: 20, Sharpe: 2, Error: 1}, Out: walkforward.Side{Days: 10, Sharpe: 1, Error: 2}})
	}
	return o
}

func TestThePageOfAWalkForward(t *testing.T) {
	for windows, want := range map[int][]string{
		1: {"There is one window only", "The test days, stitched"},
		5: {"Parameters over time", "In 1 windows no set had a value", "0.40 ± 1.10", "positions closed", "&lt;zz&gt;",
			"worthless records of this length do as well", "sharpe &lt; 3 ? 1 : 2"},
	} {
		var page, again bytes.Buffer
		require.NoError(t, report.Walk(walked(windows), "made up", true).Write(&page))
		require.NoError(t, report.Walk(walked(windows), "made up", true).Write(&again))
		require.Equal(t, page.String(), again.String())
		for _, text := range want {
			require.Contains(t, page.String(), text)
		}
		require.NotContains(t, page.String(), "<zz>")
	}
	nothing := walked(2)
	nothing.Stitched.Returns, nothing.Stitched.Held = nil, nil
	require.NoError(t, report.Walk(nothing, "made up", false).Write(&bytes.Buffer{}))
}
