package backtest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestAnAmountIsComparedWithADecimal(t *testing.T) {
	a := Amount{Units: -12_50, Digits: 2}
	require.Zero(t, a.Cmp("-12.5"))
	require.Negative(t, a.Cmp("-12.499999"))
	require.Positive(t, a.Cmp("-13"))
	require.Positive(t, Amount{Units: math.MaxInt64, Digits: 0}.Cmp("0.000000000000000001"))
	require.Panics(t, func() { a.Cmp("twelve") })
}

func TestAFigureIsARate(t *testing.T) {
	require.Equal(t, 5*market.Percent, Figure(0.05).Rate())
	require.Equal(t, -25*market.BasisPoint, Figure(-0.0025).Rate())
	require.Zero(t, undefined().Rate())
	require.Greater(t, Figure(math.Inf(1)).Rate(), 1000*market.Whole)
}
