package chart

import (
	"gonum.org/v1/plot/vg"
)

// A key is an entry of a legend.
type key struct {
	name  string
	paint paint
	shape keyShape
}

// keyShape is how a key looks.
type keyShape struct {
	line   bool // a piece of line, else a square or mark
	dashed bool
	mark   Shape // zero: a square
}

// draw draws the whole picture.
func (l *layout) draw(s surface) {
	for i := range l.frames {
		f := l.frames[i]
		f.surface = s
		p := &l.chart.Panels[i]
		l.rules(&f, l.up[i])
		l.head(&f, p)
		for _, layer := range p.Layers {
			layer.draw(&f)
		}
		switch n := p.named().(type) {
		case HeatMap:
			n.scale(&f, float64(f.area.Max.X)+16)
		case Parallel:
			n.scale(&f)
		}
	}
	l.foot(s)
}

// rules draws the grid and the labels of the vertical axis.
func (l *layout) rules(f *frame, up []tick) {
	var lines vg.Path
	for _, t := range up {
		y := f.y(t.value)
		if l.columns == nil {
			lines.Move(vg.Point{X: f.area.Min.X, Y: y})
			lines.Line(vg.Point{X: f.area.Max.X, Y: y})
		}
		f.text(vg.Point{X: f.area.Min.X - 6, Y: y - 4}, end, t.label)
	}
	for _, t := range l.across {
		if x := f.x(t.value); l.columns == nil {
			lines.Move(vg.Point{X: x, Y: f.area.Min.Y})
			lines.Line(vg.Point{X: x, Y: f.area.Max.Y})
		}
	}
	f.stroke(solid(Grid), 0.7, false, lines)
}

// head writes the unit and the legend above the data.
func (l *layout) head(f *frame, p *Panel) {
	x, y := f.area.Min.X, f.area.Max.Y+8
	if unit := shorten(p.Y.Unit); unit != "" {
		f.text(vg.Point{X: x, Y: y}, start, unit)
		x += vg.Length(textWidth(unit)) + 16
	}
	for _, layer := range p.Layers {
		k := layer.key()
		if k.name == "" {
			continue
		}
		name := shorten(k.name)
		width := vg.Length(textWidth(name))
		if x+20+width > f.area.Max.X {
			return // the panel is too narrow for the rest
		}
		k.draw(f, vg.Point{X: x + 7, Y: y + 4})
		f.text(vg.Point{X: x + 20, Y: y}, start, name)
		x += width + 36
	}
}

// draw draws the sample of a key around the point.
func (k *key) draw(f *frame, at vg.Point) {
	var path vg.Path
	switch {
	case k.shape.line:
		path.Move(vg.Point{X: at.X - 7, Y: at.Y})
		path.Line(vg.Point{X: at.X + 7, Y: at.Y})
		f.stroke(k.paint, 2, k.shape.dashed, path)
		return
	case k.shape.mark != 0:
		k.shape.mark.add(&path, at, 4)
	default:
		rectangle(&path, at.X-5, at.Y-5, at.X+5, at.Y+5)
	}
	f.fill(k.paint, false, path)
}

// foot writes the labels below the last panel.
func (l *layout) foot(s surface) {
	f := l.frames[len(l.frames)-1]
	y := f.area.Min.Y - 15
	for _, t := range l.across {
		half := vg.Length(textWidth(t.label) / 2)
		x := min(max(f.x(t.value), half+2), vg.Length(l.width)-half-2)
		s.text(vg.Point{X: x, Y: y}, middle, t.label)
	}
	if unit := shorten(l.chart.X.Unit); unit != "" {
		s.text(vg.Point{X: (f.area.Min.X + f.area.Max.X) / 2, Y: y - unitHeight}, middle, unit)
	}
}

// rectangle appends a rectangle, always in the same direction, so that rectangles of one path that
// overlap stay filled.
func rectangle(path *vg.Path, left, bottom, right, top vg.Length) {
	path.Move(vg.Point{X: left, Y: bottom})
	path.Line(vg.Point{X: right, Y: bottom})
	path.Line(vg.Point{X: right, Y: top})
	path.Line(vg.Point{X: left, Y: top})
	path.Close()
}
