package chart

import "gonum.org/v1/plot/vg"

// draw draws the whole picture.
func (l *layout) draw(s surface) {
	for i := range l.frames {
		f := l.frames[i]
		f.surface = s
		p := &l.chart.Panels[i]
		l.rules(&f, l.up[i])
		l.legends[i].draw(&f)
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
