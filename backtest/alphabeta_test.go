package backtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
)

func daysFrom(first int64, returns ...float64) (list []report.Day) {
	for i, r := range returns {
		list = append(list, report.Day{End: market.Time(first+int64(i)) * dayLength, Return: r})
	}
	return list
}

// By hand: of the days that both have, the market has 0.02, −0.01, 0.02 (mean 0.01, squares 6e-4)
// and the account 0.02, 0, 0.01 (mean 0.01): Σ of products 1e-4 + 2e-4 + 0 = 3e-4, so beta is 0.5
// and alpha (0.01 − 0.5·0.01)·365 = 1.825.
func TestAlphaAndBetaByHand(t *testing.T) {
	own, hold := daysFrom(10, 0.5, 0.02, 0, 0.01), daysFrom(11, 0.02, -0.01, 0.02, 0.7)
	alpha, beta := alphaBeta(own, hold)
	require.InDelta(t, 0.5, float64(beta), 1e-12)
	require.InDelta(t, 1.825, float64(alpha), 1e-12)
	alpha, beta = alphaBeta(daysFrom(12, 0.02, 0, 0.01), daysFrom(11, 5, 0.02, -0.01, 0.02))
	require.InDelta(t, 0.5, float64(beta), 1e-12)
	require.InDelta(t, 1.825, float64(alpha), 1e-12)
	for _, hold := range [][]report.Day{nil, daysFrom(10, 0.1), daysFrom(10, 0.25, 0.25), daysFrom(99, 0.1, 0.2)} {
		alpha, beta = alphaBeta(own, hold)
		require.False(t, alpha.Defined() || beta.Defined(), "%v", hold)
	}
}

// By hand: trips of 30, −10, 20, −20 and 0 have a mean of 4 and a deviation of √430; three of the
// five did not win, a win is 25 and a loss 15 on average.
func TestSQNAndKellyByHand(t *testing.T) {
	m := &market.Market{ID: 1, Quote: 1, ValueDigits: 2}
	tally := tally{digits: 2, money: 2}
	for i, cents := range []int64{3000, -1000, 2000, -2000, 0} {
		if i == 1 {
			require.False(t, tally.figures(0).SQN.Defined() || tally.figures(0).Kelly.Defined(), "of one trip")
		}
		require.NoError(t, tally.trip(m, market.ValueOf(cents)))
	}
	f := tally.figures(0)
	require.InDelta(t, 0.43132, float64(f.SQN), 1e-4) // √5·4 ÷ 20.7364
	require.InDelta(t, 0.4-0.6/(25.0/15), float64(f.Kelly), 1e-12)
}
