package chart

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

// A Bridge is the way from one value to another: steps below each other, each a bar from where the
// step before has ended. A bar is Up where its step rises, else Down, unless Role is set. In a
// chart with a bridge, Axis.Low and High of its panel stay zero: the vertical axis shows the names
// of the steps.
type Bridge struct {
	Role  Role
	Steps []Step // from top to bottom
}

// Step is a row of a Bridge. With From equal to To it is a mark at a value.
type Step struct {
	Name      string
	Label     string // beside its bar, such as the difference in words
	From, To  float64
	Low, High float64 // a thin line through the bar, such as the range of To; equal: none
}

const (
	stepHeight = 0.3 // half the height of a bar, in rows
	labelGap   = 6
)

func (s Bridge) check() error {
	if len(s.Steps) == 0 {
		return fmt.Errorf("Steps is empty")
	}
	for i := range s.Steps {
		one := &s.Steps[i]
		names := [...]string{"From", "To", "Low", "High"}
		for j, value := range [...]float64{one.From, one.To, one.Low, one.High} {
			if err := number(names[j], value); err != nil {
				return fmt.Errorf("Steps[%d].%w", i, err)
			}
		}
		if one.Low > one.High {
			return fmt.Errorf("Steps[%d].Low is %v: it must not be above High, %v", i, one.Low, one.High)
		}
	}
	return nil
}

// extent leaves room for the labels on both sides.
func (s Bridge) extent(b *box) {
	inner := emptyBox()
	for i := range s.Steps {
		one := &s.Steps[i]
		inner.add(one.From, 0)
		inner.add(one.To, 0)
		if one.Low != one.High {
			inner.add(one.Low, 0)
			inner.add(one.High, 0)
		}
	}
	left, right := widened(inner.left, inner.right)
	room := (right - left) / 6
	b.add(left-room, -0.5)
	b.add(right+room, float64(len(s.Steps))-0.5)
}

// row is the place of a step on the vertical axis.
func (s Bridge) row(step int) float64 { return float64(len(s.Steps) - 1 - step) }

func (s Bridge) draw(f *frame) {
	var up, down, marks, lines, ranges vg.Path
	for i := range s.Steps {
		one := &s.Steps[i]
		low, high := f.y(s.row(i)-stepHeight), f.y(s.row(i)+stepHeight)
		left, right := f.x(min(one.From, one.To)), f.x(max(one.From, one.To))
		switch {
		case one.From == one.To:
			rectangle(&marks, left-1.5, low, left+1.5, high)
		case one.From < one.To:
			rectangle(&up, left, low, right, high)
		default:
			rectangle(&down, left, low, right, high)
		}
		if i > 0 { // from the end of the step before
			lines.Move(vg.Point{X: f.x(one.From), Y: f.y(s.row(i-1) - stepHeight)})
			lines.Line(vg.Point{X: f.x(one.From), Y: high})
		}
		if one.Low != one.High {
			ranges.Move(f.at(Point{one.Low, s.row(i)}))
			ranges.Line(f.at(Point{one.High, s.row(i)}))
			left, right = min(left, f.x(one.Low)), max(right, f.x(one.High))
		}
		s.label(f, one, left, right, f.y(s.row(i)))
	}
	f.stroke(solid(Quiet), 1, true, lines)
	f.fill(solid(s.Role.or(Up)), false, up)
	f.fill(solid(s.Role.or(Down)), false, down)
	f.fill(solid(Main), false, marks)
	f.stroke(solid(Ink), 1, false, ranges)
}

// label writes a step's label to the right of its bar, or to the left where there is more room.
func (s Bridge) label(f *frame, one *Step, left, right, y vg.Length) {
	switch text := shorten(one.Label); {
	case text == "":
	case f.area.Max.X-right >= left-f.area.Min.X || f.area.Max.X-right >= vg.Length(textWidth(text))+labelGap:
		f.text(vg.Point{X: right + labelGap, Y: y - 4}, start, text)
	default:
		f.text(vg.Point{X: left - labelGap, Y: y - 4}, end, text)
	}
}

func (s Bridge) names() (columns, rows []string) {
	for i := range s.Steps {
		rows = append(rows, s.Steps[len(s.Steps)-1-i].Name)
	}
	return nil, rows
}

func (s Bridge) key() key { return key{} }
