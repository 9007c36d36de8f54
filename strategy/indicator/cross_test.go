package indicator_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

func TestCrossSaysWhatTwoAveragesSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fast := rapid.IntRange(1, 6).Draw(t, "fast")
		slow := rapid.IntRange(fast+1, 12).Draw(t, "slow")
		// few values: equal averages are common
		closes := rapid.SliceOfN(rapid.Int64Range(1, 5), 0, 80).Draw(t, "closes")
		x := indicator.NewCross(fast, slow)
		a, b := indicator.NewSMA(fast), indicator.NewSMA(slow)
		was, has := market.Price(0), false
		for i, c := range closes {
			close := market.Price(c)
			a.Push(close)
			b.Push(close)
			is := a.Sum()*market.Price(slow) - b.Sum()*market.Price(fast)
			want := indicator.Direction(0)
			switch {
			case has && was <= 0 && is > 0:
				want = indicator.Up
			case has && was >= 0 && is < 0:
				want = indicator.Down
			}
			require.Equal(t, has, x.Ready())
			require.Equal(t, want, x.Push(close), "close %d", i)
			was, has = is, b.Ready()
		}
	})
}

func TestSkipTakesWhatMakesNoCross(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fast := rapid.IntRange(1, 9).Draw(t, "fast")
		slow := rapid.IntRange(fast+1, 20).Draw(t, "slow")
		row, one := indicator.NewCross(fast, slow), indicator.NewCross(fast, slow)
		for i := range rapid.IntRange(0, 300).Draw(t, "before") { // the ring may wrap
			require.Equal(t, row.Push(market.Price(1+i%5)), one.Push(market.Price(1+i%5)))
		}
		series := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) market.Candle {
			return market.Candle{Close: market.Price(rapid.SampledFrom([]int64{1, 2, 2, 3, 4}).Draw(t, "close"))}
		}), 0, 100).Draw(t, "series")
		for len(series) > 0 {
			block := series[:rapid.IntRange(0, len(series)).Draw(t, "block")]
			n := row.Skip(block)
			for i, c := range block[:n] {
				require.True(t, one.Ready(), "candle %d", i)
				require.Zero(t, one.Push(c.Close), "candle %d", i)
			}
			require.Equal(t, one, row)
			if series = series[n:]; len(series) > 0 {
				ready, want := one.Ready(), one.Push(series[0].Close)
				require.False(t, n < len(block) && ready && want == 0, "a row ended too early")
				require.Equal(t, want, row.Push(series[0].Close))
				series = series[1:]
			}
		}
	})
}

func TestCrossRefusesClosesThatItCannotCompareExactly(t *testing.T) {
	x := indicator.NewCross(1, 2)
	x.Push(math.MaxInt64 / 2)
	require.Panics(t, func() { x.Push(math.MaxInt64/2 + 1) })
	for range 3 {
		x.Push(7)
	}
	require.Equal(t, 1, x.Skip([]market.Candle{{Close: 7}, {Close: math.MaxInt64/2 + 1}, {Close: 7}}))
	require.Panics(t, func() { indicator.NewCross(2, 2) })
}

func ExampleCross() {
	x := indicator.NewCross(1, 2)
	for _, close := range []market.Price{100, 100, 99, 102, 101} {
		fmt.Print(x.Push(close), " ")
	}
	// Output: 0 0 -1 1 -1
}

// The second of four closes makes the averages equal, and the third is a cross.
func TestARowEndsBeforeACrossThatBeginsAtEqualAverages(t *testing.T) {
	x := indicator.NewCross(6, 11)
	for i := range 19 {
		x.Push(market.Price(1 + i%5))
	}
	series := []market.Candle{{Close: 4}, {Close: 4}, {Close: 2}, {Close: 1}}
	require.Equal(t, 2, x.Skip(series))
	require.Equal(t, indicator.Up, x.Push(2))
}
