package chart

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

// Parallel are parallel coordinates: each axis is upright, and each of the Lines crosses all of
// them. Layers of one panel with the same Axes lie on top of each other. In a chart with such a
// layer, the horizontal axis shows the names of the axes; Axis.Low and High of its panel stay zero.
// Role is Quiet unless set.
type Parallel struct {
	Name  string
	Role  Role
	Width float64 // 0: 1.5 pixels
	Axes  []Scale
	Lines [][]float64 // of each line, its height on each axis: from 0, the bottom, to 1
}

// Scale is an upright axis: its name, and labels at even distances from its bottom to its top.
type Scale struct {
	Name   string
	Labels []string
}

func (p Parallel) check() error {
	if len(p.Axes) < 2 {
		return fmt.Errorf("Axes has %d axes: it must have two at least", len(p.Axes))
	}
	if p.Width != 0 {
		if err := length("Width", p.Width, 0); err != nil {
			return err
		}
	}
	if len(p.Lines) == 0 {
		return fmt.Errorf("Lines is empty")
	}
	for i, line := range p.Lines {
		if len(line) != len(p.Axes) {
			return fmt.Errorf("Lines[%d] has %d heights, Axes has %d", i, len(line), len(p.Axes))
		}
		for j, y := range line {
			if !(y >= 0 && y <= 1) { // also for NaN
				return fmt.Errorf("Lines[%d][%d] is %v: it must be from 0 to 1", i, j, y)
			}
		}
	}
	return nil
}

// extent leaves room for the labels beyond the ends of the axes.
func (p Parallel) extent(b *box) {
	last := float64(len(p.Axes) - 1)
	b.add(-0.02*last, -0.07)
	b.add(last, 1.07)
}

// margin is the room for the labels beside the last axis.
func (p Parallel) margin() float64 {
	widest := 0.0
	for _, label := range p.Axes[len(p.Axes)-1].Labels {
		widest = max(widest, textWidth(shorten(label)))
	}
	return widest + rightMargin
}

func (p Parallel) draw(f *frame) {
	path := f.scratch[:0]
	for _, line := range p.Lines {
		path.Move(f.at(Point{0, line[0]}))
		for axis, y := range line[1:] {
			path.Line(f.at(Point{float64(axis + 1), y}))
		}
	}
	width := p.Width
	if width == 0 {
		width = lineWidth
	}
	f.stroke(solid(p.Role.or(Quiet)), width, false, path)
	f.scratch = path
}

// scale draws the axes with their labels.
func (p Parallel) scale(f *frame) {
	var path vg.Path
	for i := range p.Axes {
		x := f.x(float64(i))
		path.Move(vg.Point{X: x, Y: f.y(0)})
		path.Line(vg.Point{X: x, Y: f.y(1)})
	}
	f.stroke(solid(Ink), 1, false, path)
	for i, a := range p.Axes {
		for j, label := range a.Labels {
			y := 0.5
			if len(a.Labels) > 1 {
				y = float64(j) / float64(len(a.Labels)-1)
			}
			at := f.at(Point{float64(i), y})
			f.text(vg.Point{X: at.X + 5, Y: at.Y - 11 + 14*vg.Length(y)}, start, shorten(label))
		}
	}
}

func (p Parallel) names() (columns, rows []string) {
	for _, a := range p.Axes {
		columns = append(columns, a.Name)
	}
	return columns, nil
}

func (p Parallel) key() key {
	return key{p.Name, solid(p.Role.or(Quiet)), keyShape{line: true}}
}
