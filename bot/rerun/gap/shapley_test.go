package gap

import (
	"math"
	"math/big"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// The vector of methods section 6, in tenths: v = 100 −12D −5P −20L −9F +3DP −4DL +6LF +2PL −1.5DLF
// +0.7DPLF.
func TestSharesAreThoseOfTheVector(t *testing.T) {
	v := [16]market.Money{1000, 880, 950, 860, 800, 640, 770, 640, 910, 790, 860, 770, 770, 595, 740, 602}
	asked := 0
	all := shares(func(s Set) market.Money {
		asked++
		return v[s]
	})
	require.Equal(t, 12, asked)
	require.Len(t, sequences(), 12)
	want := [swapped]struct{ mean, least, most float64 }{
		{-134.916666667, -175, -90}, {-19.916666667, -50, 7}, {-206.666666667, -240, -180}, {-36.5, -45, -30}}
	sum := market.Money(0)
	for f, one := range all {
		require.InDelta(t, want[f].mean, float64(one.mean), 1, Fact(f))
		require.EqualValues(t, want[f].least, one.least, Fact(f))
		require.EqualValues(t, want[f].most, one.most, Fact(f))
		sum += one.mean
	}
	require.EqualValues(t, v[15]-v[0], sum)

	// The same in units so small that the rounding of the shares does not show.
	const fine = 1e6
	for f, one := range shares(func(s Set) market.Money { return v[s] * fine }) {
		require.InDelta(t, want[f].mean*fine, float64(one.mean), 1, Fact(f))
	}
}

// The naive twin weighs marginal terms by the count of the orders in which they stand.
func TestSharesAreMeansOverTheOrdersAndAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v [1 << swapped]market.Money
		for s := range v {
			v[s] = market.Money(rapid.Int64Range(-1e12, 1e12).Draw(t, "v"))
		}
		all, sum := shares(func(s Set) market.Money { return v[s] }), market.Money(0)
		for f, one := range all {
			naive := naiveShare(&v, Fact(f))
			mean, _ := naive.Float64()
			require.Less(t, math.Abs(float64(one.mean)-mean), 1.0)
			require.LessOrEqual(t, float64(one.least), mean)
			require.GreaterOrEqual(t, float64(one.most), mean)
			sum += one.mean
		}
		require.Equal(t, v[len(v)-1]-v[0], sum)
	})
}

// naiveShare tries all 24 permutations and drops those in which Fills come before Orders.
func naiveShare(v *[1 << swapped]market.Money, of Fact) *big.Rat {
	sum, count := big.NewRat(0, 1), int64(0)
	for code := range 256 {
		order := [4]Fact{Fact(code & 3), Fact(code >> 2 & 3), Fact(code >> 4 & 3), Fact(code >> 6)}
		have, late, marginal := Set(0), false, market.Money(0)
		for _, f := range order {
			late = late || f == Fills && !have.Has(Orders)
			if f == of {
				marginal = v[have.With(f)] - v[have]
			}
			have = have.With(f)
		}
		if bits.OnesCount8(uint8(have)) == 4 && !late {
			sum.Add(sum, big.NewRat(int64(marginal), 1))
			count++
		}
	}
	return sum.Quo(sum, big.NewRat(count, 1))
}
