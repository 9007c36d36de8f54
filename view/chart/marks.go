package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// A Shape is the form of a mark.
type Shape int

// The shapes.
const (
	Dot     Shape = iota + 1
	Rising        // a triangle that points up: an entry
	Falling       // a triangle that points down: an exit
	Diamond
	Cross
)

// Marks draws a shape at each point: entries and exits over candles, or a scatter plot. The points
// may have any order. Role is Main, Shape is Dot unless set. Marks of one layer that hide each
// other to the pixel are drawn once.
type Marks struct {
	Name   string
	Role   Role
	Shape  Shape
	Size   float64 // across; 0: 7 pixels
	Points []Point
}

const (
	defaultSize = 7
	maxSize     = 100
)

func (m Marks) check() error {
	if m.Shape < 0 || m.Shape > Cross {
		return fmt.Errorf("Shape is %d: there are %d", m.Shape, Cross)
	}
	if !(m.Size >= 0 && m.Size <= maxSize) {
		return fmt.Errorf("Size is %v: it must be from 0 to %d", m.Size, maxSize)
	}
	return checkPoints(m.Points, false)
}

func (m Marks) extent(b *box) { addPoints(b, m.Points) }

func (m Marks) draw(f *frame) {
	path := slices.Grow(f.scratch[:0], 4*min(len(m.Points), 2048)) // of a dot three steps, of a triangle four
	size := vg.Length(cmp.Or(m.Size, defaultSize))
	left, bottom := pixel(f.area.Min)
	right, top := pixel(f.area.Max)
	width := right - left + 1
	drawn := make([]uint64, (width*(top-bottom+1)+63)/64) // a bit for each pixel
	for _, p := range m.Points {
		if !f.contains(p) {
			continue
		}
		at := f.at(p)
		x, y := pixel(at)
		place := x - left + width*(y-bottom)
		if bit := uint64(1) << (place % 64); drawn[place/64]&bit == 0 {
			drawn[place/64] |= bit
			m.shape().add(&path, at, size/2)
		}
	}
	f.fill(solid(m.Role.or(Main)), false, path)
	f.scratch = path
}

// pixel is the pixel of a point.
func pixel(at vg.Point) (x, y int) {
	return int(math.Round(float64(at.X))), int(math.Round(float64(at.Y)))
}

func (m Marks) shape() Shape { return cmp.Or(m.Shape, Dot) }

func (m Marks) key() key {
	return key{m.Name, solid(m.Role.or(Main)), keyShape{mark: m.shape()}}
}

// add appends the shape with its centre at the point; r is half its size.
func (s Shape) add(path *vg.Path, at vg.Point, r vg.Length) {
	switch s {
	case Rising:
		polygon(path, at, r, [][2]vg.Length{{-1, -0.8}, {1, -0.8}, {0, 1}})
	case Falling:
		polygon(path, at, r, [][2]vg.Length{{-1, 0.8}, {0, -1}, {1, 0.8}})
	case Diamond:
		polygon(path, at, r, [][2]vg.Length{{0, -1}, {1, 0}, {0, 1}, {-1, 0}})
	case Cross:
		polygon(path, at, r, [][2]vg.Length{{-1, -0.7}, {-0.7, -1}, {0, -0.3}, {0.7, -1}, {1, -0.7}, {0.3, 0},
			{1, 0.7}, {0.7, 1}, {0, 0.3}, {-0.7, 1}, {-1, 0.7}, {-0.3, 0}})
	default:
		path.Move(vg.Point{X: at.X + r, Y: at.Y})
		path.Arc(at, r, 0, 2*math.Pi)
		path.Close()
	}
}

// polygon appends corners around a point, in parts of r.
func polygon(path *vg.Path, at vg.Point, r vg.Length, corners [][2]vg.Length) {
	for i, c := range corners {
		p := vg.Point{X: at.X + c[0]*r, Y: at.Y + c[1]*r}
		if i == 0 {
			path.Move(p)
		} else {
			path.Line(p)
		}
	}
	path.Close()
}
