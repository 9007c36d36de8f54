package chart

import (
	_ "embed" // script and style
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The script and the style of what it shows, written by hand.
var (
	//go:embed read.js
	script string
	//go:embed read.css
	readRules string
)

// Script returns the script of Element, for a page to carry once: over each picture it shows a
// cross with the values there, to a pointer, a finger and the arrow keys.
func Script() string { return script }

// readStyle is the style of what Script shows, and of an element html whose data-theme is light or
// dark: it does not follow the reader's setting.
func readStyle() string {
	var b strings.Builder
	b.WriteString(readRules)
	for _, name := range roleNames[Main:] {
		fmt.Fprintf(&b, ".readout .%[1]s::before{background:var(--%[1]s)}", name)
	}
	fmt.Fprintf(&b, "\n:root[data-theme=light]{color-scheme:light;%s}\n:root[data-theme=dark]{color-scheme:dark;%s}\n",
		variables(Light), variables(Dark))
	return b.String()
}

// A reading is a series of values that can be read at a place of a picture.
type reading struct {
	name string
	role Role
	kind readingKind
	rows []string    // names of the rows; nil: one row, without a name
	x    []float64   // sorted, but of marks
	y    [][]float64 // [row][place in x]; NaN: missing
}

// readingKind is how the value between two places is found.
type readingKind string

const (
	joined readingKind = "line" // on the line from one to the next
	spans  readingKind = "span" // a value holds from its place to the next
	spots  readingKind = "spot" // there is none
)

// legible is a layer whose values can be read. f says which part of it is shown.
type legible interface{ read(f *frame) reading }

// mostSpots is the largest number of marks of a layer that can be read: of more, each hides others.
const mostSpots = 500

func (l Line) read(f *frame) reading { return lineReading(l.Name, l.Role.or(Main), l.Points, f) }

func (a Area) read(f *frame) reading { return lineReading(a.Name, a.Role.or(Main), a.Points, f) }

func lineReading(name string, role Role, points []Point, f *frame) reading {
	r := reading{name: name, role: role, kind: joined, y: make([][]float64, 1)}
	for _, p := range latest(points, f) {
		r.x, r.y[0] = append(r.x, p.X), append(r.y[0], p.Y)
	}
	return r
}

func (n Fan) read(f *frame) reading {
	r := reading{name: n.Name, role: n.Role.or(Main), kind: joined, rows: []string{"high", "middle", "low"}}
	places := []int{len(n.Quantiles) - 1, len(n.Quantiles) / 2, 0}
	if len(n.Quantiles)%2 == 0 {
		r.rows, places = []string{"high", "low"}, []int{len(n.Quantiles) - 1, 0}
	}
	for _, row := range places {
		one := lineReading("", 0, n.row(row), f)
		r.x, r.y = one.x, append(r.y, one.y[0])
	}
	return r
}

func (m Marks) read(f *frame) reading {
	r := reading{name: m.Name, role: m.Role.or(Main), kind: spots, y: make([][]float64, 1)}
	for _, p := range m.Points {
		if f.containsAcross(p.X) && !math.IsNaN(p.Y) {
			r.x, r.y[0] = append(r.x, p.X), append(r.y[0], p.Y)
		}
	}
	if len(r.x) > mostSpots {
		r.x, r.y[0] = nil, nil
	}
	return r
}

func (s Bars) read(f *frame) reading {
	r := reading{name: s.Name, role: s.Role.or(Up), kind: spans, y: make([][]float64, 1)}
	for i, b := range s.Bars {
		if i > 0 && b.From < s.Bars[i-1].From {
			return reading{} // bars one behind the other
		}
		if b.To > f.shown.left && b.From < f.shown.right {
			r.x, r.y[0] = append(r.x, b.From), append(r.y[0], b.Value)
		}
	}
	if n := len(s.Bars); n > 0 {
		r.x, r.y[0] = append(r.x, s.Bars[n-1].To), append(r.y[0], math.NaN())
	}
	return r
}

func (c Candles) read(f *frame) reading {
	r := reading{name: c.Name, role: Ink, kind: spans, rows: []string{"open", "high", "low", "close"},
		y: make([][]float64, 4)}
	add := func(at float64, prices ...float64) {
		r.x = append(r.x, at)
		for i, price := range prices {
			r.y[i] = append(r.y[i], price)
		}
	}
	end := math.Inf(-1)
	for _, one := range merged(c.Candles, f) {
		if one.To <= f.shown.left || one.From >= f.shown.right {
			continue
		}
		if one.From > end && len(r.x) > 0 {
			add(end, math.NaN(), math.NaN(), math.NaN(), math.NaN())
		}
		add(one.From, one.Open, one.High, one.Low, one.Close)
		end = one.To
	}
	if len(r.x) > 0 {
		add(end, math.NaN(), math.NaN(), math.NaN(), math.NaN())
	}
	return r
}

// latest are the points in view, of each column of pixels the last one.
func latest(points []Point, f *frame) []Point {
	points = within(points, f.shown.left, f.shown.right)
	if len(points) <= f.columns() {
		return points
	}
	kept := make([]Point, 0, f.columns()+2)
	before := -2
	for _, p := range points {
		if place := column(p.X, f.shown.left, f.shown.right, f.columns()); place != before {
			kept, before = append(kept, p), place
			continue
		}
		kept[len(kept)-1] = p
	}
	return kept
}

func (f *frame) containsAcross(x float64) bool { return x >= f.shown.left && x <= f.shown.right }

// readings is the attribute with the values of all panels, as JSON: where the panels lie, what they
// show, and their series. Times are whole seconds, each from the one before. read.js reads it. A
// layer without a name can be read where it is the first of its panel.
func (l *layout) readings(c *Chart) []byte {
	w := readingWriter{out: []byte(` data-read='{"panels":[`), times: c.Times}
	area, found := l.frames[0].area, false
	for i := range c.Panels {
		p, f := &c.Panels[i], &l.frames[i]
		w.digits = digitsOf(f.shown.low, f.shown.high)
		if i > 0 {
			w.put(",")
		}
		w.put(`{"box":[`)
		w.list(l.height-float64(f.area.Max.Y), l.height-float64(f.area.Min.Y), f.shown.low, f.shown.high)
		w.put(`],"log":`, strconv.FormatBool(p.Y.Log), `,"digits":`, strconv.Itoa(w.digits), `,"unit":`, text(p.Y.Unit),
			`,"series":[`)
		first := true
		for k, layer := range p.Layers {
			one, is := layer.(legible)
			if !is {
				continue
			}
			r := one.read(f)
			if len(r.x) == 0 || r.name == "" && k > 0 && r.kind != spans {
				continue
			}
			if !first {
				w.put(",")
			}
			first, found = false, true
			w.series(&r)
		}
		w.put("]}")
	}
	if !found {
		return nil
	}
	w.put(`],"across":[`)
	w.list(float64(area.Min.X), float64(area.Max.X), l.frames[0].shown.left, l.frames[0].shown.right)
	w.put(`],"unit":`, text(c.X.Unit))
	if c.Times {
		zone := "UTC"
		if c.Zone != nil {
			zone = c.Zone.String()
		}
		w.put(`,"zone":`, text(zone))
	}
	w.put("}'")
	return w.out
}

// digitsOf is the number of decimals that tell apart a thousandth of a range, two at least.
func digitsOf(low, high float64) int {
	return min(max(2, -int(math.Floor(math.Log10((high-low)/1e3)))), 15)
}

// text is a text in JSON inside of an attribute in single quotes.
func text(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		return `""` // a string can always be written
	}
	return strings.ReplaceAll(string(quoted), "'", `\u0027`)
}

// readingWriter writes readings.
type readingWriter struct {
	out    []byte
	times  bool
	digits int
}

func (w *readingWriter) put(parts ...string) {
	for _, p := range parts {
		w.out = append(w.out, p...)
	}
}

func (w *readingWriter) list(numbers ...float64) {
	for i, n := range numbers {
		if i > 0 {
			w.put(",")
		}
		w.out = strconv.AppendFloat(w.out, n, 'g', -1, 64)
	}
}

func (w *readingWriter) series(r *reading) {
	w.put(`{"name":`, text(r.name), `,"role":"`, roleNames[r.role], `","kind":"`, string(r.kind), `"`)
	for i, name := range r.rows {
		w.put([...]string{`,"rows":[`, `,`}[min(i, 1)], text(name))
	}
	if r.rows != nil {
		w.put("]")
	}
	w.put(`,"x":[`)
	before := int64(0)
	for i, x := range r.x {
		if i > 0 {
			w.put(",")
		}
		if !w.times {
			w.out = strconv.AppendFloat(w.out, x, 'g', 8, 64)
			continue
		}
		w.out = strconv.AppendInt(w.out, int64(math.Round(x))-before, 10)
		before = int64(math.Round(x))
	}
	w.put(`],"y":[`)
	for row, values := range r.y {
		if row > 0 {
			w.put(",")
		}
		w.put("[")
		for i, y := range values {
			if i > 0 {
				w.put(",")
			}
			w.value(y)
		}
		w.put("]")
	}
	w.put("]}")
}

// value writes a value in as many digits as are shown; null: it is missing.
func (w *readingWriter) value(y float64) {
	if math.IsNaN(y) {
		w.put("null")
		return
	}
	scale := math.Pow10(w.digits)
	if rounded := math.Round(y*scale) / scale; math.Abs(y) < 1e15/scale {
		y = rounded
	}
	w.out = strconv.AppendFloat(w.out, y, 'g', -1, 64)
}
