package backtest

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// TestASummaryKeepsToItsTerminal also gives it figures as a day of luck, taken for a year, makes
// them.
func TestASummaryKeepsToItsTerminal(t *testing.T) {
	p := shippedPlan(t, shipped.Grid, 5000)
	result, err := Run(t.Context(), p, Options{Curve: true, Envelope: true})
	require.NoError(t, err)
	wild := *result
	wild.Performance.CAGR, wild.Hold.CAGR, wild.Hold.Calmar = 4.9e18, 3.65e34, -6.4e32
	wild.Performance.Final = Amount{Units: math.MaxInt64, Digits: 2}
	wild.Performance.Drawdown.Recovered = 0
	wild.Trips.LargestWin, wild.Trips.LargestLoss = wild.Performance.Final, Amount{Units: math.MinInt64, Digits: 2}
	wild.curve = []sample{{at: market.Time(0), equity: 1},
		{at: market.Time(market.Interval1d.End(0)), equity: math.MaxInt64}}
	for _, r := range []*Result{result, &wild} {
		for _, width := range []int{40, 41, 50, 60, 71, 72, 80, 96, 97, 100} {
			var text strings.Builder
			require.NoError(t, WriteSummary(&text, r, SummaryOptions{Width: width}))
			require.NotContains(t, text.String(), "\x1b")
			for line := range strings.Lines(text.String()) {
				line = strings.TrimSuffix(line, "\n")
				require.LessOrEqual(t, utf8.RuneCountInString(line), width, "%d columns: %q", width, line)
				require.False(t, strings.HasPrefix(line, "round trips") && line[len("round trips")] != ' ', line)
			}
		}
	}
}

func TestASummarySaysWhatACodeOfTheExchangeMeans(t *testing.T) {
	p := shippedPlan(t, shipped.Grid, 500)
	result, err := Run(t.Context(), p, Options{})
	require.NoError(t, err)
	result.Refusals = []Count{{Reason: "trend: exchange 216", Count: 3}, {Reason: "trend: max_position", Count: 1}}
	var text strings.Builder
	require.NoError(t, WriteSummary(&text, result, SummaryOptions{Width: 100}))
	require.Contains(t, text.String(), "       3  trend: exchange 216: You do not have sufficient balance to complete")
	require.Regexp(t, `\n       1  trend: max_position, \d+\.\d % of all orders: bot help max_position\n`, text.String())
	require.Contains(t, strings.Join(strings.Fields(text.String()), " "), `of all orders: "up to 95% cash" leaves room`)
}

func TestFiguresOfMoreThanNineDigitsArePowersOfTen(t *testing.T) {
	for _, c := range []struct {
		figure        Figure
		text, percent string
	}{
		{1234.5678, "1,234.57", "123,456.78 %"},
		{999_999_999, "999,999,999.00", "1.00e+11 %"},
		{-4.9e18, "-4.90e+18", "-4.90e+20 %"},
		{undefined(), "–", "–"},
	} {
		require.Equal(t, []string{c.text, c.percent}, []string{c.figure.Text(2), c.figure.Percent(2)})
	}
}

func TestNoGainIsNeitherGreenNorRed(t *testing.T) {
	require.Equal(t, []string{red, "", green}, []string{signColour(-0.01), signColour(0), signColour(0.01)})
	require.Empty(t, (&Result{}).cards()[0].Class)
}
