package chart

import (
	"cmp"
	"math"

	"gonum.org/v1/plot/vg"
)

const (
	lineWidth   = 1.5
	areaOpacity = 0.25
	edgeWidth   = 1
	singlePoint = 1.5 // half the length of the dash that shows a point without neighbours
)

// A Line joins its points in their order. X must not decrease. Role is Main unless set.
type Line struct {
	Name   string
	Role   Role
	Width  float64 // 0: 1.5 pixels
	Dashed bool
	Points []Point
}

func (l Line) check() error {
	if l.Width != 0 {
		if err := length("Width", l.Width, 0); err != nil {
			return err
		}
	}
	return checkPoints(l.Points, true)
}

func (l Line) extent(b *box) { addPoints(b, l.Points) }

func (l Line) draw(f *frame) {
	f.curve(l.Points, solid(l.Role.or(Main)), cmp.Or(l.Width, lineWidth), l.Dashed)
}

func (l Line) key() key {
	return key{l.Name, solid(l.Role.or(Main)), keyShape{line: true, dashed: l.Dashed}}
}

// An Area fills the space between its points and Base. X must not decrease. Role is Main unless
// set.
type Area struct {
	Name   string
	Role   Role
	Base   float64
	Points []Point
}

func (a Area) check() error {
	if err := number("Base", a.Base); err != nil {
		return err
	}
	return checkPoints(a.Points, true)
}

func (a Area) extent(b *box) {
	addPoints(b, a.Points)
	b.add(a.Points[0].X, a.Base)
}

func (a Area) draw(f *frame) {
	role := a.Role.or(Main)
	path := f.scratch[:0]
	base := f.y(a.Base)
	for _, run := range f.graph(a.Points) {
		path.Move(vg.Point{X: f.x(run[0].X), Y: base})
		f.join(&path, run)
		path.Line(vg.Point{X: f.x(run[len(run)-1].X), Y: base})
		path.Close()
	}
	f.fill(paint{role, areaOpacity}, false, path)
	f.scratch = path
	f.curve(a.Points, solid(role), edgeWidth, false)
}

func (a Area) key() key { return key{a.Name, solid(a.Role.or(Main)), keyShape{}} }

// curve draws a line through the points.
func (f *frame) curve(points []Point, p paint, width float64, dashed bool) {
	path := f.scratch[:0]
	points = crossed(thin(points, f.shown.left, f.shown.right, f.columns()), f.shown)
	for _, run := range runs(points, f.contains) {
		if len(run) == 1 {
			at := f.at(run[0])
			path.Move(vg.Point{X: at.X - singlePoint, Y: at.Y})
			path.Line(vg.Point{X: at.X + singlePoint, Y: at.Y})
			continue
		}
		path.Move(f.at(run[0]))
		f.join(&path, run[1:])
	}
	f.stroke(p, width, dashed, path)
	f.scratch = path
}

// join appends lines to the points.
func (f *frame) join(path *vg.Path, points []Point) {
	for _, p := range points {
		path.Line(f.at(p))
	}
}

// graph returns the runs of points to fill below: cut off at the sides; f.y keeps them inside the
// other two edges.
func (f *frame) graph(points []Point) [][]Point {
	points = crossed(thin(points, f.shown.left, f.shown.right, f.columns()), f.shown)
	return runs(points, func(p Point) bool { return p.X >= f.shown.left && p.X <= f.shown.right })
}

func addPoints(b *box, points []Point) {
	for _, p := range points {
		if !math.IsNaN(p.Y) {
			b.add(p.X, p.Y)
		}
	}
}
