package market

import (
	"fmt"
	"math"
)

// Halves returns v as the two halves of a signed 128-bit integer, for storage; ValueOfHalves is the
// inverse.
func (v Value) Halves() (hi int64, lo uint64) { return v.hi, v.lo }

// ValueOfHalves is the inverse of Halves. It wraps ErrOverflow for -2^127, which no Value is.
func ValueOfHalves(hi int64, lo uint64) (Value, error) {
	if hi == math.MinInt64 && lo == 0 {
		return Value{}, fmt.Errorf("-2^127: %w", ErrOverflow)
	}
	return Value{hi: hi, lo: lo}, nil
}
