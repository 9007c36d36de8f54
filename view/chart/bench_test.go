package chart_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/view/chart"
)

// wide is 2,000 candles, each wide enough to be drawn by itself.
func wide() chart.Chart {
	return chart.Chart{Width: 8000, Times: true, Panels: []chart.Panel{
		{Height: 400, Layers: []chart.Layer{chart.Candles{Candles: walked(3, 2000)}}},
	}}
}

// BenchmarkCandlesAgainst draws 2,000 candles as SVG, and in turn its floor: the twelve numbers
// that a wick and a body need, written for each candle with one decimal.
func BenchmarkCandlesAgainst(b *testing.B) {
	c, candles := wide(), walked(3, 2000)
	var floor, ours time.Duration
	var svg []byte
	out := make([]byte, 0, 1<<18)
	for b.Loop() {
		began := time.Now()
		out = out[:0]
		for i := range 3 * len(candles) {
			one := &candles[i%len(candles)]
			for _, price := range [...]float64{one.Open, one.High, one.Low, one.Close} {
				out = strconv.AppendFloat(append(out, ' '), price, 'f', 1, 64)
			}
		}
		between := time.Now()
		var err error
		svg, err = c.Element()
		require.NoError(b, err)
		floor, ours = floor+between.Sub(began), ours+time.Since(between)
	}
	b.ReportMetric(float64(floor.Nanoseconds())/float64(b.N), "ns/floor")
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N), "ns/what")
	b.ReportMetric(float64(len(svg)), "B")
}

// BenchmarkPicture draws the same candles in the 900 columns of a page, and a line of a million
// points.
func BenchmarkPicture(b *testing.B) {
	merged := wide()
	merged.Width = 0
	points := make([]chart.Point, 1_000_000)
	for i := range points {
		points[i] = chart.Point{X: float64(i), Y: math.Sin(float64(i) / 1e5)}
	}
	line := chart.Chart{Panels: []chart.Panel{{Layers: []chart.Layer{chart.Line{Points: points}}}}}
	for _, row := range []struct {
		name string
		draw func() ([]byte, error)
	}{
		{"candles/svg", merged.Element},
		{"candles/png", func() ([]byte, error) { return merged.PNG(chart.Light) }},
		{"line/svg", line.Element},
	} {
		b.Run(row.name, func(b *testing.B) {
			var picture []byte
			for b.Loop() {
				var err error
				picture, err = row.draw()
				require.NoError(b, err)
			}
			b.ReportMetric(float64(len(picture)), "B")
		})
	}
}
