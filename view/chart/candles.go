package chart

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

// A Candle is the prices of a time. On the horizontal axis it takes the place from From to To.
type Candle struct{ From, To, Open, High, Low, Close float64 }

// Candles draws candles in two colours: Up where the close is not below the open, else Down. They
// are sorted by From. Candles that begin in the same column of a pixel are drawn as one.
type Candles struct {
	Name    string
	Candles []Candle
}

func (c Candles) check() error {
	if len(c.Candles) == 0 {
		return fmt.Errorf("Candles is empty")
	}
	for i := range c.Candles {
		one := &c.Candles[i]
		err := one.check()
		if err == nil && i > 0 && one.From < c.Candles[i-1].From {
			err = fmt.Errorf("From is %v: it must not be less than the one before, %v", one.From, c.Candles[i-1].From)
		}
		if err != nil {
			return fmt.Errorf("Candles[%d].%w", i, err)
		}
	}
	return nil
}

func (c *Candle) check() error {
	if err := checkSpan(c.From, c.To); err != nil {
		return err
	}
	names := [...]string{"Open", "High", "Low", "Close"}
	for i, price := range [...]float64{c.Open, c.High, c.Low, c.Close} {
		if err := number(names[i], price); err != nil {
			return err
		}
	}
	if least, most := min(c.Open, c.Close), max(c.Open, c.Close); c.Low > least || c.High < most {
		return fmt.Errorf("Low %v and High %v must enclose Open %v and Close %v", c.Low, c.High, c.Open, c.Close)
	}
	return nil
}

func (c Candles) extent(b *box) {
	for i := range c.Candles {
		b.add(c.Candles[i].From, c.Candles[i].Low)
		b.add(c.Candles[i].To, c.Candles[i].High)
	}
}

func (c Candles) draw(f *frame) {
	candles := merged(c.Candles, f)
	up, down := make(vg.Path, 0, 6*len(candles)), make(vg.Path, 0, 6*len(candles)) // of 10 steps a candle
	for i := range candles {
		one := &candles[i]
		if one.To <= f.shown.left || one.From >= f.shown.right || one.High < f.shown.low || one.Low > f.shown.high {
			continue
		}
		if one.Close >= one.Open {
			up = one.add(up, f)
		} else {
			down = one.add(down, f)
		}
	}
	f.fill(solid(Up), false, up)
	f.fill(solid(Down), false, down)
}

// merged merges the candles that begin in the same column.
func merged(candles []Candle, f *frame) []Candle {
	columns := f.columns()
	if len(candles) <= columns {
		return candles
	}
	out := make([]Candle, 0, columns+2)
	before := -2
	for _, c := range candles {
		place := column(c.From, f.shown.left, f.shown.right, columns)
		if place != before {
			out, before = append(out, c), place
			continue
		}
		one := &out[len(out)-1]
		one.To, one.Close = max(one.To, c.To), c.Close
		one.High, one.Low = max(one.High, c.High), min(one.Low, c.Low)
	}
	return out
}

// add appends wick and body as rectangles, so that all candles of a colour are one element. A
// candle of less than two pixels is its wick.
func (c *Candle) add(path vg.Path, f *frame) vg.Path {
	left, right := f.x(c.From), f.x(c.To)
	width, centre := right-left, (left+right)/2
	wick := min(max(width*0.8, 0.5), 1)
	low, high := atLeast(f.y(c.Low), f.y(c.High))
	rectangle(&path, centre-wick/2, low, centre+wick/2, high)
	if width < 2 {
		return path
	}
	low, high = atLeast(f.y(min(c.Open, c.Close)), f.y(max(c.Open, c.Close)))
	rectangle(&path, centre-width*0.36, low, centre+width*0.36, high)
	return path
}

// atLeast makes a height of less than a pixel one pixel.
func atLeast(low, high vg.Length) (vg.Length, vg.Length) {
	if high-low >= 1 {
		return low, high
	}
	centre := (low + high) / 2
	return centre - 0.5, centre + 0.5
}

func (c Candles) key() key { return key{c.Name, solid(Up), keyShape{}} }
