package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
)

// A Bar is a value of a range, such as the profit of a month or the count of a class. NaN is no
// bar.
type Bar struct{ From, To, Value float64 }

// Bars stand on zero, each with a little room at its sides. Without a Role they are Up from zero on
// and Down below.
type Bars struct {
	Name string
	Role Role
	Bars []Bar
}

func (s Bars) check() error {
	if len(s.Bars) == 0 {
		return fmt.Errorf("Bars is empty")
	}
	seen := false
	for i, b := range s.Bars {
		err := checkSpan(b.From, b.To)
		if err == nil {
			err = missingOr("Value", b.Value)
		}
		if err != nil {
			return fmt.Errorf("Bars[%d].%w", i, err)
		}
		seen = seen || !math.IsNaN(b.Value)
	}
	if !seen {
		return fmt.Errorf("Bars has no Value that is a number")
	}
	return nil
}

func (s Bars) extent(b *box) {
	for _, one := range s.Bars {
		b.add(one.From, 0)
		b.add(one.To, one.Value)
	}
}

func (s Bars) draw(f *frame) {
	var up, down vg.Path
	for _, b := range s.Bars {
		if math.IsNaN(b.Value) || b.To <= f.shown.left || b.From >= f.shown.right {
			continue
		}
		left, right := f.x(b.From), f.x(b.To)
		room := (right - left) * 0.1
		low, high := f.y(min(b.Value, 0)), f.y(max(b.Value, 0))
		switch {
		case low == high: // zero, or outside
		case b.Value < 0:
			rectangle(&down, left+room, low, right-room, high)
		default:
			rectangle(&up, left+room, low, right-room, high)
		}
	}
	f.fill(solid(s.Role.or(Up)), false, up)
	f.fill(solid(s.Role.or(Down)), false, down)
}

func (s Bars) key() key { return key{s.Name, solid(s.Role.or(Up)), keyShape{}} }
