package chart_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/chart"
)

// wide is 2,000 candles, each wide enough to be drawn by itself.
func wide() chart.Chart {
	return chart.Chart{Width: 8000, Times: true, Panels: []chart.Panel{
		{Height: 400, Layers: []chart.Layer{chart.Candles{Candles: walked(3, 2000)}}},
	}}
}

// BenchmarkCandles draws 2,000 candles as SVG. Its floor writes four numbers a candle with one
// decimal.
func BenchmarkCandles(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		candles := walked(3, 2000)
		out := make([]byte, 0, 1<<16)
		for b.Loop() {
			out = out[:0]
			for i := range candles {
				c := &candles[i]
				for _, price := range [...]float64{c.Open, c.High, c.Low, c.Close} {
					out = strconv.AppendFloat(append(out, ' '), price, 'f', 1, 64)
				}
			}
		}
		b.ReportMetric(float64(len(out)), "B")
	})
	b.Run("svg", func(b *testing.B) {
		c := wide()
		size := 0
		for b.Loop() {
			svg, err := c.Element()
			require.NoError(b, err)
			size = len(svg)
		}
		b.ReportMetric(float64(size), "B")
	})
	b.Run("merged", func(b *testing.B) { // to the 900 columns of a page
		c := wide()
		c.Width = 0
		size := 0
		for b.Loop() {
			svg, err := c.Element()
			require.NoError(b, err)
			size = len(svg)
		}
		b.ReportMetric(float64(size), "B")
	})
	b.Run("png", func(b *testing.B) {
		c := wide()
		c.Width = 0
		for b.Loop() {
			_, err := c.PNG(chart.Light)
			require.NoError(b, err)
		}
	})
}

// BenchmarkEquity draws a line of a million points.
func BenchmarkEquity(b *testing.B) {
	points := make([]chart.Point, 1_000_000)
	for i := range points {
		points[i] = chart.Point{X: float64(i), Y: math.Sin(float64(i) / 1e5)}
	}
	c := chart.Chart{Panels: []chart.Panel{{Layers: []chart.Layer{chart.Line{Points: points}}}}}
	for b.Loop() {
		_, err := c.Element()
		require.NoError(b, err)
	}
}
