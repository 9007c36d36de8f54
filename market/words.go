package market

import "fmt"

// Words returns v as the two halves of a signed 128-bit integer, for those who store it;
// ValueOfWords is the inverse.
func (v Value) Words() (hi int64, lo uint64) { return v.hi, v.lo }

// ValueOfWords returns the Value that Words took apart. It wraps ErrOverflow for -2^127, which no
// Value is.
func ValueOfWords(hi int64, lo uint64) (Value, error) {
	v := Value{hi: hi, lo: lo}
	if v == smallest {
		return Value{}, fmt.Errorf("-2^127: %w", ErrOverflow)
	}
	return v, nil
}
