package chart_test

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/view/chart"
)

// one is a chart with one layer.
func one(layers ...chart.Layer) chart.Chart {
	return chart.Chart{Width: 240, Panels: []chart.Panel{{Height: 60, Layers: layers}}}
}

// logarithmic is a chart of ratios with a value.
func logarithmic(y float64) chart.Chart {
	c := one(chart.Line{Points: points(1, y, 100)})
	c.Panels[0].Y.Log = true
	return c
}

func points(ys ...float64) []chart.Point {
	out := make([]chart.Point, len(ys))
	for i, y := range ys {
		out[i] = chart.Point{X: float64(i), Y: y}
	}
	return out
}

func element(t testing.TB, c chart.Chart) string {
	svg, err := c.Element()
	require.NoError(t, err)
	return string(svg)
}

func TestBadInputIsAnErrorThatNamesThePlace(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	line := chart.Line{Points: points(1, 2)}
	cell := [][]float64{{1}}
	heat := chart.HeatMap{Columns: []string{"a"}, Rows: []string{"b"}, Values: cell}
	for _, row := range []struct {
		c    chart.Chart
		want string
	}{
		{chart.Chart{}, "Panels is empty"},
		{one(), "Panels[0].Layers is empty"},
		{one(nil), "Panels[0].Layers[0] is nil"},
		{chart.Chart{Width: 3, Panels: one(line).Panels}, "Width is 3: it must be from 240 to 8192"},
		{chart.Chart{Width: nan, Panels: one(line).Panels}, "Width is NaN: it must be from 240 to 8192"},
		{chart.Chart{X: chart.Axis{Low: 2, High: 1}, Panels: one(line).Panels},
			"X.Low is 2: it must be less than High, 1"},
		{chart.Chart{Panels: []chart.Panel{{Height: 10, Layers: []chart.Layer{line}}}},
			"Panels[0].Height is 10: it must be from 48 to 8192"},
		{chart.Chart{Panels: []chart.Panel{{Y: chart.Axis{High: nan}, Layers: []chart.Layer{line}}}},
			"Panels[0].Y.High is NaN"},
		{chart.Chart{Panels: []chart.Panel{{Y: chart.Axis{Low: 5, High: 5}, Layers: []chart.Layer{line}}}},
			"Panels[0].Y.Low is 5: it must be less than High, 5"},
		{chart.Chart{Times: true, Panels: one(chart.Line{Points: []chart.Point{{}, {X: 1e15}}}).Panels},
			"X is from 0 to 1e+15: times are Unix seconds of the years 1 to 9999"},
		{one(line, chart.Line{}), "Panels[0].Layers[1].Points is empty"},
		{one(chart.Line{Points: points(nan)}), "Panels[0].Layers[0].Points has no Y that is a number"},
		{one(chart.Line{Points: points(1, inf)}),
			"Panels[0].Layers[0].Points[1].Y is +Inf: it must be from -1e100 to 1e100"},
		{one(chart.Area{Points: []chart.Point{{X: nan}}}), "Panels[0].Layers[0].Points[0].X is NaN"},
		{one(chart.Line{Points: []chart.Point{{X: 2}, {X: 1}}}),
			"Panels[0].Layers[0].Points[1].X is 1: it must not be less than the one before, 2"},
		{one(chart.Area{Base: nan, Points: points(1)}), "Panels[0].Layers[0].Base is NaN"},
		{one(chart.Candles{}), "Panels[0].Layers[0].Candles is empty"},
		{one(chart.Candles{Candles: []chart.Candle{{From: 1, To: 1}}}),
			"Panels[0].Layers[0].Candles[0].From is 1: it must be less than To, 1"},
		{one(chart.Candles{Candles: []chart.Candle{{0, 1, 2, 4, 3, 3}}}),
			"Panels[0].Layers[0].Candles[0].Low 3 and High 4 must enclose Open 2 and Close 3"},
		{one(chart.Candles{Candles: []chart.Candle{{0, 1, 2, 4, 3, nan}}}),
			"Panels[0].Layers[0].Candles[0].Close is NaN"},
		{one(chart.Bridge{}), "Panels[0].Layers[0].Steps is empty"},
		{one(chart.Bridge{Steps: []chart.Step{{To: math.NaN()}}}), "Panels[0].Layers[0].Steps[0].To is NaN"},
		{one(chart.Bridge{Steps: []chart.Step{{Low: 2, High: 1}}}),
			"Panels[0].Layers[0].Steps[0].Low is 2: it must not be above High, 1"},
		{one(chart.Bars{}), "Panels[0].Layers[0].Bars is empty"},
		{one(chart.Bars{Bars: []chart.Bar{{3, 2, 1}}}),
			"Panels[0].Layers[0].Bars[0].From is 3: it must be less than To, 2"},
		{one(chart.Marks{Shape: 9, Points: points(1)}), "Panels[0].Layers[0].Shape is 9: there are 5"},
		{one(chart.Marks{Size: nan, Points: points(1)}), "Panels[0].Layers[0].Size is NaN: it must be from 0 to 100"},
		{one(chart.Fan{}), "Panels[0].Layers[0].X is empty"},
		{one(chart.Fan{X: []float64{1}}), "Panels[0].Layers[0].Quantiles is empty"},
		{logarithmic(0), "Panels[0].Y.Log is for values above zero, and the least is 0"},
		{logarithmic(-1), "Panels[0].Y.Log is for values above zero, and the least is -1"},
		{chart.Chart{X: chart.Axis{Log: true}}, "X.Log is for a panel's axis"},
		{one(chart.Fan{X: []float64{1, 2}, Quantiles: [][]float64{{1, 1}, {2, 2}, {3}}}),
			"Panels[0].Layers[0].Quantiles[2] has 1 values, X has 2"},
		{one(chart.Fan{X: []float64{1}, Quantiles: [][]float64{{1}, {0}, {3}}}),
			"Panels[0].Layers[0].Quantiles[1][0] is 0: it must not be less than the row below, 1"},
		{one(chart.HeatMap{}), "Panels[0].Layers[0].Columns has 0 names, Rows has 0: both need one at least"},
		{one(chart.HeatMap{Columns: []string{"a"}, Rows: []string{"b"}}),
			"Panels[0].Layers[0].Values has 0 rows, Rows has 1 names"},
		{one(chart.HeatMap{Columns: []string{"a", "b"}, Rows: []string{"c"}, Values: cell}),
			"Panels[0].Layers[0].Values[0] has 1 values, Columns has 2 names"},
		{chart.Chart{Times: true, Panels: one(heat).Panels},
			"Panels[0].Layers[0] is a HeatMap: its chart cannot have Times"},
		{one(heat, chart.HeatMap{Columns: []string{"a", "b"}, Rows: []string{"c"}, Values: [][]float64{{1, 2}}}),
			"Panels[0].Layers[1], a HeatMap, has 2 columns, the one above has 1"},
		{one(chart.Outline{}), "Panels[0].Layers[0].Inside is empty"},
		{one(chart.Outline{Inside: [][]bool{{true}, {}}}),
			"Panels[0].Layers[0].Inside[1] has 0 cells, the first row has 1"},
		{one(chart.Parallel{}), "Panels[0].Layers[0].Axes has 0 axes: it must have two at least"},
		{one(chart.Parallel{Axes: make([]chart.Scale, 2)}), "Panels[0].Layers[0].Lines is empty"},
		{one(chart.Parallel{Axes: make([]chart.Scale, 2), Lines: [][]float64{{1}}}),
			"Panels[0].Layers[0].Lines[0] has 1 heights, Axes has 2"},
		{one(chart.Parallel{Axes: make([]chart.Scale, 2), Lines: [][]float64{{1, nan}}}),
			"Panels[0].Layers[0].Lines[0][1] is NaN: it must be from 0 to 1"},
	} {
		_, err := row.c.SVG()
		require.EqualError(t, err, "chart: "+row.want)
		_, err = row.c.PNG(chart.Light)
		require.EqualError(t, err, "chart: "+row.want)
	}
	c := one(line)
	_, err := c.PNG(0)
	require.EqualError(t, err, "chart: theme 0: there are Light and Dark")
}

func TestAMissingValueBreaksALine(t *testing.T) {
	c := one(chart.Line{Points: points(1, 2, math.NaN(), 2, 1)})
	require.Equal(t, 2, strings.Count(layers(element(t, c), "main line"), "m"), "two pieces")
	c = one(chart.Line{Points: points(math.NaN(), 2, math.NaN())})
	require.Contains(t, layers(element(t, c), "main line"), "h3", "a point without neighbours is a short dash")
	c = one(chart.Area{Points: points(1, 2, math.NaN(), 2, 1)})
	require.Equal(t, 2, strings.Count(layers(element(t, c), "main"), "z"))
	c = one(chart.Fan{X: []float64{0, 1, 2, 3, 4}, Quantiles: [][]float64{
		{1, 1, 1, 1, 1}, {2, 2, math.NaN(), 2, 2}, {3, 3, 3, 3, 3},
	}})
	require.Equal(t, 2, strings.Count(layers(element(t, c), "main"), "z"), "a gap of one row is a gap of all")
}

// layers returns the path data of the elements of a class.
func layers(svg, class string) (data string) {
	for _, m := range regexp.MustCompile(`<path class="`+class+`"[^>]* d="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
		data += m[1]
	}
	return data
}

func TestWhatLiesOutsideAFixedRangeIsCutOff(t *testing.T) {
	c := one(chart.Line{Points: points(-1e99, 1e99, 5, 5, 5)})
	c.X, c.Panels[0].Y = chart.Axis{Low: 0.5, High: 3}, chart.Axis{Low: 4, High: 6}
	path := layers(element(t, c), "main line")
	for _, p := range walkPath(t, path) {
		require.True(t, p[0] >= 19 && p[0] <= 226 && p[1] >= 22 && p[1] <= 60, "%v of %s", p, path)
	}
	c = one(chart.Line{Points: []chart.Point{{X: -1, Y: 0}, {X: 11, Y: 12}}})
	c.X = chart.Axis{Low: 0, High: 10}
	c.Panels[0].Y = chart.Axis{Low: 1, High: 11}
	require.Equal(t, "m25 60 201-38", layers(element(t, c), "main line"), "from corner to corner")
	c = one(chart.Marks{Points: points(1, 50, 5)})
	c.Panels[0].Y = chart.Axis{Low: 0, High: 10}
	require.Equal(t, 2, strings.Count(element(t, c), "z"), "the mark at 50 is left out")
}

// walkPath follows a path of relative steps and returns all places.
func walkPath(t testing.TB, path string) (places [][2]float64) {
	var x, y, startX, startY float64
	for _, m := range regexp.MustCompile(`([a-z])([^a-z]*)`).FindAllStringSubmatch(path, -1) {
		var numbers []float64
		for _, n := range regexp.MustCompile(`-?(?:\d+\.?\d*|\.\d+)`).FindAllString(m[2], -1) {
			value, err := strconv.ParseFloat(n, 64)
			require.NoError(t, err)
			numbers = append(numbers, value)
		}
		switch m[1] {
		case "h":
			for _, n := range numbers {
				x += n
			}
		case "v":
			for _, n := range numbers {
				y += n
			}
		case "z":
			x, y = startX, startY
		case "m", "l":
			require.Zero(t, len(numbers)%2, "%s", m[0])
			for i := 0; i < len(numbers); i += 2 {
				x, y = x+numbers[i], y+numbers[i+1]
				if m[1] == "m" && i == 0 {
					startX, startY = x, y
				}
				places = append(places, [2]float64{x, y})
			}
		case "a":
			require.Len(t, numbers, 7, "%s", m[0])
			x, y = x+numbers[5], y+numbers[6]
		}
		places = append(places, [2]float64{x, y})
	}
	return places
}

// The middle of a logarithmic axis is the geometric mean of its ends.
func TestEqualRatiosHaveEqualDistances(t *testing.T) {
	c := one(chart.Line{Points: points(1, 10, 100)})
	const straight = `d="m32 58.6 97-17.6 97-17.6"`
	require.NotContains(t, element(t, c), straight)
	c.Panels[0].Y.Log = true
	require.Contains(t, element(t, c), straight)
}

// A spread of an even number of rows has no line in its middle.
func TestABandHasNoLineInItsMiddle(t *testing.T) {
	x := []float64{0, 1}
	require.NotContains(t, element(t, one(chart.Fan{X: x, Quantiles: [][]float64{{1, 2}, {3, 4}}})), `main line"`)
	require.Contains(t, element(t, one(chart.Fan{X: x, Quantiles: [][]float64{{1, 2}, {2, 3}, {3, 4}}})),
		`main line"`)
}

func TestSmallAndLongInputStaysInsideThePicture(t *testing.T) {
	long := strings.Repeat("長", 100)
	for _, c := range []chart.Chart{
		one(chart.Line{Points: points(5e-324, 0, 1e-200)}),
		one(chart.Line{Points: points(5e-324, 5e-324)}),
		one(chart.Line{Points: points(0, 0)}),
		one(chart.Line{Points: points(1e100, 1e100)}),
		one(chart.Line{Name: long, Points: points(1, 2)}, chart.HeatMap{Columns: []string{long, long},
			Rows: []string{long}, Values: [][]float64{{1, 2}}}),
	} {
		c.X.Unit = long
		svg := element(t, c)
		svg = regexp.MustCompile(` data-read='[^']*'`).ReplaceAllString(svg, "")
		require.NotContains(t, svg, strings.Repeat("長", 25), "long names are cut")
		for _, m := range regexp.MustCompile(` d="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
			for _, p := range walkPath(t, m[1]) {
				require.True(t, p[0] >= 0 && p[0] <= 240 && p[1] >= 0 && p[1] <= 120, "%v of %s", p, m[1])
			}
		}
	}
}

// A panel that is too narrow for its legend gets more rows, and keeps the height of its data.
func TestALegendTakesMoreRowsWhereItIsNarrow(t *testing.T) {
	names := []string{"bought", "sold", "resting buy", "watched target", "last price"}
	c := one()
	for _, name := range names {
		c.Panels[0].Layers = append(c.Panels[0].Layers, chart.Line{Name: name, Points: points(1, 2, 3)})
	}
	height := func(width float64) (total int) {
		c.Width = width
		text := element(t, c)
		for _, name := range names {
			require.Contains(t, text, ">"+name+"<", "%v", width)
		}
		total, err := strconv.Atoi(regexp.MustCompile(`viewBox="0 0 \d+ (\d+)"`).FindStringSubmatch(text)[1])
		require.NoError(t, err)
		return total
	}
	require.Equal(t, height(960)+2*16, height(240))
	left, right, err := c.Plot()
	require.NoError(t, err)
	require.Contains(t, element(t, c), `d="m`+strconv.FormatFloat(left, 'f', -1, 64)+" ", "the grid begins there")
	require.Equal(t, 240.0-14, right)
}

func TestTextIsEscapedAndStaysText(t *testing.T) {
	bad := "<script>\"&'\x00\xff\u202e"
	c := one(chart.Line{Name: bad, Points: points(1, 2)})
	c.Label, c.X.Unit, c.Panels[0].Y.Unit = bad, bad, bad
	svg := element(t, c)
	require.NotContains(t, svg, "<script")
	var texts []string
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if data, ok := token.(xml.CharData); ok {
			texts = append(texts, string(data))
		}
	}
	require.Contains(t, texts, "<script>\"&'\uFFFD\uFFFD\u202e")
}

func TestAnElementNeedsNothingButTheStyleOfItsPage(t *testing.T) {
	style := chart.Style()
	for _, c := range pictures() {
		svg := element(t, c)
		require.NotRegexp(t, `style|<script| id=|#[0-9a-f]{6}|url\(|href`, svg, "allowed by default-src 'self'")
		for _, m := range regexp.MustCompile(`class="(\w+)`).FindAllStringSubmatch(svg, -1) {
			require.Contains(t, style, "."+m[1], "each class has a rule")
		}
		require.Equal(t, svg, element(t, c), "the same chart is the same bytes")
	}
}

func TestThePictureStaysSmallHoweverLongTheData(t *testing.T) {
	size := func(n int) int {
		fan := chart.Fan{Quantiles: make([][]float64, 3)}
		for _, p := range walk(5, n) {
			fan.X = append(fan.X, p.X)
			for row := range fan.Quantiles {
				fan.Quantiles[row] = append(fan.Quantiles[row], p.Y*float64(row+1))
			}
		}
		return len(element(t, one(chart.Line{Points: walk(1, n)}, chart.Area{Points: walk(2, n)}, fan,
			chart.Candles{Candles: walked(3, n)}, chart.Marks{Points: walk(4, n)})))
	}
	require.Less(t, size(100_000), 2*size(1000))
}

func TestThePNGHasTheColoursOfItsTheme(t *testing.T) {
	c := one(chart.Area{Points: points(1, 1), Role: chart.Up}, chart.Line{Points: points(1, 2), Width: 4})
	for theme, want := range map[chart.Theme][2]color.RGBA{
		chart.Light: {{255, 255, 255, 255}, {59, 125, 216, 255}},
		chart.Dark:  {{27, 32, 39, 255}, {91, 155, 240, 255}},
	} {
		picture := decoded(t, c, theme)
		require.Equal(t, image.Rect(0, 0, 480, 168), picture.Bounds(), "two pixels a CSS pixel: 240 × (60 + 24)")
		require.Equal(t, want[0], color.RGBAModel.Convert(picture.At(1, 1)))
		found := false
		for x := range 480 {
			for y := range 168 {
				found = found || color.RGBAModel.Convert(picture.At(x, y)) == want[1]
			}
		}
		require.True(t, found, "the line is drawn")
	}
}

func decoded(t testing.TB, c chart.Chart, theme chart.Theme) image.Image {
	data, err := c.PNG(theme)
	require.NoError(t, err)
	again, err := c.PNG(theme)
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, again), "the same chart is the same bytes")
	picture, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	return picture
}

func TestEveryPictureIsAPNG(t *testing.T) {
	for name, c := range pictures() {
		require.Greater(t, decoded(t, c, chart.Dark).Bounds().Dx(), 400, name)
	}
}

// FuzzAnyInputDrawsOrIsNamed makes charts of any numbers: each is drawn as well-formed XML whose
// places lie inside the picture and as a PNG, or is an error that names the place.
func FuzzAnyInputDrawsOrIsNamed(f *testing.F) {
	seed := func(kind byte, values ...float64) {
		data := []byte{kind}
		for _, v := range values {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		f.Add(data, "EUR")
	}
	extremes := []float64{0, math.Copysign(0, -1), 1, math.Nextafter(1, 2), 1e100, -1e100, 5e-324, 1e-100,
		math.NaN(), 1e15, 1e300}
	for kind := range byte(32) {
		seed(kind, extremes...)
		seed(kind, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
		seed(kind, 1e9, 1.2e9, 1.3e9, 1.4e9, 1.5e9, 1.6e9)
		seed(kind, 1, 1, 1, 1, 1, 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		if len(data) < 9 || len(data) > 1+8*200 {
			t.Skip("too few numbers for a chart, or too many for a quick one")
		}
		c := fuzzed(data, text)
		svg, err := c.SVG()
		if err != nil {
			require.Regexp(t, `^chart: (Panels\[|X)`, err.Error())
			return
		}
		require.NoError(t, xml.Unmarshal(svg, new(struct{})))
		require.NotContains(t, string(svg), "NaN")
		for _, m := range regexp.MustCompile(` d="([^"]*)"`).FindAllStringSubmatch(string(svg), -1) {
			for _, p := range walkPath(t, m[1]) {
				require.True(t, p[0] > -60 && p[0] < 300 && p[1] > -60 && p[1] < 200, "%v of %s", p, m[1])
			}
		}
		if data[0]&64 == 0 { // pixels are slow
			decoded(t, c, chart.Light)
		}
	})
}

// fuzzed makes a chart of any bytes: the first chooses the layers, the rest are numbers.
func fuzzed(data []byte, text string) chart.Chart {
	var values []float64
	for at := 1; at+8 <= len(data); at += 8 {
		values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(data[at:])))
	}
	at := func(i int) float64 { return values[i%len(values)] }
	c := one()
	c.Label, c.X.Unit, c.Times = text, text, data[0]&8 != 0
	if data[0]&16 != 0 {
		c.X.Low, c.X.High = at(0), at(1)
		c.Panels[0].Y.Low, c.Panels[0].Y.High = at(2), at(3)
	}
	series := make([]chart.Point, 0, len(values))
	for i := 0; i+1 < len(values); i += 2 {
		series = append(series, chart.Point{X: at(i), Y: at(i + 1)})
	}
	switch data[0] & 7 {
	case 0:
		c.Panels[0].Layers = []chart.Layer{chart.Line{Name: text, Points: series}}
	case 1:
		c.Panels[0].Layers = []chart.Layer{chart.Area{Name: text, Base: at(0), Points: series}}
	case 2:
		c.Panels[0].Layers = []chart.Layer{chart.Marks{Name: text, Shape: chart.Shape(len(values) % 6), Points: series}}
	case 3:
		fan := chart.Fan{Name: text, X: values, Quantiles: [][]float64{values, values, values}}
		c.Panels[0].Layers = []chart.Layer{fan}
	case 4:
		c.Panels[0].Layers = []chart.Layer{chart.HeatMap{Signed: len(values)%2 == 0, Rows: []string{text},
			Columns: make([]string, len(values)), Values: [][]float64{values}}}
	case 5:
		var candles chart.Candles
		for i := 0; i+4 < len(values); i += 5 {
			candles.Candles = append(candles.Candles, chart.Candle{From: at(i), To: at(i + 1), Open: at(i + 2),
				Low: min(at(i+2), at(i+3)), High: max(at(i+2), at(i+3)), Close: at(i + 3)})
		}
		c.Panels[0].Layers = []chart.Layer{candles}
	case 6:
		var bridge chart.Bridge
		for i := 0; i+3 < len(values); i += 4 {
			bridge.Steps = append(bridge.Steps, chart.Step{Name: text, Label: text, From: at(i), To: at(i + 1),
				Low: min(at(i+2), at(i+3)), High: max(at(i+2), at(i+3))})
		}
		c.Panels[0].Layers = []chart.Layer{bridge}
	default:
		var bars chart.Bars
		for i := 0; i+2 < len(values); i += 3 {
			bars.Bars = append(bars.Bars, chart.Bar{From: at(i), To: at(i + 1), Value: at(i + 2)})
		}
		c.Panels[0].Layers = []chart.Layer{bars}
	}
	return c
}

func TestAHistogramCountsEachNumberOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		values, n := make([]float64, rng.IntN(50)), 1+rng.IntN(9)
		for i := range values {
			values[i] = math.Round(10*rng.NormFloat64()) / 4
		}
		counted := 0.0
		for i, b := range chart.Histogram(append(values, math.NaN(), math.Inf(1)), n) {
			in := 0.0
			for _, x := range values {
				if x >= b.From && (x < b.To || i == n-1 && x == b.To) {
					in++
				}
			}
			require.Equal(t, in, b.Value)
			counted += b.Value
		}
		require.Equal(t, len(values), int(counted))
	}
	require.Nil(t, chart.Histogram([]float64{math.NaN()}, 3))
}
