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

// Histogram counts values in n classes of equal width between their least and greatest, which are
// the outer edges. Values that are no number are left out; without any, there is no bar.
func Histogram(values []float64, n int) []Bar {
	b := emptyBox()
	for _, x := range values {
		if !math.IsInf(x, 0) {
			b.add(x, 0)
		}
	}
	if b.left > b.right {
		return nil
	}
	low, high := widened(b.left, b.right)
	bars := make([]Bar, n)
	for i := range bars {
		bars[i].From = low + (high-low)*float64(i)/float64(n)
		bars[i].To = low + (high-low)*float64(i+1)/float64(n)
	}
	for _, x := range values {
		if !(x >= low && x <= high) {
			continue
		}
		i := min(int((x-low)/(high-low)*float64(n)), n-1)
		for i > 0 && x < bars[i].From {
			i--
		}
		for i < n-1 && x >= bars[i].To {
			i++
		}
		bars[i].Value++
	}
	return bars
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
