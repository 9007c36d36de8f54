package main

import (
	"context"
	"errors"
	"strings"
)

// errAbsent says that a revision lacks the benchmark or program of a source.
var errAbsent = errors.New("absent")

// source measures some rows at once, on one side or the other.
type source struct {
	name string
	rows []string // nil where only a run finds them

	// prepare builds the program that measure runs; it returns errAbsent if the tree lacks it.
	prepare func(context.Context, *tree) error
	// measure runs once and returns the figures.
	measure func(context.Context, *tree) ([]figure, error)
}

// figure is a measured value of a row. A unit that ends in /s is a rate: more is better. Of all
// others less is better.
type figure struct {
	row, unit string
	value     float64
}

// same reports whether f is of the same row and unit as other.
func (f figure) same(other figure) bool { return f.row == other.row && f.unit == other.unit }

// cost returns the value as something of which less is better.
func (f figure) cost() float64 {
	if strings.HasSuffix(f.unit, "/s") {
		return 1 / f.value
	}
	return f.value
}
