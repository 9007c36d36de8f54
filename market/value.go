package market

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/shopspring/decimal"
)

// Value is an exact amount of quote currency: a signed 128-bit integer in units of
// 10^-Market.ValueDigits. A price times an amount, a sum of fees, the cost of a position are
// Values, so that nothing is rounded before it is settled. The zero Value is zero. Methods that can
// leave the range return an error wrapping ErrOverflow.
type Value struct {
	hi int64
	lo uint64
}

// ValueOf returns n units.
func ValueOf(n int64) Value { return Value{hi: n >> 63, lo: uint64(n)} }

// Product returns a·b·10^shift exactly.
func Product(a, b int64, shift uint8) (v Value, err error) {
	if v = product(a, b); shift != 0 {
		v, err = scaledProduct(a, b, shift)
	}
	return v, err
}

// product returns a·b: two numbers of 63 bits and a sign always fit.
func product(a, b int64) Value {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return Value{hi: int64(hi) - a>>63&b - b>>63&a, lo: lo} // less the terms that the signs add to the unsigned product
}

func scaledProduct(a, b int64, shift uint8) (Value, error) {
	v, err := product(a, b).ScaleUp(shift)
	if err != nil {
		return Value{}, fmt.Errorf("%d × %d × 10^%d: %w", a, b, shift, ErrOverflow)
	}
	return v, nil
}

// Add returns v+w.
func (v Value) Add(w Value) (Value, error) {
	lo, carry := bits.Add64(v.lo, w.lo, 0)
	hi := v.hi + w.hi + int64(carry)
	if (v.hi^hi)&(w.hi^hi) < 0 || hi == math.MinInt64 && lo == 0 {
		return Value{}, sumOverflow{v, w, "+"}
	}
	return Value{hi, lo}, nil
}

// Sub returns v-w.
func (v Value) Sub(w Value) (Value, error) {
	lo, borrow := bits.Sub64(v.lo, w.lo, 0)
	hi := v.hi - w.hi - int64(borrow)
	if (v.hi^w.hi)&(v.hi^hi) < 0 || hi == math.MinInt64 && lo == 0 {
		return Value{}, sumOverflow{v, w, "-"}
	}
	return Value{hi, lo}, nil
}

// sumOverflow is a sum or a difference that leaves the range. -2^127 has no counterpart: no
// function of this package returns it. It is a type of its own so that Add and Sub are small enough
// to be inlined.
type sumOverflow struct {
	v, w Value
	sign string
}

func (e sumOverflow) Error() string {
	return fmt.Sprintf("%s %s %s: %v", e.v, e.sign, e.w, ErrOverflow)
}

func (e sumOverflow) Unwrap() error { return ErrOverflow }

// Neg returns -v.
func (v Value) Neg() Value {
	lo, borrow := bits.Sub64(0, v.lo, 0)
	hi, _ := bits.Sub64(0, uint64(v.hi), borrow)
	return Value{hi: int64(hi), lo: lo}
}

// Sign returns -1, 0 or 1.
func (v Value) Sign() int {
	switch {
	case v.hi < 0:
		return -1
	case v.hi == 0 && v.lo == 0:
		return 0
	}
	return 1
}

// Cmp returns -1, 0 or 1 as v is below, equal to or above w.
func (v Value) Cmp(w Value) int {
	switch {
	case v.hi < w.hi || (v.hi == w.hi && v.lo < w.lo):
		return -1
	case v == w:
		return 0
	}
	return 1
}

// MulRate returns v·rate in units finer by RateDigits, exactly.
func (v Value) MulRate(rate Rate) (Value, error) { return v.MulInt(int64(rate)) }

// MulInt returns v·n.
func (v Value) MulInt(n int64) (Value, error) {
	if v.hi == int64(v.lo)>>63 {
		return product(int64(v.lo), n), nil
	}
	return v.mulLarge(n)
}

// mulLarge is MulInt for values of more than 64 bits.
func (v Value) mulLarge(n int64) (Value, error) {
	hi, lo := v.abs()
	overHi, midLo := bits.Mul64(hi, magnitude(n))
	carryHi, resultLo := bits.Mul64(lo, magnitude(n))
	resultHi, carry := bits.Add64(midLo, carryHi, 0)
	if overHi != 0 || carry != 0 || resultHi > math.MaxInt64 {
		return Value{}, fmt.Errorf("%s × %d: %w", v, n, ErrOverflow)
	}
	product := Value{hi: int64(resultHi), lo: resultLo}
	if (v.hi < 0) != (n < 0) {
		product = product.Neg()
	}
	return product, nil
}

// ScaleUp returns v·10^digits: the same amount in finer units.
func (v Value) ScaleUp(digits uint8) (Value, error) {
	if digits == 0 {
		return v, nil
	}
	return v.times10(digits)
}

// times10 is ScaleUp by at least one digit.
func (v Value) times10(digits uint8) (Value, error) {
	hi, lo := v.abs()
	scaled, ok := scaleUp(hi, lo, digits)
	if !ok {
		return Value{}, fmt.Errorf("%s × 10^%d: %w", v, digits, ErrOverflow)
	}
	if v.hi < 0 {
		scaled = scaled.Neg()
	}
	return scaled, nil
}

// FloorMoney returns v in units coarser by drop decimals, rounded towards minus infinity.
func (v Value) FloorMoney(drop uint8) (Money, error) { return v.toMoney(drop, v.hi < 0) }

// CeilMoney returns v in units coarser by drop decimals, rounded towards plus infinity.
func (v Value) CeilMoney(drop uint8) (Money, error) { return v.toMoney(drop, v.hi >= 0) }

// NearestMoney returns v in units coarser by drop decimals, rounded to the nearest, halves away
// from zero.
func (v Value) NearestMoney(drop uint8) (Money, error) {
	if drop == 0 {
		return v.toMoney(0, false)
	}
	half, err := ValueOf(5).ScaleUp(drop - 1)
	if err != nil {
		return 0, err
	}
	if v.hi < 0 {
		half = half.Neg()
	}
	sum, err := v.Add(half)
	if err != nil {
		return 0, err
	}
	return sum.toMoney(drop, false)
}

// ExactMoney returns v in units coarser by drop decimals, or an error wrapping ErrInexact where
// digits would be lost.
func (v Value) ExactMoney(drop uint8) (Money, error) {
	down, err := v.FloorMoney(drop)
	if err != nil {
		return 0, err
	}
	if back, err := ValueOf(int64(down)).ScaleUp(drop); err != nil || back != v {
		return 0, fmt.Errorf("%s units of 10^-%d: %w", v, drop, ErrInexact)
	}
	return down, nil
}

// toMoney divides by 10^drop; away says whether a remainder moves the magnitude up by one.
func (v Value) toMoney(drop uint8, away bool) (Money, error) {
	hi, lo := v.abs()
	if drop > MaxDigits || hi >= uint64(pow10[drop])/4 {
		return v.muchToMoney(drop, away)
	}
	units, rest := bits.Div64(hi, lo, uint64(pow10[drop])) // less than 2^62
	if rest != 0 && away {
		units++
	}
	if v.hi < 0 {
		return -Money(units), nil
	}
	return Money(units), nil
}

// muchToMoney is toMoney for what may leave a Money, or is divided by 1 or by much.
//
//go:noinline
func (v Value) muchToMoney(drop uint8, away bool) (Money, error) {
	hi, lo := v.abs()
	units, rest := quoPow10(hi, lo, drop)
	if rest && away && units <= math.MaxInt64 {
		units++
	}
	if units > math.MaxInt64 {
		return 0, fmt.Errorf("%s ÷ 10^%d: %w", v, drop, ErrOverflow)
	}
	if v.hi < 0 {
		return -Money(units), nil
	}
	return Money(units), nil
}

// FloorQuo returns v·10^shift ÷ by as an int64 rounded towards zero; v must not be negative and by
// must be positive.
func (v Value) FloorQuo(by int64, shift uint8) (int64, error) {
	if v.hi < 0 || by <= 0 {
		return 0, fmt.Errorf("%s ÷ %d: %w", v, by, ErrOverflow)
	}
	scaled, err := v.ScaleUp(shift)
	if err != nil {
		return 0, err
	}
	if uint64(scaled.hi) >= uint64(by) {
		return 0, fmt.Errorf("%s × 10^%d ÷ %d: %w", v, shift, by, ErrOverflow)
	}
	quotient, _ := bits.Div64(uint64(scaled.hi), scaled.lo, uint64(by))
	if quotient > math.MaxInt64 {
		return 0, fmt.Errorf("%s × 10^%d ÷ %d: %w", v, shift, by, ErrOverflow)
	}
	return int64(quotient), nil
}

// QuoInt returns v ÷ by rounded towards zero; by must not be zero.
func (v Value) QuoInt(by int64) Value {
	hi, lo := v.abs()
	divisor := magnitude(by)
	high, rest := hi/divisor, hi%divisor
	low, _ := bits.Div64(rest, lo, divisor)
	quotient := Value{hi: int64(high), lo: low}
	if (v.hi < 0) != (by < 0) {
		quotient = quotient.Neg()
	}
	return quotient
}

// Part returns v·num/den rounded towards zero, the share of a cost that num of den units carry. It
// needs 0 ≤ num ≤ den and den > 0, and never overflows.
func (v Value) Part(num, den int64) Value {
	if num == den {
		return v
	}
	return v.part(num, den)
}

func (v Value) part(num, den int64) Value {
	hi, lo := v.abs()
	// 192-bit product n2:n1:n0 of the magnitude and num, divided by den limb by limb.
	h1, l1 := bits.Mul64(hi, uint64(num))
	h0, n0 := bits.Mul64(lo, uint64(num))
	n1, carry := bits.Add64(l1, h0, 0)
	n2 := h1 + carry
	_, rest := n2/uint64(den), n2%uint64(den)
	q1, rest := bits.Div64(rest, n1, uint64(den))
	q0, _ := bits.Div64(rest, n0, uint64(den))
	part := Value{hi: int64(q1), lo: q0}
	if v.hi < 0 {
		part = part.Neg()
	}
	return part
}

// Float returns v·10^-digits, for statistics only.
func (v Value) Float(digits uint8) float64 {
	hi, lo := v.abs()
	f := (float64(hi)*(1<<64) + float64(lo)) / math.Pow10(int(digits))
	if v.hi < 0 {
		return -f
	}
	return f
}

// String returns the units as an integer.
func (v Value) String() string { return v.big().String() }

// MarshalText writes the units as an integer.
func (v Value) MarshalText() ([]byte, error) { return v.Append(nil, 0), nil }

// UnmarshalText reads the text of MarshalText; errors are those of ParseFixed.
func (v *Value) UnmarshalText(text []byte) (err error) {
	*v, err = ParseValue(string(text), 0)
	return err
}

// Format writes v·10^-digits as a plain decimal without trailing zeros.
func (v Value) Format(digits uint8) string { return string(v.Append(nil, digits)) }

// Append is Format into a buffer.
func (v Value) Append(dst []byte, digits uint8) []byte {
	if v.hi == int64(v.lo)>>63 {
		return AppendFixed(dst, int64(v.lo), digits)
	}
	return append(dst, v.Decimal(digits).String()...)
}

// Decimal returns v·10^-digits, exactly.
func (v Value) Decimal(digits uint8) decimal.Decimal {
	return decimal.NewFromBigInt(v.big(), -int32(digits))
}

// ParseValue reads a decimal as a Value of the given decimals; errors are those of ParseFixed.
func ParseValue(text string, digits uint8) (Value, error) {
	n, err := ParseFixed(text, digits)
	switch {
	case err == nil:
		return ValueOf(n), nil
	case errors.Is(err, ErrSyntax):
		return Value{}, err
	}
	d, malformed := decimal.NewFromString(text)
	if malformed != nil || len(text) > 64 {
		return Value{}, err
	}
	if d.Exponent() > MaxDigits*2 || d.Exponent() < -MaxDigits*2 {
		return Value{}, fmt.Errorf("%q: %w", clip(text), ErrOverflow)
	}
	d = d.Shift(int32(digits))
	if !d.IsInteger() {
		return Value{}, fmt.Errorf("%q has more than %d decimals: %w", clip(text), digits, ErrInexact)
	}
	whole := d.BigInt()
	if whole.BitLen() > 127 {
		return Value{}, fmt.Errorf("%q: %w", clip(text), ErrOverflow)
	}
	var abs big.Int
	abs.Abs(whole)
	v := Value{hi: int64(new(big.Int).Rsh(&abs, 64).Uint64()), lo: new(big.Int).
		And(&abs, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}
	if whole.Sign() < 0 {
		v = v.Neg()
	}
	return v, nil
}

func (v Value) big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(v.hi), 64)
	return n.Add(n, new(big.Int).SetUint64(v.lo))
}

func (v Value) abs() (hi, lo uint64) {
	if v.hi < 0 {
		v = v.Neg()
	}
	return uint64(v.hi), v.lo
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// scaleUp multiplies hi:lo by 10^digits and reports whether the result is a non-negative Value.
func scaleUp(hi, lo uint64, digits uint8) (Value, bool) {
	for digits > MaxDigits {
		v, ok := scaleUp(hi, lo, MaxDigits)
		if !ok {
			return Value{}, false
		}
		hi, lo, digits = uint64(v.hi), v.lo, digits-MaxDigits
	}
	factor := uint64(pow10[digits])
	over, high := bits.Mul64(hi, factor)
	carry, low := bits.Mul64(lo, factor)
	high, c := bits.Add64(high, carry, 0)
	return Value{hi: int64(high), lo: low}, over == 0 && c == 0 && high <= math.MaxInt64
}

// quoPow10 divides hi:lo by 10^digits and reports whether a remainder was dropped. It returns 2^63
// where the quotient is more.
func quoPow10(hi, lo uint64, digits uint8) (quotient uint64, dropped bool) {
	if digits > MaxDigits {
		by := uint64(pow10[MaxDigits])
		low, rest := bits.Div64(hi%by, lo, by)
		quotient, dropped = quoPow10(hi/by, low, digits-MaxDigits)
		return quotient, dropped || rest != 0
	}
	by := uint64(pow10[digits])
	if hi >= by {
		return 1 << 63, false
	}
	quotient, rest := bits.Div64(hi, lo, by)
	return min(quotient, 1<<63), rest != 0
}
