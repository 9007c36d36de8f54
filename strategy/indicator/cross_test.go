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

func TestQuietTakesInWhatMakesNoCross(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fast := rapid.IntRange(1, 4).Draw(t, "fast")
		slow := rapid.IntRange(fast+1, 9).Draw(t, "slow")
		closes := rapid.SliceOfN(rapid.Int64Range(1, 4), 0, 100).Draw(t, "closes")
		quiet, pushing := indicator.NewCross(fast, slow), indicator.NewCross(fast, slow)
		for at, c := range closes {
			close := market.Price(c)
			ready := pushing.Ready()
			want := pushing.Push(close)
			require.Equal(t, ready && want == 0, quiet.Quiet(close), "close %d", at)
			if !ready || want != 0 {
				require.Equal(t, want, quiet.Push(close), "close %d was not left as it was", at)
			}
			require.Equal(t, pushing, quiet, "close %d", at)
		}
	})
}

func TestARowOfQuietClosesIsOneAfterAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fast := rapid.IntRange(1, 9).Draw(t, "fast")
		slow := rapid.IntRange(fast+1, 20).Draw(t, "slow")
		low, high := market.Price(0), market.Price(rapid.Int64Range(4, 7).Draw(t, "high"))
		if rapid.Bool().Draw(t, "any price") {
			low, high = math.MinInt64, math.MaxInt64
		}
		row, one := indicator.NewCross(fast, slow), indicator.NewCross(fast, slow)
		for i := range rapid.IntRange(0, 300).Draw(t, "before") { // the ring may wrap
			require.Equal(t, row.Push(market.Price(1+i%5)), one.Push(market.Price(1+i%5)))
		}
		series := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) market.Candle {
			close := market.Price(rapid.SampledFrom([]int64{1, 2, 2, 3, 4, math.MaxInt64 / 2}).Draw(t, "close"))
			return market.Candle{Low: close - market.Price(rapid.IntRange(0, 1).Draw(t, "below")), Close: close,
				High: min(close, 5) + market.Price(rapid.IntRange(0, 1).Draw(t, "above"))}
		}), 0, 100).Draw(t, "series")
		for len(series) > 0 {
			n := row.QuietRow(series[:rapid.IntRange(0, len(series)).Draw(t, "block")], low, high)
			for i, c := range series[:n] {
				require.True(t, c.Low > low && c.High < high, "candle %d", i)
				require.True(t, one.Quiet(c.Close), "candle %d", i)
			}
			require.Equal(t, one, row)
			if series = series[n:]; len(series) > 0 && row.QuietRow(series[:1], low, high) == 0 {
				c := series[0]
				require.False(t, c.Low > low && c.High < high && one.Quiet(c.Close), "a row ended too early")
				if series = series[1:]; c.Close < 9 {
					require.Equal(t, one.Push(c.Close), row.Push(c.Close))
				}
			} else if len(series) > 0 {
				require.True(t, one.Quiet(series[0].Close))
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
	require.True(t, x.Quiet(7))
	require.False(t, x.Quiet(math.MaxInt64/2+1))
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
	require.Equal(t, 2, x.QuietRow(series, math.MinInt64, math.MaxInt64))
	require.Equal(t, indicator.Up, x.Push(2))
}
