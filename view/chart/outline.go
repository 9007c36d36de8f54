package chart

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

// An Outline runs around cells of a heat map in the same panel, such as those of a plateau. Role is
// Third unless set.
type Outline struct {
	Name   string
	Role   Role
	Inside [][]bool // [row][column], as the map's Values
}

const outlineWidth = 2

func (o Outline) check() error {
	for i, row := range o.Inside {
		if len(row) != len(o.Inside[0]) {
			return fmt.Errorf("Inside[%d] has %d cells, the first row has %d", i, len(row), len(o.Inside[0]))
		}
	}
	if len(o.Inside) == 0 || len(o.Inside[0]) == 0 {
		return fmt.Errorf("Inside is empty")
	}
	return nil
}

func (o Outline) extent(b *box) {
	b.add(-0.5, -0.5)
	b.add(float64(len(o.Inside[0]))-0.5, float64(len(o.Inside))-0.5)
}

// in reports whether a cell is inside; there are none beyond the map.
func (o Outline) in(row, column int) bool {
	return row >= 0 && row < len(o.Inside) && column >= 0 && column < len(o.Inside[0]) && o.Inside[row][column]
}

// draw draws the edges between cells inside and cells outside; edges in a row are one line.
func (o Outline) draw(f *frame) {
	path := f.scratch[:0]
	rows, columns := len(o.Inside), len(o.Inside[0])
	for row := range rows + 1 {
		y := f.cellY(float64(row) - 0.5)
		edges(columns, func(i int) bool { return o.in(row-1, i) != o.in(row, i) }, func(from, to int) {
			path.Move(vg.Point{X: f.cellX(float64(from) - 0.5), Y: y})
			path.Line(vg.Point{X: f.cellX(float64(to) - 0.5), Y: y})
		})
	}
	for column := range columns + 1 {
		x := f.cellX(float64(column) - 0.5)
		edges(rows, func(i int) bool { return o.in(i, column-1) != o.in(i, column) }, func(from, to int) {
			path.Move(vg.Point{X: x, Y: f.cellY(float64(from) - 0.5)})
			path.Line(vg.Point{X: x, Y: f.cellY(float64(to) - 0.5)})
		})
	}
	f.stroke(solid(o.Role.or(Third)), outlineWidth, false, path)
	f.scratch = path
}

// edges calls draw for each longest run of places from 0 to n−1 that is has.
func edges(n int, is func(i int) bool, draw func(from, to int)) {
	from := -1
	for i := range n + 1 {
		switch {
		case i < n && is(i):
			if from < 0 {
				from = i
			}
		case from >= 0:
			draw(from, i)
			from = -1
		}
	}
}

func (o Outline) key() key {
	return key{o.Name, solid(o.Role.or(Third)), keyShape{line: true}}
}
