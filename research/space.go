package research

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Space is all sets of values of some dimensions. A set has a number: the first dimension changes
// slowest, and the numbers begin at 0.
type Space struct {
	dims []Dimension
	size uint64
}

// ErrEmptySpace means that a sweep has nothing to vary.
var ErrEmptySpace = errors.New("there is nothing to vary")

// maxSets is the largest number of sets of a space: a float64 counts exactly so far.
const maxSets = 1 << 53

// NewSpace joins the dimensions. Their keys differ.
func NewSpace(dims ...Dimension) (*Space, error) {
	if len(dims) == 0 {
		return nil, ErrEmptySpace
	}
	s := &Space{dims: slices.Clone(dims), size: 1}
	for i := range dims {
		n := uint64(len(dims[i].Values))
		switch {
		case n == 0:
			return nil, fmt.Errorf("%s: %w", dims[i].Key, ErrEmptySpace)
		case slices.ContainsFunc(dims[:i], func(d Dimension) bool { return d.Key == dims[i].Key }):
			return nil, fmt.Errorf("%s is varied twice", dims[i].Key)
		case s.size > maxSets/n:
			return nil, errors.New("the space has more than 2^53 sets")
		}
		s.size *= n
	}
	return s, nil
}

// Size is the number of sets, those that a constraint refuses included.
func (s *Space) Size() uint64 { return s.size }

// Dimensions are those of the space. The caller does not change them.
func (s *Space) Dimensions() []Dimension { return s.dims }

// Settings are the values of a set, in the order of the dimensions.
func (s *Space) Settings(set uint64) []Setting {
	settings := make([]Setting, len(s.dims))
	for i := range slices.Backward(s.dims) {
		values := s.dims[i].Values
		n := uint64(len(values))
		settings[i] = Setting{s.dims[i].Key, values[set%n]}
		set /= n
	}
	return settings
}

// Names are the keys of the dimensions for a person: the last part of each, unless two share it.
func (s *Space) Names() []string {
	settings := s.Settings(0)
	names := make([]string, len(settings))
	for i := range settings {
		names[i] = shortKey(settings, i)
	}
	return names
}

// Places are the places of a set's values in their dimensions.
func (s *Space) Places(set uint64) []int {
	at := make([]int, len(s.dims))
	for i := range slices.Backward(s.dims) {
		n := uint64(len(s.dims[i].Values))
		at[i] = int(set % n)
		set /= n
	}
	return at
}

// At is the number of the set at a point of the unit cube, which has a coordinate for each
// dimension. A coordinate beyond the cube is mirrored at its border, as often as it takes.
func (s *Space) At(point []float64) (set uint64) {
	for i := range s.dims {
		n := len(s.dims[i].Values)
		set = set*uint64(n) + uint64(min(int(mirrored(point[i])*float64(n)), n-1))
	}
	return set
}

// mirrored folds a number into [0, 1].
func mirrored(x float64) float64 {
	x = math.Abs(math.Mod(x, 2))
	if x > 1 {
		x = 2 - x
	}
	return x
}
