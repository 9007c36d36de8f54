package market_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestAValueComesBackFromItsHalves(t *testing.T) {
	for _, text := range []string{"0", "1", "-1", "18446744073709551616", "-18446744073709551616",
		"170141183460469231731687303715884105727"} {
		v, err := market.ParseValue(text, 0)
		require.NoError(t, err)
		back, err := market.ValueOfHalves(v.Halves())
		require.NoError(t, err)
		require.Equal(t, v, back)
	}
	_, err := market.ValueOfHalves(math.MinInt64, 0)
	require.ErrorIs(t, err, market.ErrOverflow)
}
