package chart_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/view/chart"
)

var update = flag.Bool("update", false, "write the pictures in testdata anew; look at each before committing it")

const (
	day   = 86400.0
	begin = 1704067200.0 // 2024-01-01
)

// walk is a random walk of n points, one a day.
func walk(seed uint64, n int) []chart.Point {
	rng := rand.New(rand.NewPCG(seed, 1))
	points := make([]chart.Point, n)
	value := 100.0
	for i := range points {
		value *= 1 + 0.02*rng.NormFloat64()
		points[i] = chart.Point{X: begin + float64(i)*day, Y: value}
	}
	return points
}

// walked are candles along a random walk, one an hour.
func walked(seed uint64, n int) []chart.Candle {
	rng := rand.New(rand.NewPCG(seed, 2))
	candles := make([]chart.Candle, n)
	price := 40000.0
	for i := range candles {
		from := price
		price *= 1 + 0.004*rng.NormFloat64()
		candles[i] = chart.Candle{
			From: begin + float64(i)*3600, To: begin + float64(i+1)*3600, Open: from, Close: price,
			High: max(from, price) * (1 + 0.002*rng.Float64()), Low: min(from, price) * (1 - 0.002*rng.Float64()),
		}
	}
	return candles
}

// fall is how far each point lies below the highest before, in percent.
func fall(points []chart.Point) []chart.Point {
	falls, peak := make([]chart.Point, len(points)), 0.0
	for i, p := range points {
		peak = max(peak, p.Y)
		falls[i] = chart.Point{X: p.X, Y: 100 * (p.Y/peak - 1)}
	}
	return falls
}

// pictures are one chart of each kind.
func pictures() map[string]chart.Chart {
	return map[string]chart.Chart{
		"equity": equityPicture(), "candles": candlePicture(), "months": monthPicture(), "fan": fanPicture(),
		"heatmap": heatPicture(false), "signed": heatPicture(true), "scatter": scatterPicture(),
		"histogram": histogramPicture(), "plots": plotsPicture(),
		"plateau": plateauPicture(), "parallel": parallelPicture(), "bridge": bridgePicture(),
	}
}

// plotsPicture is what a strategy plots: lines over candles, one with gaps, a mark, and a pane.
func plotsPicture() chart.Chart {
	candles := walked(4, 90)
	var mean, stop, wave []chart.Point
	sum := 0.0
	for i, c := range candles {
		sum += (c.Close - sum) / float64(min(i+1, 12))
		mean = append(mean, chart.Point{X: c.To, Y: sum})
		wave = append(wave, chart.Point{X: c.To, Y: 50 + 40*math.Sin(float64(i)/7)})
		stop = append(stop, chart.Point{X: c.To, Y: math.NaN()})
		if i%40 > 15 {
			stop[i].Y = 0.985 * sum
		}
	}
	return chart.Chart{Label: "plots over a price", Times: true, Panels: []chart.Panel{
		{Height: 300, Y: chart.Axis{Unit: "EUR"}, Layers: []chart.Layer{
			chart.Candles{Candles: candles},
			chart.Line{Name: "mean", Width: 1.2, Points: mean},
			chart.Line{Name: "stop", Role: chart.Second, Width: 1.2, Points: stop},
			chart.Marks{Name: "oversold", Role: chart.Ink, Shape: chart.Diamond,
				Points: []chart.Point{{X: candles[20].To, Y: candles[20].Close}}},
		}},
		{Height: 130, Y: chart.Axis{Unit: "RSI"}, Layers: []chart.Layer{chart.Line{Name: "RSI", Points: wave}}},
	}}
}

func equityPicture() chart.Chart {
	equity := walk(1, 120)
	for i := 40; i < 44; i++ {
		equity[i].Y = math.NaN()
	}
	return chart.Chart{Label: "equity & drawdown", Times: true, Panels: []chart.Panel{
		{Y: chart.Axis{Unit: "EUR"}, Layers: []chart.Layer{
			chart.Line{Name: "buy and hold", Role: chart.Quiet, Dashed: true, Points: walk(2, 120)},
			chart.Line{Name: "equity <b>", Points: equity},
		}},
		{Height: 110, Y: chart.Axis{Unit: "% below the peak"}, Layers: []chart.Layer{
			chart.Area{Role: chart.Down, Points: fall(walk(1, 120))},
		}},
	}}
}

func candlePicture() chart.Chart {
	candles := walked(3, 96)
	return chart.Chart{Label: "candles with entries and exits", Times: true, Panels: []chart.Panel{
		{Height: 320, Y: chart.Axis{Unit: "EUR"}, Layers: []chart.Layer{
			chart.Candles{Candles: candles},
			chart.Marks{Name: "entry", Shape: chart.Rising, Size: 10, Points: []chart.Point{
				{X: candles[10].From, Y: candles[10].Low}, {X: candles[60].From, Y: candles[60].Low}}},
			chart.Marks{Name: "exit", Role: chart.Second, Shape: chart.Falling, Size: 10, Points: []chart.Point{
				{X: candles[30].From, Y: candles[30].High}, {X: candles[80].From, Y: candles[80].High}}},
			chart.Marks{Name: "stop", Role: chart.Third, Shape: chart.Cross, Points: []chart.Point{
				{X: candles[45].From, Y: candles[45].Low}}},
			chart.Marks{Name: "limit", Role: chart.Ink, Shape: chart.Diamond, Points: []chart.Point{
				{X: candles[20].From, Y: candles[20].High}}},
		}},
	}}
}

func monthPicture() chart.Chart {
	bars := make([]chart.Bar, 24)
	for i := range bars {
		from := begin + float64(i)*30*day
		bars[i] = chart.Bar{From: from, To: from + 30*day, Value: 8 * math.Sin(float64(i)*1.7)}
	}
	return chart.Chart{Label: "profit by month", Times: true, Panels: []chart.Panel{
		{Y: chart.Axis{Unit: "%"}, Layers: []chart.Layer{chart.Bars{Bars: bars}}},
	}}
}

func histogramPicture() chart.Chart {
	bars := make([]chart.Bar, 31)
	for i := range bars {
		from := -0.03 + 0.002*float64(i)
		bars[i] = chart.Bar{From: from, To: from + 0.002, Value: math.Round(90 * math.Exp(-from*from/2e-4))}
	}
	return chart.Chart{Label: "daily returns", Width: 480, X: chart.Axis{Unit: "return"}, Panels: []chart.Panel{
		{Height: 160, Y: chart.Axis{Unit: "days"}, Layers: []chart.Layer{chart.Bars{Role: chart.Main, Bars: bars}}},
	}}
}

func fanPicture() chart.Chart {
	fan := chart.Fan{Name: "median and 5 to 95 %", Quantiles: make([][]float64, 5)}
	for i := range 100 {
		fan.X = append(fan.X, float64(i))
		for row := range fan.Quantiles {
			spread := 0.03 * float64(row-2) * math.Sqrt(float64(i))
			fan.Quantiles[row] = append(fan.Quantiles[row], 1e4*math.Exp(0.002*float64(i)+spread))
		}
	}
	return chart.Chart{Label: "fan of equity", X: chart.Axis{Unit: "days"}, Panels: []chart.Panel{
		{Y: chart.Axis{Unit: "EUR"}, Layers: []chart.Layer{fan}},
	}}
}

func heatPicture(signed bool) chart.Chart {
	h := chart.HeatMap{Signed: signed}
	for i := range 30 {
		h.Columns = append(h.Columns, fmt.Sprint(5*(i+1)))
	}
	for j := range 12 {
		h.Rows = append(h.Rows, fmt.Sprint(20*(j+1)))
		row := make([]float64, 30)
		for i := range row {
			row[i] = 2*math.Exp(-math.Pow(float64(i-18)/6, 2)-math.Pow(float64(j-7)/3, 2)) - 0.6
			if 5*(i+1) >= 20*(j+1) {
				row[i] = math.NaN()
			}
		}
		h.Values = append(h.Values, row)
	}
	return chart.Chart{Label: "Sharpe by fast and slow", X: chart.Axis{Unit: "fast"}, Panels: []chart.Panel{
		{Height: 300, Y: chart.Axis{Unit: "slow"}, Layers: []chart.Layer{
			h, chart.Marks{Role: chart.Ink, Shape: chart.Diamond, Points: []chart.Point{{X: 18, Y: 7}}},
		}},
	}}
}

// plateauPicture is a heat map with the cells of half its height outlined.
func plateauPicture() chart.Chart {
	c := heatPicture(true)
	h := c.Panels[0].Layers[0].(chart.HeatMap)
	inside := make([][]bool, len(h.Values))
	for i, row := range h.Values {
		inside[i] = make([]bool, len(row))
		for j, value := range row {
			inside[i][j] = value > 0.7
		}
	}
	c.Panels[0].Layers = append(c.Panels[0].Layers, chart.Outline{Name: "plateau", Inside: inside})
	return c
}

// parallelPicture is three parameters with a result, the best sets in colour.
func parallelPicture() chart.Chart {
	rng := rand.New(rand.NewPCG(6, 6))
	axes := []chart.Scale{{"fast", []string{"5", "20", "80"}}, {"slow", []string{"20", "500"}},
		{"path", []string{"adaptive", "ohlc"}}, {"Sharpe", []string{"-1.2", "0.3", "1.8"}}}
	var all, best [][]float64
	for range 120 {
		line := []float64{rng.Float64(), rng.Float64(), float64(rng.IntN(2)), 0}
		line[3] = math.Exp(-4*(line[0]-0.7)*(line[0]-0.7)) * (0.4 + 0.6*line[1])
		if all = append(all, line); line[3] > 0.85 {
			best = append(best, line)
		}
	}
	return chart.Chart{Label: "parameters and Sharpe", Panels: []chart.Panel{{Layers: []chart.Layer{
		chart.Parallel{Name: "all", Width: 0.6, Axes: axes, Lines: all},
		chart.Parallel{Name: "the best", Role: chart.Main, Axes: axes, Lines: best}}}}}
}

// bridgePicture goes from a backtest to live, with a range of each term.
func bridgePicture() chart.Chart {
	return chart.Chart{Label: "from backtest to live", X: chart.Axis{Unit: "EUR"}, Panels: []chart.Panel{
		{Height: 200, Layers: []chart.Layer{chart.Bridge{Steps: []chart.Step{
			{Name: "backtest", Label: "120.00", From: 120, To: 120},
			{Name: "data", Label: "-22.50", From: 120, To: 97.5, Low: 95, High: 101},
			{Name: "people", Label: "+4.00", From: 97.5, To: 101.5},
			{Name: "orders <b>", Label: "-41.50", From: 101.5, To: 60, Low: 48, High: 72},
			{Name: "live", Label: "60.00", From: 60, To: 60}}}}},
	}}
}

func scatterPicture() chart.Chart {
	rng := rand.New(rand.NewPCG(5, 5))
	points := make([]chart.Point, 200)
	for i := range points {
		x := rng.NormFloat64()
		points[i] = chart.Point{X: x, Y: 0.3*x + 0.5*rng.NormFloat64()}
	}
	return chart.Chart{Label: "in sample against out of sample", Width: 480, X: chart.Axis{Unit: "Sharpe in sample"},
		Panels: []chart.Panel{{Height: 320, Y: chart.Axis{Unit: "Sharpe out of sample"},
			Layers: []chart.Layer{chart.Marks{Size: 5, Points: points}}}}}
}

func TestPicturesAreThoseInTestdata(t *testing.T) {
	for name, c := range pictures() {
		t.Run(name, func(t *testing.T) {
			svg, err := c.SVG()
			require.NoError(t, err)
			file := filepath.Join("testdata", name+".svg")
			if *update {
				require.NoError(t, os.WriteFile(file, svg, 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), string(svg),
				"the picture has changed: go test ./chart -update, and look at it")
		})
	}
}
