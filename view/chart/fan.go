package chart

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// A Fan is the spread of many curves: rows of quantiles over X, from the lowest to the highest.
// Each pair is drawn as a band, and of an odd number the row in the middle as a line. A column with
// a NaN is a gap. X must not decrease. Role is Main unless set.
type Fan struct {
	Name      string
	Role      Role
	X         []float64
	Quantiles [][]float64 // [row][place in X]
}

const bandOpacity = 0.16

func (n Fan) check() error {
	if len(n.X) == 0 {
		return fmt.Errorf("X is empty")
	}
	if len(n.Quantiles) == 0 {
		return fmt.Errorf("Quantiles is empty")
	}
	for row, values := range n.Quantiles {
		if len(values) != len(n.X) {
			return fmt.Errorf("Quantiles[%d] has %d values, X has %d", row, len(values), len(n.X))
		}
	}
	seen := false
	for i, x := range n.X {
		if err := number(fmt.Sprintf("X[%d]", i), x); err != nil {
			return err
		}
		if i > 0 && x < n.X[i-1] {
			return fmt.Errorf("X[%d] is %v: it must not be less than the one before, %v", i, x, n.X[i-1])
		}
		for row := range n.Quantiles {
			if err := n.checkValue(row, i); err != nil {
				return err
			}
		}
		seen = seen || !n.missing(i)
	}
	if !seen {
		return fmt.Errorf("Quantiles has no place where all rows have a number")
	}
	return nil
}

func (n Fan) checkValue(row, i int) error {
	value := n.Quantiles[row][i]
	if err := missingOr(fmt.Sprintf("Quantiles[%d][%d]", row, i), value); err != nil {
		return err
	}
	if row > 0 && value < n.Quantiles[row-1][i] {
		return fmt.Errorf("Quantiles[%d][%d] is %v: it must not be less than the row below, %v",
			row, i, value, n.Quantiles[row-1][i])
	}
	return nil
}

// missing reports whether place i is a gap.
func (n Fan) missing(i int) bool {
	for _, values := range n.Quantiles {
		if math.IsNaN(values[i]) {
			return true
		}
	}
	return false
}

func (n Fan) extent(b *box) {
	addPoints(b, n.row(0))
	addPoints(b, n.row(len(n.Quantiles)-1))
}

// row returns a row as points, with the gaps of all rows.
func (n Fan) row(row int) []Point {
	points := make([]Point, len(n.X))
	for i, x := range n.X {
		points[i] = Point{x, n.Quantiles[row][i]}
		if n.missing(i) {
			points[i].Y = math.NaN()
		}
	}
	return points
}

func (n Fan) draw(f *frame) {
	role := n.Role.or(Main)
	half := len(n.Quantiles) / 2
	for row := range half {
		f.band(n.row(row), n.row(len(n.Quantiles)-1-row), paint{role, bandOpacity})
	}
	if n.line() {
		f.curve(n.row(half), solid(role), lineWidth, false)
	}
}

// line reports whether a row stands in the middle.
func (n Fan) line() bool { return len(n.Quantiles)%2 == 1 }

// band fills between two rows that have their gaps at the same places.
func (f *frame) band(low, high []Point, p paint) {
	below, above := f.graph(low), f.graph(high)
	var path vg.Path
	for i := range min(len(below), len(above)) {
		path.Move(f.at(below[i][0]))
		f.join(&path, below[i][1:])
		slices.Reverse(above[i])
		f.join(&path, above[i])
		path.Close()
	}
	f.fill(p, false, path)
}

func (n Fan) key() key {
	if !n.line() {
		return key{n.Name, paint{n.Role.or(Main), 2 * bandOpacity}, keyShape{}}
	}
	return key{n.Name, solid(n.Role.or(Main)), keyShape{line: true}}
}
