package chart

import (
	"cmp"
	"fmt"
	"math"
)

// The numbers that can be drawn. Their differences and products with pixels stay finite.
const (
	largest  = 1e100
	smallest = 1e-100 // closer to zero: drawn as zero
	year1    = -62135596800.0
	year9999 = 253402300799.0
)

// check returns an error that names the first place that cannot be drawn.
func (c *Chart) check() error {
	if err := length("Width", c.width(), minWidth); err != nil {
		return err
	}
	if err := c.X.check(); err != nil {
		return fmt.Errorf("X.%w", err)
	}
	if c.X.Log {
		return fmt.Errorf("X.Log is for a panel's axis")
	}
	if len(c.Panels) == 0 {
		return fmt.Errorf("Panels is empty")
	}
	height := 0.0
	for i := range c.Panels {
		if err := c.Panels[i].check(); err != nil {
			return fmt.Errorf("Panels[%d].%w", i, err)
		}
		height += c.Panels[i].height()
	}
	if height > maxLength || height*c.width() > maxArea {
		return fmt.Errorf("a picture of %.0f × %.0f is too large: at most %d a side, and %d in all",
			c.width(), height, maxLength, maxArea)
	}
	return nil
}

func (p *Panel) check() error {
	if err := length("Height", p.height(), minHeight); err != nil {
		return err
	}
	if err := p.Y.check(); err != nil {
		return fmt.Errorf("Y.%w", err)
	}
	if len(p.Layers) == 0 {
		return fmt.Errorf("Layers is empty")
	}
	b := emptyBox()
	for i, layer := range p.Layers {
		if layer == nil {
			return fmt.Errorf("Layers[%d] is nil", i)
		}
		if err := layer.check(); err != nil {
			return fmt.Errorf("Layers[%d].%w", i, err)
		}
		layer.extent(&b)
	}
	if p.Y.Log && (!(b.low > smallest) || p.Y.fixed() && !(p.Y.Low > smallest) || p.named() != nil) {
		return fmt.Errorf("Y.Log is for values above zero, and the least is %v", min(b.low, p.Y.Low))
	}
	return nil
}

func (c *Chart) width() float64 { return cmp.Or(c.Width, defaultWidth) }

func (p *Panel) height() float64 { return cmp.Or(p.Height, defaultHeight) }

func length(name string, value, least float64) error {
	if !(value >= least && value <= maxLength) { // also for NaN
		return fmt.Errorf("%s is %v: it must be from %v to %v", name, value, least, maxLength)
	}
	return nil
}

// fixed reports whether the axis has ends of its own.
func (a Axis) fixed() bool { return a.Low != 0 || a.High != 0 }

func (a Axis) check() error {
	if err := cmp.Or(number("Low", a.Low), number("High", a.High)); err != nil {
		return err
	}
	if a.fixed() && !(a.Low < a.High) {
		return fmt.Errorf("Low is %v: it must be less than High, %v", a.Low, a.High)
	}
	return nil
}

// number refuses NaN and numbers that are too large to draw.
func number(name string, value float64) error {
	if math.IsNaN(value) {
		return fmt.Errorf("%s is NaN", name)
	}
	if math.Abs(value) > largest {
		return fmt.Errorf("%s is %v: it must be from -1e100 to 1e100", name, value)
	}
	return nil
}

// missingOr is number, but lets NaN pass.
func missingOr(name string, value float64) error {
	if math.IsNaN(value) {
		return nil
	}
	return number(name, value)
}

// checkPoints wants at least one point with a Y, and each X a number; sorted also wants no X less
// than the one before.
func checkPoints(points []Point, sorted bool) error {
	if len(points) == 0 {
		return fmt.Errorf("Points is empty")
	}
	seen := false
	for i, p := range points {
		err := number("X", p.X)
		if err == nil {
			err = missingOr("Y", p.Y)
		}
		if err == nil && sorted && i > 0 && p.X < points[i-1].X {
			err = fmt.Errorf("X is %v: it must not be less than the one before, %v", p.X, points[i-1].X)
		}
		if err != nil {
			return fmt.Errorf("Points[%d].%w", i, err)
		}
		seen = seen || !math.IsNaN(p.Y)
	}
	if !seen {
		return fmt.Errorf("Points has no Y that is a number")
	}
	return nil
}

// checkSpan wants from < to.
func checkSpan(from, to float64) error {
	if err := cmp.Or(number("From", from), number("To", to)); err != nil {
		return err
	}
	if !(from < to) {
		return fmt.Errorf("From is %v: it must be less than To, %v", from, to)
	}
	return nil
}
