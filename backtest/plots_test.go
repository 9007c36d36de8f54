package backtest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// plottedValue is a value as a strategy plots it.
type plottedValue struct {
	at    market.Time
	value float64
}

// naiveLine keeps everything: the last of several values at one instant, and each break between two
// values.
func naiveLine(plotted []plottedValue) (points []linePoint) {
	broken := false
	for _, p := range plotted {
		last := len(points) - 1
		switch {
		case !(math.Abs(p.value) <= 1e100):
			broken = last >= 0
			continue
		case last >= 0 && points[last].at == p.at:
			points[last].value = p.value
		case broken:
			points = append(points, linePoint{points[last].at + 1, math.NaN()}, linePoint{p.at, p.value})
		default:
			points = append(points, linePoint{p.at, p.value})
		}
		broken = false
	}
	return points
}

func drawPlotted(t *rapid.T, least, most int) (plotted []plottedValue) {
	at := market.Time(rapid.Int64Range(0, 1e18).Draw(t, "from"))
	seed := rapid.Uint64().Draw(t, "seed")
	for range rapid.IntRange(least, most).Draw(t, "n") {
		seed = seed*6364136223846793005 + 1442695040888963407
		value := float64(int64(seed>>20)) / 1e6 * math.Pow(-1, float64(seed>>60))
		switch seed >> 57 % 16 {
		case 0:
			value = math.NaN()
		case 1:
			value = math.Inf(-1)
		case 2:
			value = 0
		}
		plotted = append(plotted, plottedValue{at, value})
		if seed>>50%8 > 0 {
			at += market.Time(1 + seed>>40%100)
		}
	}
	return plotted
}

// samePoints compares lines; NaN equals NaN.
func samePoints(t require.TestingT, want, have []linePoint) {
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(have))
}

func TestAShortLineIsKeptWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plotted, l := drawPlotted(t, 0, 300), newLine(lineKey{})
		for _, p := range plotted {
			l.add(p.at, p.value)
		}
		want := naiveLine(plotted)
		samePoints(t, want, l.points())
		samePoints(t, want, l.points())
	})
}

// A long line has few points, each of them plotted; its extremes and its ends are there, and each
// gap that is at least a bucket long.
func TestALongLineIsThinned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plotted, l := drawPlotted(t, rapid.SampledFrom([]int{0, 6000, 30_000}).Draw(t, "least"),
			40_000), newLine(lineKey{})
		for _, p := range plotted {
			l.add(p.at, p.value)
		}
		whole, points := naiveLine(plotted), l.points()
		values := slices.DeleteFunc(slices.Clone(whole), func(p linePoint) bool { return math.IsNaN(p.value) })
		kept := slices.DeleteFunc(slices.Clone(points), func(p linePoint) bool { return math.IsNaN(p.value) })
		require.LessOrEqual(t, len(kept), maxPoints)
		require.LessOrEqual(t, len(l.gaps), maxPoints)
		require.True(t, slices.IsSortedFunc(points, func(a, b linePoint) int { return int(a.at - b.at) }))
		if len(values) == 0 {
			require.Empty(t, points)
			return
		}
		there := make(map[market.Time]float64)
		for _, p := range values {
			there[p.at] = p.value
		}
		for _, p := range kept {
			require.Equal(t, there[p.at], p.value)
		}
		byValue := func(a, b linePoint) int { return int(math.Copysign(1, a.value-b.value)) }
		require.Equal(t, slices.MinFunc(values, byValue).value, slices.MinFunc(kept, byValue).value)
		require.Equal(t, slices.MaxFunc(values, byValue).value, slices.MaxFunc(kept, byValue).value)
		require.Equal(t, values[len(values)-1], kept[len(kept)-1])
		var want, have []market.Time
		for i, p := range whole {
			if math.IsNaN(p.value) && whole[i+1].at-whole[i-1].at >= l.curve.width {
				want = append(want, p.at)
			}
		}
		for _, p := range points {
			if math.IsNaN(p.value) {
				have = append(have, p.at)
			}
		}
		require.Equal(t, want, have)
	})
}

func TestNumbersKeepTheirOrderAsIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		require.Equal(t, a, unordered(ordered(a)))
		require.True(t, a == b || a < b == (ordered(a) < ordered(b)), "%v, %v", a, b)
	})
}

// plotCatalog has two markets with two decimals.
func plotCatalog(t *testing.T) *market.Catalog {
	c := &market.Catalog{}
	for _, symbol := range []string{"BTC", "ETH", "EUR"} {
		_, err := c.AddAsset(symbol, 2)
		require.NoError(t, err)
	}
	for _, name := range []string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, c.AddMarket(&market.Market{Name: name, PriceDigits: 2}))
	}
	return c
}

func TestTooManyLinesAndMarksAreBounded(t *testing.T) {
	p := newPlots(plotCatalog(t))
	for i := range 3 * maxMarks {
		at := market.Time(i)
		p.add(at, 1, strategy.Plotted{Market: 1, Name: fmt.Sprint(i), Value: 1}, 100)
		p.add(at, 1, strategy.Plotted{Market: 1, Name: "nothing", Value: math.NaN()}, 100)
		p.add(at, 1, strategy.Plotted{Market: 1, Name: strings.Repeat("ä", 100), Mark: true}, 100)
	}
	require.Len(t, p.lines, maxLines)
	require.Len(t, p.marks, 3*maxMarks/4)
	for i := range p.marks {
		require.EqualValues(t, 4*i, p.marks[i].at)
		require.Equal(t, strings.Repeat("ä", maxMarkText/2)+"…", p.marks[i].name)
	}
	require.Equal(t, []string{"The first 32 plotted lines are kept; 32 or more others are not. The name of a " +
		"line is a constant.", "One mark in 4 is kept."}, p.warnings())
}

func TestLinesStandInPanesByMarket(t *testing.T) {
	p := newPlots(plotCatalog(t))
	p.add(1, 1, strategy.Plotted{Market: 1, Name: "mean", Value: 12345}, 12340)
	p.add(1, 1, strategy.Plotted{Market: 2, Name: "RSI", Pane: "RSI", Value: 55}, 999)
	p.add(1, 2, strategy.Plotted{Market: 2, Name: "mean", Value: 1000}, 999)
	p.add(2, 2, strategy.Plotted{Market: 1, Name: "sold, all", Mark: true}, 12350)
	require.Equal(t, "mean (strategy 2)", p.label(&p.lines[2].key))
	var run report.Run
	p.fill(&run)
	require.Len(t, run.Lines, 3)
	require.Equal(t, report.Line{Market: 1, Pane: "RSI", Name: "RSI (strategy 1)",
		Points: []report.Value{{At: 1, Y: 55}}}, run.Lines[1])
	require.Equal(t, []report.Mark{{Market: 0, At: 2, Price: 123.5, Text: "sold, all"}}, run.Marks)
	out := &table{}
	p.write(out)
	require.Equal(t, plotsHeader+"0,BTC-EUR,1,line,,mean,123.45\n0,ETH-EUR,1,line,RSI,RSI,55\n"+
		"0,ETH-EUR,2,line,,mean,10\n0,BTC-EUR,2,mark,,\"sold, all\",123.5\n", string(out.buf))
}
