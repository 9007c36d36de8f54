package chart

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestThinKeepsTheExtremesOfEveryColumn holds thin to a naive twin: all points, asked column by
// column.
func TestThinKeepsTheExtremesOfEveryColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 12).Draw(t, "columns")
		points := drawPoints(t)
		left, right := points[0].X, points[len(points)-1].X+1
		if rapid.Bool().Draw(t, "zoomed") {
			left, right = left+(right-left)/4, right-(right-left)/4
		}
		thinned := thin(points, left, right, columns)
		require.LessOrEqual(t, len(thinned), max(2*columns, 4*(columns+2)))
		for i := range columns {
			wantLow, wantHigh := extremes(points, left, right, columns, i)
			low, high := extremes(thinned, left, right, columns, i)
			require.Equal(t, wantLow, low, "column %d", i)
			require.Equal(t, wantHigh, high, "column %d", i)
		}
		for i := 1; i < len(thinned); i++ {
			require.GreaterOrEqual(t, thinned[i].X, thinned[i-1].X)
		}
	})
}

func drawPoints(t *rapid.T) []Point {
	n := rapid.IntRange(1, 200).Draw(t, "points")
	points := make([]Point, n)
	x := 0.0
	for i := range points {
		x += rapid.SampledFrom([]float64{0, 0.1, 1, 7}).Draw(t, "step")
		y := rapid.Float64Range(-5, 5).Draw(t, "y")
		if rapid.IntRange(0, 9).Draw(t, "gap") == 0 {
			y = math.NaN()
		}
		points[i] = Point{x, y}
	}
	return points
}

// extremes are the lowest and the highest Y of a column; a gap has none.
func extremes(points []Point, left, right float64, columns, place int) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range points {
		at := math.Floor((p.X - left) / (right - left) * float64(columns))
		if p.X == right {
			at-- // the last column has both its ends
		}
		if at == float64(place) && !math.IsNaN(p.Y) {
			low, high = min(low, p.Y), max(high, p.Y)
		}
	}
	return low, high
}

func TestCandlesOfOneColumnAreOneCandle(t *testing.T) {
	f := frame{shown: box{left: 0, right: 60}}
	f.area.Max.X = 6
	var candles []Candle
	for i := range 60 {
		from := float64(i)
		candles = append(candles, Candle{From: from, To: from + 1, Open: from, High: 100 + from, Low: -from, Close: -1})
	}
	candles[15].High, candles[25].Low = 500, -500
	got := merged(candles, &f)
	require.Len(t, got, 6)
	require.Equal(t, Candle{From: 0, To: 10, Open: 0, High: 109, Low: -9, Close: -1}, got[0])
	require.Equal(t, Candle{From: 10, To: 20, Open: 10, High: 500, Low: -19, Close: -1}, got[1])
	require.Equal(t, Candle{From: 20, To: 30, Open: 20, High: 129, Low: -500, Close: -1}, got[2])
}

// TestThinKeepsGapsOfAColumnOrMore: a gap that is wide enough to be seen stays.
func TestThinKeepsGapsOfAColumnOrMore(t *testing.T) {
	var points []Point
	for i := range 1000 {
		y := 1.0
		if i >= 400 && i < 600 {
			y = math.NaN()
		}
		points = append(points, Point{float64(i), y})
	}
	thinned := thin(points, 0, 999, 10)
	require.Less(t, len(thinned), 50)
	require.Len(t, runs(thinned, func(Point) bool { return true }), 2)
}

func TestTicksAreRoundAndFew(t *testing.T) {
	labels := func(ticks []tick) (all []string) {
		for _, one := range ticks {
			all = append(all, one.label)
		}
		return all
	}
	for _, c := range []struct {
		low, high float64
		n         int
		want      []string
	}{
		{0, 10, 5, []string{"0", "2", "4", "6", "8", "10"}},
		{-1, 1, 4, []string{"-1.0", "-0.5", "0", "0.5", "1.0"}},
		{9999, 10001, 4, []string{"9999.0", "9999.5", "10000.0", "10000.5", "10001.0"}},
		{8000, 31000, 5, []string{"10 k", "15 k", "20 k", "25 k", "30 k"}},
		{28, 72, 2, []string{"40", "60"}}, // two would leave 50 alone
		{1e6, 3e6, 2, []string{"1 M", "2 M", "3 M"}},
		{1.1e-7, 1.3e-7, 2, []string{"0.00000011", "0.00000012", "0.00000013"}},
		{1e-12, 3e-12, 2, []string{"0.000000000001", "0.000000000002", "0.000000000003"}},
		{1e-15, 3e-15, 2, []string{"1e-15", "2e-15", "3e-15"}},
		{1e20, 3e20, 2, []string{"1e+20", "2e+20", "3e+20"}},
	} {
		require.Equal(t, c.want, labels(numberTicks(c.low, c.high, c.n)))
	}
	for _, c := range []struct {
		low, high float64
		n         int
		want      []string
	}{
		{0.8, 9, 6, []string{"1", "1.5", "2", "3", "5", "7"}},
		{0.09, 120, 7, []string{"0.1", "0.3", "1", "3", "10", "30", "100"}},
		{1e-3, 1e6, 4, []string{"0.01", "1", "100", "10 k", "1 M"}},
		{0.9, 1.3, 4, []string{"0.9", "1.0", "1.1", "1.2", "1.3"}}, // less than a doubling
	} {
		require.Equal(t, c.want, labels(ratioTicks(c.low, c.high, c.n)))
	}
	at := func(year, month, date, hour int) float64 {
		return float64(time.Date(year, time.Month(month), date, hour, 0, 0, 0, time.UTC).Unix())
	}
	for _, c := range []struct {
		low, high float64
		n         int
		want      []string
	}{
		{at(2024, 1, 1, 0), at(2024, 1, 1, 0) + 60, 4,
			[]string{"1 Jan 2024", "00:00:15", "00:00:30", "00:00:45", "00:01:00"}},
		{at(2024, 1, 1, 22), at(2024, 1, 2, 2), 4, []string{"22:00", "23:00", "2 Jan 2024", "01:00", "02:00"}},
		{at(2024, 2, 27, 0), at(2024, 3, 2, 0), 4, []string{"27 Feb 2024", "28 Feb", "29 Feb", "1 Mar", "2 Mar"}},
		{at(2024, 2, 1, 0), at(2024, 3, 1, 0), 4, []string{"5 Feb 2024", "19 Feb"}},
		{at(2023, 12, 2, 0), at(2024, 12, 2, 0), 4, []string{"Jan 2024", "Apr 2024", "Jul 2024", "Oct 2024"}},
		{at(1999, 5, 1, 0), at(2024, 5, 1, 0), 3, []string{"2000", "2010", "2020"}},
		{year1, year9999, 4, []string{"5000"}},
	} {
		require.Equal(t, c.want, labels(timeTicks(c.low, c.high, c.n, time.UTC)))
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	// the clocks leave out 2 to 3 o'clock in March, and have it twice in October
	spring := timeTicks(at(2024, 3, 30, 22), at(2024, 3, 31, 3), 5, berlin)
	require.Equal(t, []string{"23:00", "31 Mar 2024", "01:00", "03:00", "04:00", "05:00"}, labels(spring))
	require.Equal(t, at(2024, 3, 31, 1), spring[3].value)
	autumn := timeTicks(at(2024, 10, 26, 22), at(2024, 10, 27, 3), 5, berlin)
	require.Equal(t, []string{"27 Oct 2024", "01:00", "02:00", "03:00", "04:00"}, labels(autumn))
	require.Equal(t, at(2024, 10, 27, 2), autumn[3].value)
	require.Equal(t, at(2024, 1, 31, 23), timeTicks(at(2024, 1, 1, 0), at(2024, 12, 2, 0), 12, berlin)[0].value)
}
