package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// Each day with a change is in one class, whose borders enclose its return, but for the outermost.
func TestEachDayIsInOneClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var days []Day
		still := 0
		for _, permille := range rapid.SliceOfN(rapid.IntRange(-400, 400), 0, 60).Draw(t, "returns") {
			days = append(days, Day{Return: float64(permille) / 1000})
			if permille == 0 {
				still++
			}
		}
		bars, none := distribution(days)
		require.Equal(t, still, none)
		if len(bars) == 0 {
			return
		}
		all := 0.0
		for i, b := range bars {
			all += b.Value
			count := 0.0
			for _, d := range days {
				if x := 100 * d.Return; d.Return != 0 && (x >= b.From+1e-9 && x < b.To-1e-9) {
					count++
				}
			}
			require.GreaterOrEqual(t, b.Value, count, "class %d", i)
			if i > 0 {
				require.InDelta(t, bars[i-1].To, b.From, 1e-9)
			}
		}
		require.EqualValues(t, len(days)-still, all)
	})
}

// Of alternating returns of 1 % and -1 % over an even window the mean is zero.
func TestRollingFiguresAreThoseOfTheirWindow(t *testing.T) {
	var days []Day
	for i := range 40 {
		days = append(days, Day{End: market.Time(i) * market.Interval1d.End(0), Return: 0.01 - 0.02*float64(i%2)})
	}
	sharpe, volatility := rolling(days, 30)
	require.Len(t, sharpe, 11)
	require.InDelta(t, 0, sharpe[3].Y, 1e-9)
	require.InDelta(t, 100*0.01*math.Sqrt(30.0/29)*math.Sqrt(365), volatility[3].Y, 1e-9)
	require.Equal(t, 29*86400.0, sharpe[0].X)
}

// The sums of each table are those of the trips.
func TestSumsAreThoseOfTheTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trips := NewTrips(Names{Markets: []string{"A", "B"}, Strategies: []string{"s", "t"}, PriceDigits: []uint8{2, 2},
			AmountDigits: []uint8{8, 8}, MoneyDigits: 2})
		n, profit, won := rapid.IntRange(0, 100).Draw(t, "trips"), 0.0, 0
		for range n {
			one := Trip{Market: rapid.IntRange(0, 1).Draw(t, "market"),
				Strategy: rapid.IntRange(0, 1).Draw(t, "strategy"),
				Reason:   rapid.StringN(0, 1, 1).Draw(t, "reason"),
				Entered:  market.Time(rapid.Int64Range(-1e17, 1e18).Draw(t, "entered")),
				Profit:   float64(rapid.IntRange(-100, 100).Draw(t, "profit"))}
			one.Exited = one.Entered + market.Time(rapid.Int64Range(0, 1e16).Draw(t, "held"))
			trips.Add(one)
			if profit += one.Profit; one.Profit > 0 {
				won++
			}
		}
		for kind := range kinds {
			count, sum, gains := 0, 0.0, 0
			for _, s := range trips.sums[kind] {
				count, sum, gains = count+s.Count, sum+s.Profit, gains+s.Won
			}
			require.Equal(t, []any{n, profit, won}, []any{count, sum, gains}, "by %s", titles[kind])
		}
		require.LessOrEqual(t, len(trips.reasons), maxReasons+1)
	})
}
