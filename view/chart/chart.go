package chart

import (
	"fmt"
	"time"
)

// A Chart is one picture: panels from top to bottom over one horizontal axis. Lengths are in CSS
// pixels.
type Chart struct {
	Label  string         // what the picture shows, for readers who cannot see it
	Width  float64        // 0: 960; at least 240
	Times  bool           // X is Unix seconds: its labels are dates and times
	Zone   *time.Location // of these labels; nil: UTC
	X      Axis
	Panels []Panel
}

// A Panel is one diagram of a Chart.
type Panel struct {
	Height float64 // without the labels below the last panel and a legend's further rows; 0: 240; at least 48
	Y      Axis
	Layers []Layer // drawn in this order: the last one lies on top
}

// An Axis is the range to draw. Its zero value is the range of the layers, without a unit.
type Axis struct {
	Unit      string  // the text beside the axis
	Low, High float64 // the ends; both zero: those of the layers. Data outside is cut off
	Log       bool    // of a panel: equal ratios have equal distances. All values are above zero
}

// A Point is a value of Y at X. A Y that is no number (NaN) is missing: it breaks a line and draws
// no mark.
type Point struct{ X, Y float64 }

// A Layer is one series of a panel: Line, Area, Fan, Candles, Marks, Bars, HeatMap, Outline,
// Parallel or Bridge. Layers whose Name is not empty stand in the legend above their panel.
type Layer interface {
	// check returns an error that begins with the place inside the layer: "Points[3].X is NaN".
	check() error
	// extent grows the box to hold the whole layer.
	extent(b *box)
	// draw draws the layer, which check has accepted, into f.
	draw(f *frame)
	// key is the layer's entry in the legend; without a name there is none.
	key() key
}

const (
	defaultWidth  = 960
	defaultHeight = 240
	minWidth      = 240
	minHeight     = 48
	maxLength     = 8192    // of a side
	maxArea       = 1 << 24 // square pixels
)

// Element returns the picture as an SVG element for an HTML page, with the values of its layers for
// Script. The page carries Style and Script once; the element itself holds no style, no script and
// no id. The error names the place of the bad input, as in "Panels[0].Layers[1].Points[7].X is
// NaN".
func (c *Chart) Element() ([]byte, error) {
	l, err := c.layout()
	if err != nil {
		return nil, err
	}
	return l.svg("", l.readings(c)), nil
}

// Plot returns the left and the right edge of the data, in CSS pixels from the left edge of the
// picture.
func (c *Chart) Plot() (left, right float64, err error) {
	l, err := c.layout()
	if err != nil {
		return 0, 0, err
	}
	area := &l.frames[0].area
	return float64(area.Min.X), float64(area.Max.X), nil
}

// SVG returns the picture as an SVG file with its own style, which follows the reader's light or
// dark setting.
func (c *Chart) SVG() ([]byte, error) {
	l, err := c.layout()
	if err != nil {
		return nil, err
	}
	return l.svg(standalone(), nil), nil
}

// PNG returns the picture with two pixels per CSS pixel, on the background of the theme.
func (c *Chart) PNG(theme Theme) ([]byte, error) {
	l, err := c.layout()
	if err != nil {
		return nil, err
	}
	p, err := newPNG(theme, l.width, l.height)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	l.draw(p)
	return p.bytes()
}

// svg draws the picture. readings is an attribute of the element; nil: none.
func (l *layout) svg(style string, readings []byte) []byte {
	s := newSVG(l.chart.Label, style, l.width, l.height, readings)
	l.draw(s)
	return s.bytes()
}
