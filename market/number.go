package market

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/shopspring/decimal"
)

// MaxDigits is the largest number of decimals a fixed-point number may carry: 10^18 is the last
// power of ten in an int64.
const MaxDigits = 18

// Price is quote currency per one unit of base, in units of 10^-Market.PriceDigits.
type Price int64

// Qty is an amount of a market's base asset, in units of 10^-Market.AmountDigits. AmountDigits
// equals the base asset's Digits, so a Qty and the Money of a base balance count the same unit.
type Qty int64

// Money is an amount of one asset, in units of 10^-Asset.Digits. The field that holds it names the
// asset.
type Money int64

// Volume is the base amount traded in a candle, in units of 10^-Market.VolumeDigits.
type Volume int64

// Rate is a fraction in units of 10^-8: a fee of 0.25 % is 250_000. A rebate is negative.
type Rate int64

// RateDigits is the number of decimals of a Rate.
const RateDigits = 8

// The units of a Rate, used as those of package time are: 3*market.Percent is 3 %.
const (
	BasisPoint Rate = 1e4 // a hundredth of a percent
	Percent    Rate = 1e6
	Whole      Rate = 1e8 // 100 %
)

// ErrOverflow is wrapped by every arithmetic error of this package that left its type's range.
var ErrOverflow = errors.New("overflow")

// ErrInexact is wrapped when a conversion would have to round.
var ErrInexact = errors.New("not exact")

// ErrSyntax is wrapped when a text is no decimal number.
var ErrSyntax = errors.New("not a decimal number")

// pow10 holds 10^0 … 10^18.
var pow10 = [MaxDigits + 1]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	1e16, 1e17, 1e18}

// Pow10 returns 10^digits. It panics outside 0…MaxDigits.
func Pow10(digits uint8) int64 { return pow10[digits] }

// ParseFixed reads a plain decimal ("-12.50", "3", "0.001") as an integer of the given decimals.
// More decimals than fit are accepted only while they are zero; otherwise the error wraps
// ErrInexact. A value outside int64 wraps ErrOverflow, anything that is not [-+]digits[.digits]
// wraps ErrSyntax. Scientific notation is read too ("7.5E+4"): the exchange has sent it.
func ParseFixed[T ~string | ~[]byte](text T, digits uint8) (int64, error) {
	mantissa, have, err := ParseDecimal(text)
	if err != nil {
		return 0, err
	}
	value, err := Rescale(mantissa, have, digits)
	if err != nil {
		return 0, fmt.Errorf("%q with %d decimals: %w", clip(string(text)), digits, err)
	}
	return value, nil
}

// ParseDecimal reads a decimal as mantissa·10^-digits with as few digits as the text has after
// dropping trailing zeros of the fraction. Errors are those of ParseFixed.
func ParseDecimal[T ~string | ~[]byte](text T) (mantissa int64, digits uint8, err error) {
	at, limit := 0, uint64(math.MaxInt64)
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		limit++
	}
	if negative || len(text) > 0 && text[0] == '+' {
		at++
	}
	value, fraction, at, err := scanDigits(text, at, limit)
	if err == nil && at < len(text) {
		value, fraction, err = applyExponent(string(text), at, value, fraction)
	}
	switch {
	case err != nil:
		return 0, 0, err
	case value == 0:
		return 0, 0, nil
	case fraction > MaxDigits:
		return 0, 0, fmt.Errorf("%q: more than %d decimals: %w", clip(string(text)), MaxDigits, ErrInexact)
	}
	mantissa = int64(value)
	if negative {
		mantissa = -mantissa
	}
	return mantissa, uint8(fraction), nil
}

// scanDigits reads digits[.digits] from text[at] on, up to limit, and returns value·10^-fraction
// and the place behind it. It holds trailing zeros of the fraction back until another digit
// follows: they cost no range.
func scanDigits[T ~string | ~[]byte](text T, at int, limit uint64) (value uint64, fraction, end int, err error) {
	seen, zeros, point, fits := 0, 0, false, true
	for ; at < len(text); at++ {
		digit := text[at] - '0'
		if text[at] == '.' && !point {
			point = true
			continue
		}
		if digit > 9 {
			break
		}
		seen++
		if point {
			if digit == 0 {
				zeros++
				continue
			}
			for fraction++; zeros > 0 && fits; zeros-- {
				value, fits = appendDigit(value, 0, limit)
				fraction++
			}
		}
		if fits {
			value, fits = appendDigit(value, uint64(digit), limit)
		}
		if !fits {
			return 0, 0, at, fmt.Errorf("%q: %w", clip(string(text)), ErrOverflow)
		}
	}
	if seen == 0 {
		return 0, 0, at, fmt.Errorf("%q: %w", clip(string(text)), ErrSyntax)
	}
	return value, fraction, at, nil
}

// appendDigit returns value·10 + digit and whether it is at most limit.
func appendDigit(value, digit, limit uint64) (uint64, bool) {
	next := value*10 + digit
	return next, value < math.MaxInt64/10 || value == math.MaxInt64/10 && next <= limit
}

// applyExponent folds the "e±n" that starts at text[at] into value·10^-fraction.
func applyExponent(text string, at int, value uint64, fraction int) (uint64, int, error) {
	if text[at] != 'e' && text[at] != 'E' {
		return 0, 0, fmt.Errorf("%q: %w", clip(text), ErrSyntax)
	}
	exponent, err := strconv.Atoi(text[at+1:])
	if err != nil {
		return 0, 0, fmt.Errorf("%q: %w", clip(text), ErrSyntax)
	}
	if value == 0 {
		return 0, 0, nil
	}
	if exponent > 64 || exponent < -64 {
		return 0, 0, fmt.Errorf("%q: %w", clip(text), ErrOverflow)
	}
	fraction -= exponent
	for ; fraction < 0; fraction++ {
		if value > math.MaxInt64/10 {
			return 0, 0, fmt.Errorf("%q: %w", clip(text), ErrOverflow)
		}
		value *= 10
	}
	for ; fraction > 0 && value%10 == 0; fraction-- {
		value /= 10
	}
	return value, fraction, nil
}

// Rescale turns value·10^-from into units of 10^-to. It wraps ErrInexact where digits would be lost
// and ErrOverflow where the result leaves int64.
func Rescale(value int64, from, to uint8) (int64, error) {
	switch {
	case from == to || value == 0:
		return value, nil
	case from > to+MaxDigits:
		return 0, fmt.Errorf("%d·10^-%d has more than %d decimals: %w", value, from, to, ErrInexact)
	case to > from+MaxDigits:
		return 0, fmt.Errorf("%d·10^-%d with %d decimals: %w", value, from, to, ErrOverflow)
	case from > to:
		unit := pow10[from-to]
		if value%unit != 0 {
			return 0, fmt.Errorf("%s has more than %d decimals: %w", FormatFixed(value, from), to, ErrInexact)
		}
		return value / unit, nil
	}
	product, ok := mulInt64(value, pow10[to-from])
	if !ok {
		return 0, fmt.Errorf("%s with %d decimals: %w", FormatFixed(value, from), to, ErrOverflow)
	}
	return product, nil
}

// FormatFixed writes value·10^-digits as a plain decimal without trailing zeros: 12.5, -0.001, 3.
func FormatFixed(value int64, digits uint8) string {
	return string(AppendFixed(make([]byte, 0, 24), value, digits))
}

// AppendFixed is FormatFixed into a buffer.
func AppendFixed(dst []byte, value int64, digits uint8) []byte {
	magnitude := uint64(value)
	if value < 0 {
		dst = append(dst, '-')
		magnitude = -magnitude
	}
	for digits > 0 && magnitude%10 == 0 {
		magnitude /= 10
		digits--
	}
	return appendPoint(dst, magnitude, digits)
}

// AppendFixedPadded appends value·10^-digits with all its decimals: 12.50 for money of two digits.
func AppendFixedPadded(dst []byte, value int64, digits uint8) []byte {
	magnitude := uint64(value)
	if value < 0 {
		dst = append(dst, '-')
		magnitude = -magnitude
	}
	return appendPoint(dst, magnitude, digits)
}

// appendPoint appends magnitude with a decimal point before its last digits.
func appendPoint(dst []byte, magnitude uint64, digits uint8) []byte {
	if digits == 0 {
		return strconv.AppendUint(dst, magnitude, 10)
	}
	var buf [40]byte
	at := len(buf)
	for n := uint8(0); n < digits; n++ {
		at--
		buf[at] = byte('0' + magnitude%10)
		magnitude /= 10
	}
	at--
	buf[at] = '.'
	for {
		at--
		buf[at] = byte('0' + magnitude%10)
		magnitude /= 10
		if magnitude == 0 {
			return append(dst, buf[at:]...)
		}
	}
}

// ToDecimal converts value·10^-digits; it is always exact.
func ToDecimal(value int64, digits uint8) decimal.Decimal { return decimal.New(value, -int32(digits)) }

// FloorTo rounds value down to a multiple of step, saturating at the smallest multiple that fits. A
// step of zero or less changes nothing.
func FloorTo[T ~int64](value, step T) T {
	if step <= 1 {
		return value
	}
	rest := value % step
	if rest < 0 && value-rest >= math.MinInt64+step {
		rest += step
	}
	return value - rest
}

// CeilTo rounds value up to a multiple of step, saturating at the largest multiple that fits.
func CeilTo[T ~int64](value, step T) T {
	floor := FloorTo(value, step)
	if floor >= value || floor > math.MaxInt64-step {
		return floor
	}
	return floor + step
}

// FloorDigits drops decimals: it rounds value, which has `have` decimals, down to `keep` decimals
// and leaves it in its unit.
func FloorDigits[T ~int64](value T, have, keep uint8) T {
	if keep >= have {
		return value
	}
	return FloorTo(value, T(pow10[have-keep]))
}

// Add returns a+b, or an error that wraps ErrOverflow and names both.
func Add[T ~int64](a, b T) (T, error) {
	sum := a + b
	if (sum > a) == (b > 0) {
		return sum, nil
	}
	return 0, sumError{int64(a), int64(b)}
}

// sumError is a sum that leaves int64. It is a type of its own so that Add is small enough to be
// inlined.
type sumError struct{ a, b int64 }

func (e sumError) Error() string { return fmt.Sprintf("%d + %d: %v", e.a, e.b, ErrOverflow) }

func (e sumError) Unwrap() error { return ErrOverflow }

// mulInt64 multiplies and reports whether the product fits.
func mulInt64(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	product := a * b
	if product/b != a || (a == -1 && b == math.MinInt64) || (b == -1 && a == math.MinInt64) {
		return 0, false
	}
	return product, true
}

// clip keeps foreign text short in an error.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}
