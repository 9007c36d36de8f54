package indicator_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// exact is level·(10^8+rate) ÷ 10^8, rounded down or up.
func exact(level float64, rate market.Rate, up bool) market.Price {
	value := new(big.Rat).SetFloat64(level)
	value.Mul(value, big.NewRat(100_000_000+int64(rate), 100_000_000))
	whole := new(big.Int).Div(value.Num(), value.Denom()) // rounds down: a denominator is positive
	if up && !value.IsInt() {
		whole.Add(whole, big.NewInt(1))
	}
	return market.Price(whole.Int64())
}

func TestBelowAndAboveRoundTheExactPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := float64(rapid.Int64Range(-1e15, 1e15).Draw(t, "whole"))
		if rapid.Bool().Draw(t, "small") {
			level /= 1e9
		}
		rate := market.Rate(rapid.Int64Range(-100_000_000, 200_000_000).Draw(t, "rate"))
		l := indicator.Level(level)
		require.Equal(t, exact(level, -rate, false), l.Below(rate))
		require.Equal(t, exact(level, rate, true), l.Above(rate))
	})
}

// Products that lie next to a whole number, or on it, by less than a float tells apart.
func TestBelowAndAboveRoundWhatAFloatCannotTellApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.Int64Range(0, 90_000_000).Draw(t, "level")*100_000_000 + rapid.Int64Range(-3, 3).Draw(t, "rest")
		factor := rapid.Int64Range(0, 3).Draw(t, "factor")*100_000_000 + rapid.Int64Range(-3, 3).Draw(t, "off")
		l, rate := indicator.Level(level), market.Rate(factor-100_000_000)
		require.Equal(t, exact(float64(level), rate, false), l.Below(-rate))
		require.Equal(t, exact(float64(level), rate, true), l.Above(rate))
	})
}

func TestLevelsOfWholePricesLoseNothing(t *testing.T) {
	cases := []struct {
		level        indicator.Level
		rate         market.Rate
		below, above market.Price
	}{
		{30_000_00, 5 * market.Percent, 28_500_00, 31_500_00},
		{100, 3 * market.Percent, 97, 103},
		{100, 350 * market.BasisPoint, 96, 104},
		{2.5, 0, 2, 3},
		{-2.5, 0, -3, -2},
		{7, market.Whole, 0, 14},
		{0, 5 * market.Percent, 0, 0},
		{9_007_199_254_740_992, 0, 9_007_199_254_740_992, 9_007_199_254_740_992},
		{9_000_000_000_000_000_000, 0, 9_000_000_000_000_000_000, 9_000_000_000_000_000_000},
	}
	for _, c := range cases {
		require.Equal(t, c.below, c.level.Below(c.rate), "%v", c)
		require.Equal(t, c.above, c.level.Above(c.rate), "%v", c)
	}
	for _, level := range []indicator.Level{math.MaxInt64, -math.MaxFloat64, indicator.Level(math.NaN())} {
		require.Panics(t, func() { level.Below(0) })
		require.Panics(t, func() { level.Above(0) })
	}
}

func TestTimesIsADistanceRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		atr, deviation := indicator.NewATR(3), indicator.NewStdDev(3)
		k := rapid.Float64Range(0, 50).Draw(t, "k")
		for range rapid.IntRange(0, 9).Draw(t, "candles") {
			low := market.Price(rapid.Int64Range(1, 1e12).Draw(t, "low"))
			c := market.Candle{Low: low, High: low + market.Price(rapid.Int64Range(0, 1e9).Draw(t, "range")),
				Close: low}
			atr.Push(c)
			deviation.Push(c.Close)
		}
		require.Equal(t, market.Price(math.Ceil(k*atr.Value())), atr.Times(k))
		require.Equal(t, market.Price(math.Ceil(k*deviation.Value())), deviation.Times(k))
	})
	atr := indicator.NewATR(14)
	require.Zero(t, atr.Times(2), "before the first candle")
	atr.Push(market.Candle{High: 10, Low: 9, Close: 10})
	require.Equal(t, market.Price(3), atr.Times(2.5), "a mean of one range is not ready, and a distance")
}
