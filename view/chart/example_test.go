package chart_test

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/view/chart"
)

// Equity over drawdown: two panels share the axis of time. The page carries chart.Style() once.
func ExampleChart() {
	equity := []chart.Point{}
	drawdown := []chart.Point{}
	for i, value := range []float64{10000, 10400, 10200, 10900, 10500} {
		at := float64(time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Unix())
		equity = append(equity, chart.Point{X: at, Y: value})
		drawdown = append(drawdown, chart.Point{X: at, Y: []float64{0, 0, -1.9, 0, -3.7}[i]})
	}
	c := chart.Chart{
		Label: "equity and drawdown", Times: true, Width: 480,
		Panels: []chart.Panel{
			{Y: chart.Axis{Unit: "EUR"}, Layers: []chart.Layer{chart.Line{Points: equity}}},
			{Height: 80, Y: chart.Axis{Unit: "%"}, Layers: []chart.Layer{
				chart.Area{Role: chart.Down, Points: drawdown},
			}},
		},
	}
	element, err := c.Element()
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(element)) {
		if strings.HasPrefix(line, "<path") && strings.Contains(line, "line") && !strings.Contains(line, "grid") {
			class, path, _ := strings.Cut(strings.TrimSpace(line), " stroke-width=")
			fmt.Printf("%s …%s\n", class, path[strings.Index(path, " d="):])
		}
	}
	// Output:
	// <path class="main line" … d="m45 231.9 105.3-89.7 105.2 44.9 105.3-157 105.2 89.7"/>
	// <path class="down line" … d="m45 268h105.3l105.2 28.6 105.3-28.6 105.2 55.8"/>
}

// A PNG has two pixels per CSS pixel and the colours of a theme.
func ExampleTheme() {
	c := chart.Chart{Width: 320, Panels: []chart.Panel{
		{Height: 100, Layers: []chart.Layer{chart.Line{Points: []chart.Point{{X: 0, Y: 1}, {X: 1, Y: 2}}}}},
	}}
	picture, err := c.PNG(chart.Dark)
	if err != nil {
		fmt.Println(err)
		return
	}
	config, err := png.DecodeConfig(bytes.NewReader(picture))
	fmt.Println(config.Width, config.Height, err)
	// Output: 640 248 <nil>
}

// A point without a Y breaks the line in two.
func ExampleLine() {
	show("main line", chart.Line{Points: []chart.Point{
		{X: 0, Y: 1}, {X: 1, Y: 2}, {X: 2, Y: math.NaN()}, {X: 3, Y: 2}, {X: 4, Y: 1},
	}})
	// Output: m19 58.6 51.8-35.2m103.5 0 51.7 35.2
}

// An area lies between its points and its base.
func ExampleArea() {
	show("down", chart.Area{Role: chart.Down, Points: []chart.Point{{X: 0, Y: 0}, {X: 1, Y: -5}, {X: 2, Y: -2}}})
	// Output: m25 22 100.5 36.5 100.5-21.9v-14.6z
}

// The outer quantiles are the outer band, the row in the middle is the line.
func ExampleFan() {
	show("main", chart.Fan{X: []float64{0, 1}, Quantiles: [][]float64{{9, 7}, {10, 10}, {11, 14}}})
	// Output: m25 48.5 201 10.1v-35.2l-201 15.1z
}

// All candles of a colour are one element: each is a wick and a body.
func ExampleCandles() {
	show("up", chart.Candles{Candles: []chart.Candle{
		{From: 0, To: 60, Open: 10, High: 12, Low: 9, Close: 11},
		{From: 60, To: 120, Open: 11, High: 11, Low: 8, Close: 9},
	}})
	// Output: m74.8 49.8h1v-26.4h-1zm-35.7-8.8h72.3v-8.8h-72.3z
}

// Marks may have any order; with the usual shape, the dot, they are a scatter plot.
func ExampleMarks() {
	show("up", chart.Marks{Role: chart.Up, Shape: chart.Rising, Points: []chart.Point{{X: 5, Y: 1}, {X: 0, Y: 2}}})
	// Output: m222.5 61.4h7l-3.5-6.3zm-207-35.2h7l-3.5-6.3z
}

// Without a Role, bars are coloured by their sign.
func ExampleBars() {
	months := chart.Bars{Bars: []chart.Bar{{From: 0, To: 1, Value: 3}, {From: 1, To: 2, Value: -2}}}
	show("up", months)
	show("down", months)
	// Output:
	// m35.1 44.5h80.4v-21.1h-80.4z
	// m135.6 58.6h80.4v-14.1h-80.4z
}

// A cell without a number stays empty. Equal neighbours are one rectangle.
func ExampleHeatMap() {
	c := chart.Chart{X: chart.Axis{Unit: "fast"}, Panels: []chart.Panel{{
		Y: chart.Axis{Unit: "slow"},
		Layers: []chart.Layer{chart.HeatMap{
			Columns: []string{"5", "10", "15"}, Rows: []string{"20", "40"},
			Values: [][]float64{{0.1, 0.4, math.NaN()}, {0.9, 1.5, 1.5}},
		}},
	}}}
	element, err := c.Element()
	fmt.Println(strings.Count(string(element), "crispEdges"), err) // four shades, and sixteen of the scale
	// Output: 20 <nil>
}

// show draws a layer in a small chart and prints the paths of a class.
func show(class string, layer chart.Layer) {
	c := chart.Chart{Width: 240, Panels: []chart.Panel{{Height: 60, Layers: []chart.Layer{layer}}}}
	element, err := c.Element()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, rest, _ := strings.Cut(string(element), `<path class="`+class+`"`)
	_, rest, _ = strings.Cut(rest, ` d="`)
	path, _, _ := strings.Cut(rest, `"`)
	fmt.Println(path)
}
