package chart

import "math"

// thin leaves at most the lowest and the highest point of each pixel column, in their order, and
// one point beyond each end of the range, so that the line still leads there. Points are sorted by
// X. A gap (NaN) stays a gap unless it lies between two points of one column. Where all points fit,
// they are returned as they are.
func thin(points []Point, left, right float64, columns int) []Point {
	points = within(points, left, right)
	if len(points) <= 2*columns {
		return points
	}
	kept := make([]Point, 0, 2*columns+2)
	for from := 0; from < len(points); {
		to, place := from+1, column(points[from].X, left, right, columns)
		for to < len(points) && column(points[to].X, left, right, columns) == place {
			to++
		}
		kept = appendColumn(kept, points[from:to])
		from = to
	}
	return kept
}

// within drops the points that lie outside the range, but for the last one before it and the first
// one after it.
func within(points []Point, left, right float64) []Point {
	from, to := 0, len(points)
	for from+1 < to && points[from+1].X < left {
		from++
	}
	for to-1 > from && points[to-2].X > right {
		to--
	}
	return points[from:to]
}

// column returns the pixel column of x; -1 and columns are those outside the range.
func column(x, left, right float64, columns int) int {
	switch {
	case x < left:
		return -1
	case x > right:
		return columns
	}
	return min(int((x-left)/(right-left)*float64(columns)), columns-1)
}

// appendColumn appends the points to keep of one column.
func appendColumn(kept, group []Point) []Point {
	low, high := -1, -1
	for i, p := range group {
		if math.IsNaN(p.Y) {
			continue
		}
		if low < 0 || p.Y < group[low].Y {
			low = i
		}
		if high < 0 || p.Y > group[high].Y {
			high = i
		}
	}
	if low < 0 || math.IsNaN(group[0].Y) {
		kept = append(kept, Point{group[0].X, math.NaN()})
	}
	if low < 0 {
		return kept
	}
	kept = append(kept, group[min(low, high)])
	if low != high {
		kept = append(kept, group[max(low, high)])
	}
	if last := group[len(group)-1]; math.IsNaN(last.Y) {
		kept = append(kept, last)
	}
	return kept
}
