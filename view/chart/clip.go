package chart

import (
	"cmp"
	"math"
	"slices"
)

// crossed inserts a point wherever a segment of the line crosses an edge of the box, exactly on
// that edge.
func crossed(points []Point, b box) []Point {
	inside := func(p Point) bool {
		return math.IsNaN(p.Y) || p.X >= b.left && p.X <= b.right && p.Y >= b.low && p.Y <= b.high
	}
	if !slices.ContainsFunc(points, func(p Point) bool { return !inside(p) }) {
		return points
	}
	out := make([]Point, 0, len(points)+16)
	for i, p := range points {
		if i > 0 && !(inside(p) && inside(points[i-1])) && !math.IsNaN(p.Y) && !math.IsNaN(points[i-1].Y) {
			out = appendCrossings(out, points[i-1], p, b)
		}
		out = append(out, p)
	}
	return out
}

// appendCrossings appends the crossings of the segment from p to q in their order.
func appendCrossings(out []Point, p, q Point, b box) []Point {
	type crossing struct {
		t float64 // the part of the segment before it
		Point
	}
	var found []crossing
	cross := func(from, to, edge float64, vertical bool) {
		t := (edge - from) / (to - from)
		if !(t > 0 && t < 1) {
			return
		}
		at := Point{p.X + t*(q.X-p.X), p.Y + t*(q.Y-p.Y)}
		if vertical {
			at.X = edge
		} else {
			at.Y = edge
		}
		found = append(found, crossing{t, at})
	}
	cross(p.X, q.X, b.left, true)
	cross(p.X, q.X, b.right, true)
	cross(p.Y, q.Y, b.low, false)
	cross(p.Y, q.Y, b.high, false)
	slices.SortStableFunc(found, func(a, b crossing) int { return cmp.Compare(a.t, b.t) })
	for _, c := range found {
		out = append(out, c.Point)
	}
	return out
}

// runs splits points where one is missing or keep refuses it.
func runs(points []Point, keep func(Point) bool) [][]Point {
	var all [][]Point
	from := 0
	for i := range len(points) + 1 {
		if i < len(points) && !math.IsNaN(points[i].Y) && keep(points[i]) {
			continue
		}
		if i > from {
			all = append(all, points[from:i])
		}
		from = i + 1
	}
	return all
}
