package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
)

// A HeatMap is a grid of values as colours, with its scale beside it. Cells lie at the places 0, 1,
// 2 … of both axes: a mark on a cell is the Point of its column and row. NaN leaves a cell empty.
// In a chart with a heat map, the horizontal axis shows the names of its columns; Axis.Low and High
// of its panel stay zero.
type HeatMap struct {
	Columns []string    // from left to right
	Rows    []string    // from bottom to top
	Values  [][]float64 // [row][column]
	Signed  bool        // Down below zero and Up above; else from faint to full Main
}

// shades is the number of steps from faint to full. A shade is one element of the picture.
const shades = 16

func (h HeatMap) check() error {
	if len(h.Columns) == 0 || len(h.Rows) == 0 {
		return fmt.Errorf("Columns has %d names, Rows has %d: both need one at least", len(h.Columns), len(h.Rows))
	}
	if len(h.Values) != len(h.Rows) {
		return fmt.Errorf("Values has %d rows, Rows has %d names", len(h.Values), len(h.Rows))
	}
	seen := false
	for i, row := range h.Values {
		if len(row) != len(h.Columns) {
			return fmt.Errorf("Values[%d] has %d values, Columns has %d names", i, len(row), len(h.Columns))
		}
		for j, value := range row {
			if err := missingOr(fmt.Sprintf("Values[%d][%d]", i, j), value); err != nil {
				return err
			}
			seen = seen || !math.IsNaN(value)
		}
	}
	if !seen {
		return fmt.Errorf("Values has no number")
	}
	return nil
}

func (h HeatMap) extent(b *box) {
	b.add(-0.5, -0.5)
	b.add(float64(len(h.Columns))-0.5, float64(len(h.Rows))-0.5)
}

// ends returns the values of the faintest and of the fullest shade. A signed map has the same reach
// on both sides of zero.
func (h HeatMap) ends() (low, high float64) {
	b := emptyBox()
	for _, row := range h.Values {
		for _, value := range row {
			b.add(0, value)
		}
	}
	if h.Signed {
		reach := max(math.Abs(b.low), math.Abs(b.high))
		b.low, b.high = -reach, reach
	}
	return widened(b.low, b.high)
}

// paint returns the colour of a shade: 0 to shades-1, or from -shades+1 on where the map is signed.
func (h HeatMap) paint(shade int) paint {
	role := Main
	switch {
	case h.Signed && shade < 0:
		role = Down
	case h.Signed:
		role = Up
	}
	part := float64(max(shade, -shade)) / (shades - 1)
	return paint{role, math.Round(1000*(0.04+0.96*part)) / 1000}
}

// shade returns the shade of a value.
func (h HeatMap) shade(value, low, high float64) int {
	part := (value - low) / (high - low)
	if h.Signed {
		part = value / high
	}
	return int(math.Round(part * (shades - 1)))
}

func (h HeatMap) draw(f *frame) {
	low, high := h.ends()
	var paths [2*shades - 1]vg.Path // by shade; that of 0 stands in the middle
	for i, row := range h.Values {
		bottom, top := f.cellY(float64(i)-0.5), f.cellY(float64(i)+0.5)
		for from := 0; from < len(row); {
			to := from + 1
			if math.IsNaN(row[from]) {
				from = to
				continue
			}
			shade := h.shade(row[from], low, high)
			for to < len(row) && !math.IsNaN(row[to]) && h.shade(row[to], low, high) == shade {
				to++ // neighbours of one shade are one rectangle
			}
			rectangle(&paths[shades-1+shade], f.cellX(float64(from)-0.5), bottom, f.cellX(float64(to)-0.5), top)
			from = to
		}
	}
	for i, path := range paths {
		f.fill(h.paint(i-shades+1), true, path)
	}
}

// cellX and cellY are places on whole pixels, so that no seam shows between cells.
func (f *frame) cellX(value float64) vg.Length { return vg.Length(math.Round(float64(f.x(value)))) }
func (f *frame) cellY(value float64) vg.Length { return vg.Length(math.Round(float64(f.y(value)))) }

// scale draws the colours with their values, to the right of x.
func (h HeatMap) scale(f *frame, x float64) {
	low, high := h.ends()
	least := 0
	if h.Signed {
		least = -shades + 1
	}
	bottom, height := float64(f.area.Min.Y), float64(f.area.Max.Y-f.area.Min.Y)
	steps := float64(shades - least)
	for shade := least; shade < shades; shade++ {
		var path vg.Path
		from, to := float64(shade-least)/steps, float64(shade-least+1)/steps
		rectangle(&path, vg.Length(math.Round(x)), vg.Length(math.Round(bottom+from*height)),
			vg.Length(math.Round(x)+12), vg.Length(math.Round(bottom+to*height)))
		f.fill(h.paint(shade), true, path)
	}
	for _, t := range numberTicks(low, high, int(max(height/36, 2))) {
		y := bottom + (t.value-low)/(high-low)*height
		f.text(vg.Point{X: vg.Length(math.Round(x) + 17), Y: vg.Length(y - 4)}, start, t.label)
	}
}

func (h HeatMap) names() (columns, rows []string) { return h.Columns, h.Rows }

func (h HeatMap) key() key { return key{} }
