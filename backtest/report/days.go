package report

import (
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view/chart"
)

// A Day is a UTC day with its return.
type Day struct {
	End    market.Time
	Return float64
}

// windowOf is the number of days of the rolling figures, 0 where there are too few days.
func windowOf(days int) int {
	switch {
	case days >= 180:
		return 90
	case days >= 60:
		return 30
	}
	return 0
}

// rolling are Sharpe ratio and volatility in per cent, both a year, over the last n days at each
// day.
func rolling(days []Day, n int) (sharpe, volatility []chart.Point) {
	for i := n; i <= len(days); i++ {
		mean, sum := 0.0, 0.0
		for _, d := range days[i-n : i] {
			mean += d.Return / float64(n)
		}
		for _, d := range days[i-n : i] {
			sum += float64((d.Return - mean) * (d.Return - mean))
		}
		deviation, at := math.Sqrt(sum/float64(n-1)), seconds(days[i-1].End)
		ratio := math.NaN()
		if deviation > 0 {
			ratio = mean / deviation * math.Sqrt(365)
		}
		sharpe = append(sharpe, chart.Point{X: at, Y: ratio})
		volatility = append(volatility, chart.Point{X: at, Y: 100 * deviation * math.Sqrt(365)})
	}
	return sharpe, volatility
}

// classes is the most bars that a distribution has on each side of zero.
const classes = 20

// distribution counts the days by their return in per cent, without those of no change. The classes
// are equally wide, a round number; the outermost ones have all that lies beyond.
func distribution(all []Day) (bars []chart.Bar, still int) {
	days := slices.DeleteFunc(slices.Clone(all), func(d Day) bool { return d.Return == 0 })
	still = len(all) - len(days)
	mean, square := 0.0, 0.0
	for _, d := range days {
		mean += d.Return / float64(len(days))
		square += d.Return * d.Return / float64(len(days))
	}
	deviation := 100 * math.Sqrt(max(square-mean*mean, 0))
	if len(days) == 0 || deviation == 0 || math.IsInf(deviation, 0) || math.IsNaN(deviation) {
		return nil, still
	}
	width := roundUp(deviation / 5)
	counts := make([]float64, 2*classes)
	for _, d := range days {
		place := int(math.Floor(min(max(100*d.Return/width, -classes), classes-1)))
		counts[place+classes]++
	}
	first, last := 0, len(counts)-1
	for counts[first] == 0 {
		first++
	}
	for counts[last] == 0 {
		last--
	}
	for i := first; i <= last; i++ {
		from := float64(i-classes) * width
		bars = append(bars, chart.Bar{From: from, To: from + width, Value: counts[i]})
	}
	return bars, still
}

// roundUp is the next number of 1, 2 or 5 times a power of ten.
func roundUp(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, k := range [...]float64{1, 2, 5} {
		if k*power >= x {
			return k * power
		}
	}
	return 10 * power
}
