package chart

import "gonum.org/v1/plot/vg"

const (
	legendRow  = 16 // height of a row after the first
	legendRows = 6  // more are left out
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

// A placed is an entry of a legend with its place: a row, and the distance from the left.
type placed struct {
	key key
	row int
	x   vg.Length
}

// legend is the line above a panel: the unit, then the entries. It takes more rows where the panel
// is too narrow for one.
type legend struct {
	unit    string
	entries []placed
	rows    int // at least 1
}

// legend places the unit and the entries of a panel in rows of so much width.
func (p *Panel) legend(room vg.Length) (l legend) {
	l.unit, l.rows = shorten(p.Y.Unit), 1
	x := vg.Length(0)
	if l.unit != "" {
		x = vg.Length(textWidth(l.unit)) + 16
	}
	for _, layer := range p.Layers {
		k := layer.key()
		if k.name == "" {
			continue
		}
		k.name = shorten(k.name)
		width := vg.Length(textWidth(k.name))
		if x > 0 && x+20+width > room {
			if l.rows == legendRows {
				return l
			}
			l.rows++
			x = 0
		}
		l.entries = append(l.entries, placed{k, l.rows - 1, x})
		x += width + 36
	}
	return l
}

// more is the height of the rows after the first.
func (l *legend) more() float64 { return float64(l.rows-1) * legendRow }

// draw draws the legend above the data.
func (l *legend) draw(f *frame) {
	top := f.area.Max.Y + 8 + vg.Length(l.more())
	if l.unit != "" {
		f.text(vg.Point{X: f.area.Min.X, Y: top}, start, l.unit)
	}
	for i := range l.entries {
		e := &l.entries[i]
		x, y := f.area.Min.X+e.x, top-vg.Length(e.row)*legendRow
		e.key.draw(f, vg.Point{X: x + 7, Y: y + 4})
		f.text(vg.Point{X: x + 20, Y: y}, start, e.key.name)
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
