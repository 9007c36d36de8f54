package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research/report"
	"github.com/tidemark-trading/tidemark/research/stress"
)

// stressed is the outcome of a stress with a level that breaks it.
func stressed() *stress.Result {
	quantiles := func() (list []stress.Quantile) {
		for range 5 {
			list = append(list, stress.Quantile{Part: 0.5, Value: 1})
		}
		return list
	}
	return &stress.Result{Title: "grid <1m>", Synthetic: true,
		Again: []stress.Change{{Title: "all costs", Says: "fees", Levels: []stress.Level{{Label: "×2", Why: "a loss",
			Runs: make([]stress.Figures, 1)}}}, {Title: "noise", Says: "draws", Missing: "books"}},
		Breaks: []stress.Break{{Title: "all costs", At: "×2", Why: "a loss"}},
		Record: &stress.Resample{Days: 2, Final: quantiles(), Drawdown: quantiles(), TripsMissing: "none ended",
			Fan: stress.Fan{Days: []int{1, 2}, Own: []float64{1, 1.1},
				Paths: [][]float64{{0.9, 0.8}, {1, 1}, {1.1, 1.2}}}}}
}

func TestThePageOfAStressSaysFirstWhatBreaksIt(t *testing.T) {
	var out, again bytes.Buffer
	require.NoError(t, report.Stress(stressed()).Write(&out))
	require.NoError(t, report.Stress(stressed()).Write(&again))
	require.Equal(t, out.String(), again.String())
	text := out.String()
	first, record, runs := strings.Index(text, "<b>It breaks first at this change: all costs, ×2: a loss."),
		strings.Index(text, "From the record</h2>"), strings.Index(text, "The run again</h2>")
	require.Positive(t, first)
	require.Less(t, first, record)
	require.Less(t, record, runs)
	require.Contains(t, text, "grid &lt;1m&gt;")
	require.Contains(t, text, "noise: left out, books.")
	require.Contains(t, text, "not of the future")
	require.Contains(t, text, "equity, log scale</text>")
	require.Contains(t, text, "1 Jan 1970</text>", "the days have dates")

	broken := stressed()
	broken.Broken, broken.Breaks = "a loss", nil
	out.Reset()
	require.NoError(t, report.Stress(broken).Write(&out))
	require.Contains(t, out.String(), "The run is broken as it is: a loss.")
	require.NotContains(t, out.String(), "What breaks it first</h2>")
}
