package market_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// drawDigits draws a number of decimals that an int64 can carry.
func drawDigits(t *rapid.T, label string) uint8 {
	return rapid.Uint8Max(market.MaxDigits).Draw(t, label)
}

// drawInt64 draws an integer of any size, its ends and the powers of ten more often than chance
// would.
func drawInt64(t *rapid.T, label string) int64 {
	edges := []int64{0, 1, -1, 9, 10, -10, 1e9, 1e18, -1e18, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1,
		math.MinInt64 + 1, 1 << 32, -1 << 32}
	return rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1000, 1000), rapid.SampledFrom(edges)).Draw(t, label)
}

func bigPow10(digits uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
}

func TestParseFixedAcceptsWhatFitsExactlyAndAgreesWithDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+]?[0-9]{1,20}(\.[0-9]{0,20}0{0,12})?`).Draw(t, "text")
		digits := drawDigits(t, "digits")
		want := decimal.RequireFromString(text).Shift(int32(digits))
		got, err := market.ParseFixed(text, digits)
		if want.IsInteger() && want.BigInt().IsInt64() {
			require.NoError(t, err)
			require.Equal(t, want.BigInt().Int64(), got)
			return
		}
		require.Zero(t, got)
		require.NotErrorIs(t, err, market.ErrSyntax)
		if want.IsInteger() {
			require.ErrorIs(t, err, market.ErrOverflow)
			return
		}
		require.Error(t, err) // ErrInexact, or ErrOverflow where the digits alone are too many
	})
}

func TestParseDecimalReturnsTheFewestDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, have := drawInt64(t, "value"), drawDigits(t, "digits")
		mantissa, digits, err := market.ParseDecimal(string(market.AppendFixedPadded(nil, value, have)))
		require.NoError(t, err)
		require.True(t, decimal.New(mantissa, -int32(digits)).Equal(decimal.New(value, -int32(have))))
		require.True(t, digits == 0 || mantissa%10 != 0, "%d with %d digits has a trailing zero", mantissa, digits)
	})
}

func TestParseFixedReadsEachForm(t *testing.T) {
	cases := []struct {
		text   string
		digits uint8
		want   int64
		err    error
	}{
		{"0", 2, 0, nil},
		{"-0.00", 2, 0, nil},
		{"+12.50", 2, 1250, nil},
		{".5", 1, 5, nil},
		{"7.", 0, 7, nil},
		{"1.5000000000000000000000000000000", 1, 15, nil}, // zeros cost no range
		{"000000000000000000000000000000007", 0, 7, nil},
		{"9223372036854775807", 0, math.MaxInt64, nil},
		{"-9223372036854775808", 0, math.MinInt64, nil},
		{"7.5E+4", 2, 7_500_000, nil}, // the exchange has sent it
		{"75e-3", 3, 75, nil},
		{"1200e-2", 0, 12, nil},
		{"0e99999", 0, 0, nil},
		{"0.001", 2, 0, market.ErrInexact},
		{"1e-19", 18, 0, market.ErrInexact},
		{"9223372036854775808", 0, 0, market.ErrOverflow},
		{"-9223372036854775809", 0, 0, market.ErrOverflow},
		{"92233720368547758.08", 3, 0, market.ErrOverflow},
		{"1e19", 0, 0, market.ErrOverflow},
		{"1e999999999", 0, 0, market.ErrOverflow},
		{"", 0, 0, market.ErrSyntax},
		{"-", 0, 0, market.ErrSyntax},
		{".", 0, 0, market.ErrSyntax},
		{"e5", 0, 0, market.ErrSyntax},
		{"1e", 0, 0, market.ErrSyntax},
		{"1e5.5", 0, 0, market.ErrSyntax},
		{"1.2.3", 0, 0, market.ErrSyntax},
		{"--1", 0, 0, market.ErrSyntax},
		{" 1", 0, 0, market.ErrSyntax},
		{"1 ", 0, 0, market.ErrSyntax},
		{"34,243", 0, 0, market.ErrSyntax},
		{"NaN", 0, 0, market.ErrSyntax},
		{"Inf", 0, 0, market.ErrSyntax},
		{"0x10", 0, 0, market.ErrSyntax},
		{"١", 0, 0, market.ErrSyntax}, // a digit, but not one of ours
	}
	for _, c := range cases {
		got, err := market.ParseFixed(c.text, c.digits)
		require.ErrorIs(t, err, c.err, c.text)
		require.Equal(t, c.want, got, c.text)
		fromBytes, _ := market.ParseFixed([]byte(c.text), c.digits)
		require.Equal(t, got, fromBytes)
	}
}

func TestLongTextIsCutInErrors(t *testing.T) {
	long := make([]byte, 10_000)
	for i := range long {
		long[i] = '9'
	}
	_, err := market.ParseFixed(long, 0)
	require.ErrorIs(t, err, market.ErrOverflow)
	require.Less(t, len(err.Error()), 100)
}

func TestFormatFixedIsReadBackAndEqualsDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, digits := drawInt64(t, "value"), drawDigits(t, "digits")
		text := market.FormatFixed(value, digits)
		require.Equal(t, decimal.New(value, -int32(digits)).String(), text)
		require.Equal(t, "p="+text, string(market.AppendFixed([]byte("p="), value, digits)))
		require.Equal(t, decimal.New(value, -int32(digits)).StringFixed(int32(digits)),
			string(market.AppendFixedPadded(nil, value, digits)))
		got, err := market.ParseFixed(text, digits)
		require.NoError(t, err)
		require.Equal(t, value, got)
	})
}

func TestRescaleIsExactOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, from, to := drawInt64(t, "value"), rapid.Uint8Max(2*market.MaxDigits).
			Draw(t, "from"), rapid.Uint8Max(2*market.MaxDigits).Draw(t, "to")
		got, err := market.Rescale(value, from, to)
		want := decimal.New(value, -int32(from)).Shift(int32(to))
		switch {
		case !want.IsInteger():
			require.ErrorIs(t, err, market.ErrInexact)
		case !want.BigInt().IsInt64():
			require.ErrorIs(t, err, market.ErrOverflow)
		default:
			require.NoError(t, err)
			require.Equal(t, want.BigInt().Int64(), got)
		}
	})
}

func TestFloorToAndCeilToAreTheNearestMultiplesThatFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, step := drawInt64(t, "value"), drawInt64(t, "step")
		if step <= 0 {
			require.Equal(t, value, market.FloorTo(value, step))
			require.Equal(t, value, market.CeilTo(value, step))
			return
		}
		down := new(big.Int).Div(big.NewInt(value), big.NewInt(step)) // Euclidean: floor for a positive step
		down.Mul(down, big.NewInt(step))
		up := new(big.Int).Set(down)
		if up.Cmp(big.NewInt(value)) != 0 {
			up.Add(up, big.NewInt(step))
		}
		if !down.IsInt64() {
			down.Set(up)
		}
		if !up.IsInt64() {
			up.Set(down)
		}
		require.Equal(t, down.Int64(), market.FloorTo(value, step))
		require.Equal(t, up.Int64(), market.CeilTo(value, step))
	})
}

func TestFloorDigitsDropsDecimals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, have, keep := rapid.Int64Min(-math.MaxInt64/2).Draw(t, "value"), drawDigits(t, "have"), drawDigits(t,
			"keep")
		got := market.FloorDigits(market.Qty(value), have, keep)
		want := decimal.New(value, -int32(have)).RoundFloor(int32(min(keep, have)))
		if want.Shift(int32(have)).BigInt().IsInt64() {
			require.True(t, want.Equal(market.ToDecimal(int64(got), have)), "%d", got)
		}
	})
}

func TestAddRefusesToWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawInt64(t, "a"), drawInt64(t, "b")
		want := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		got, err := market.Add(market.Money(a), market.Money(b))
		if !want.IsInt64() {
			require.ErrorIs(t, err, market.ErrOverflow)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want.Int64(), int64(got))
	})
}

func TestPow10CountsZeros(t *testing.T) {
	for digits := range uint8(market.MaxDigits + 1) {
		require.Equal(t, bigPow10(digits).Int64(), market.Pow10(digits))
	}
	require.Panics(t, func() { market.Pow10(market.MaxDigits + 1) })
}

func FuzzParseFixed(f *testing.F) {
	for _, text := range []string{"12.5", "-0.00000001", "7.5E+4", "9223372036854775807", "1e-18", ".5", "+.e1",
		"0e1"} {
		f.Add(text, uint8(8))
	}
	f.Fuzz(func(t *testing.T, text string, digits uint8) {
		digits %= market.MaxDigits + 1
		got, err := market.ParseFixed(text, digits)
		if err != nil {
			require.Zero(t, got)
			return
		}
		again, err := market.ParseFixed(market.FormatFixed(got, digits), digits)
		require.NoError(t, err)
		require.Equal(t, got, again)
		if want, err := decimal.NewFromString(text); err == nil && got != 0 {
			require.True(t, want.Equal(market.ToDecimal(got, digits)), "%q", text)
		}
	})
}
