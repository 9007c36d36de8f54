package indicator

import "math/bits"

// int128 is an integer in two's complement that wraps at 2^128. Sums of squares and of weighted
// prices stay within it wherever the sum of the prices fits an int64.
type int128 struct {
	hi, lo uint64
}

// wide is x as an int128.
func wide[T ~int64](x T) int128 { return int128{uint64(x >> 63), uint64(x)} }

// product is a·b.
func product[A, B ~int64](a A, b B) int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int128{hi - uint64(a>>63)&uint64(b) - uint64(b>>63)&uint64(a), lo}
}

func (u int128) plus(v int128) int128 {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	hi, _ := bits.Add64(u.hi, v.hi, carry)
	return int128{hi, lo}
}

func (u int128) minus(v int128) int128 {
	lo, borrow := bits.Sub64(u.lo, v.lo, 0)
	hi, _ := bits.Sub64(u.hi, v.hi, borrow)
	return int128{hi, lo}
}

func (u int128) times(n int) int128 {
	hi, lo := bits.Mul64(u.lo, uint64(n))
	return int128{hi + u.hi*uint64(n), lo}
}

func (u int128) float() float64 {
	if int64(u.hi) < 0 {
		return -int128{}.minus(u).float()
	}
	return float64(u.hi)*0x1p64 + float64(u.lo)
}
