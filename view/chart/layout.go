package chart

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
)

// The parts of a picture around its data, in CSS pixels.
const (
	textSize    = 11
	headHeight  = 22 // unit and legend above the data of a panel: their first row
	footHeight  = 24 // labels of the horizontal axis
	unitHeight  = 18 // its unit below them
	panelGap    = 6
	rightMargin = 14
	scaleMargin = 84 // beside a heat map
	maxLabel    = 24 // letters of a label
)

// An anchor is the part of a text that stands at its place.
type anchor int

const (
	start anchor = iota
	middle
	end
)

// A surface draws paths and texts, as SVG or PNG. Y grows upwards from the lower edge.
type surface interface {
	// stroke draws the lines of the path.
	stroke(p paint, width float64, dashed bool, path vg.Path)
	// fill fills the path; crisp is for edges that lie on whole pixels.
	fill(p paint, crisp bool, path vg.Path)
	// text writes s with its baseline at the point.
	text(at vg.Point, a anchor, s string)
}

// A box is a range of data.
type box struct{ left, right, low, high float64 }

func emptyBox() box { return box{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)} }

// add grows the box by a point; NaN adds nothing.
func (b *box) add(x, y float64) {
	if x < b.left {
		b.left = x
	}
	if x > b.right {
		b.right = x
	}
	if y < b.low {
		b.low = y
	}
	if y > b.high {
		b.high = y
	}
}

// A frame is the data area of one panel on a surface, with the range of data that it shows.
type frame struct {
	surface
	area    vg.Rectangle
	shown   box
	log     bool    // of the vertical axis
	scratch vg.Path // room for the path of a layer
}

func (f *frame) columns() int { return int(f.area.Max.X - f.area.Min.X) }

// x returns the place of a value, cut off at the sides.
func (f *frame) x(value float64) vg.Length {
	u := (value - f.shown.left) / (f.shown.right - f.shown.left)
	return f.area.Min.X + vg.Length(min(max(u, 0), 1))*(f.area.Max.X-f.area.Min.X)
}

// y returns the place of a value, cut off at the lower and the upper edge.
func (f *frame) y(value float64) vg.Length {
	v := (value - f.shown.low) / (f.shown.high - f.shown.low)
	if f.log {
		v = math.Log(value/f.shown.low) / math.Log(f.shown.high/f.shown.low)
	}
	return f.area.Min.Y + vg.Length(min(max(v, 0), 1))*(f.area.Max.Y-f.area.Min.Y)
}

func (f *frame) at(p Point) vg.Point { return vg.Point{X: f.x(p.X), Y: f.y(p.Y)} }

// contains reports whether a point lies inside the frame; NaN does not.
func (f *frame) contains(p Point) bool {
	return p.X >= f.shown.left && p.X <= f.shown.right && p.Y >= f.shown.low && p.Y <= f.shown.high
}

// A layout is a checked chart with the place of each part.
type layout struct {
	chart         *Chart
	width, height float64
	columns       []string // names of the places 0, 1, 2 … of the horizontal axis; nil: it has numbers
	frames        []frame  // without a surface
	legends       []legend // by panel
	across        []tick
	up            [][]tick // by panel
}

// layout checks the chart and places its parts.
func (c *Chart) layout() (*layout, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	l := &layout{chart: c, width: c.width(), frames: make([]frame, len(c.Panels)), up: make([][]tick, len(c.Panels))}
	if err := l.findNames(); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	left, right, err := c.across()
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	margin := 0.0
	for i := range c.Panels {
		shown := c.Panels[i].shown()
		shown.left, shown.right = left, right
		l.frames[i].shown, l.frames[i].log = shown, c.Panels[i].Y.Log
		l.up[i] = c.Panels[i].ticks(shown)
		for _, t := range l.up[i] {
			margin = max(margin, textWidth(t.label))
		}
	}
	l.place(min(margin+12, 0.4*l.width))
	return l, nil
}

// named is a layer whose places 0, 1, 2 … have names.
type named interface {
	names() (columns, rows []string)
}

// findNames finds the layers with names: all of them must have as many columns, and none can share
// a chart with times.
func (l *layout) findNames() error {
	for i := range l.chart.Panels {
		for j, layer := range l.chart.Panels[i].Layers {
			n, ok := layer.(named)
			if !ok {
				continue
			}
			kind := strings.TrimPrefix(fmt.Sprintf("%T", layer), "chart.")
			switch columns, _ := n.names(); {
			case l.chart.Times:
				return fmt.Errorf("Panels[%d].Layers[%d] is a %s: its chart cannot have Times", i, j, kind)
			case l.columns != nil && len(columns) != len(l.columns):
				return fmt.Errorf("Panels[%d].Layers[%d], a %s, has %d columns, the one above has %d", i, j, kind,
					len(columns), len(l.columns))
			case l.columns == nil:
				l.columns = columns
			}
		}
	}
	return nil
}

// across returns the ends of the horizontal axis.
func (c *Chart) across() (left, right float64, err error) {
	b := emptyBox()
	for i := range c.Panels {
		for _, layer := range c.Panels[i].Layers {
			layer.extent(&b)
		}
	}
	left, right = b.left, b.right
	if c.X.fixed() {
		left, right = c.X.Low, c.X.High
	}
	if c.Times && !(min(left, b.left) >= year1 && max(right, b.right) <= year9999) {
		return 0, 0, fmt.Errorf("X is from %v to %v: times are Unix seconds of the years 1 to 9999", left, right)
	}
	if c.Times && right-left < 2 {
		return left - 1800, left + 1800, nil
	}
	left, right = widened(left, right)
	return left, right, nil
}

// shown returns the vertical range of a panel. Ends that come from data get a little room, but for
// zero: bars and areas stand on it.
func (p *Panel) shown() box {
	b := emptyBox()
	for _, layer := range p.Layers {
		layer.extent(&b)
	}
	if p.Y.fixed() {
		b.low, b.high = widened(p.Y.Low, p.Y.High)
		return b
	}
	b.low, b.high = widened(b.low, b.high)
	if p.named() != nil {
		return b
	}
	if p.Y.Log {
		room := math.Pow(b.high/b.low, 1.0/25)
		b.low, b.high = b.low/room, b.high*room
		return b
	}
	room := (b.high - b.low) / 25
	if b.low != 0 {
		b.low -= room
	}
	if b.high != 0 {
		b.high += room
	}
	return b
}

// widened gives a range that is too narrow for float64 a width.
func widened(low, high float64) (wideLow, wideHigh float64) {
	size := max(math.Abs(low), math.Abs(high))
	switch {
	case size < smallest:
		return -1, 1
	case high-low < 1e-9*size:
		return low - size/20, high + size/20
	}
	return low, high
}

// named returns the panel's first layer with names, or nil.
func (p *Panel) named() named {
	for _, layer := range p.Layers {
		if n, ok := layer.(named); ok {
			return n
		}
	}
	return nil
}

// ticks returns the labels of the vertical axis.
func (p *Panel) ticks(shown box) []tick {
	room := p.height() - headHeight
	if n := p.named(); n != nil {
		_, rows := n.names()
		return nameTicks(rows, int(room/14))
	}
	if p.Y.Log {
		return ratioTicks(shown.low, shown.high, int(max(room/36, 2)))
	}
	return numberTicks(shown.low, shown.high, int(max(room/36, 2)))
}

// place gives each panel its area, from the top, and the horizontal axis its labels.
func (l *layout) place(margin float64) {
	c := l.chart
	right := l.width - rightMargin
	for i := range c.Panels {
		switch n := c.Panels[i].named().(type) {
		case HeatMap:
			right = l.width - scaleMargin
		case Parallel:
			right = l.width - n.margin()
		}
	}
	foot := float64(footHeight)
	if c.X.Unit != "" {
		foot += unitHeight
	}
	l.height = foot - panelGap
	l.legends = make([]legend, len(c.Panels))
	for i := range c.Panels {
		l.legends[i] = c.Panels[i].legend(vg.Length(right - math.Ceil(margin)))
		l.height += c.Panels[i].height() + l.legends[i].more() + panelGap
	}
	top := l.height
	for i := range c.Panels {
		head := headHeight + l.legends[i].more()
		bottom := top - c.Panels[i].height() - l.legends[i].more()
		l.frames[i].area = vg.Rectangle{
			Min: vg.Point{X: vg.Length(math.Ceil(margin)), Y: vg.Length(bottom)},
			Max: vg.Point{X: vg.Length(right), Y: vg.Length(top - head)},
		}
		top = bottom - panelGap
	}
	l.across = l.acrossTicks(right - margin)
}

func (l *layout) acrossTicks(room float64) []tick {
	shown := l.frames[0].shown
	switch {
	case l.columns != nil:
		widest := 0.0
		for _, name := range l.columns {
			widest = max(widest, textWidth(shorten(name)))
		}
		return nameTicks(l.columns, int(room/(widest+10)))
	case l.chart.Times:
		return timeTicks(shown.left, shown.right, int(max(room/90, 1)), cmp.Or(l.chart.Zone, time.UTC))
	}
	return numberTicks(shown.left, shown.right, int(max(room/80, 2)))
}

// textWidth estimates the width of a text: the reader's font is not known.
func textWidth(s string) float64 {
	width := 0.0
	for _, r := range s {
		switch {
		case r >= 0x1100: // wide scripts
			width++
		case r == ' ' || r == '.' || r == ',' || r == ':' || r == 'i' || r == 'l':
			width += 0.3
		default:
			width += 0.58
		}
	}
	return width * textSize
}

// shorten cuts a text that is too long for a label.
func shorten(s string) string {
	if utf8.RuneCountInString(s) <= maxLabel {
		return s
	}
	return string([]rune(s)[:maxLabel-1]) + "…"
}
