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

// largest is 2^127-1: a Value lies between it and its negative.
var largest = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1))

func fits(n *big.Int) bool { return n.CmpAbs(largest) <= 0 }

// valueOf makes a Value of an integer that fits.
func valueOf(t require.TestingT, n *big.Int) market.Value {
	v, err := market.ParseValue(n.String(), 0)
	require.NoError(t, err)
	return v
}

// drawBig draws an integer of any length up to 127 bits, and the ends of each limb more often than
// chance would.
func drawBig(t *rapid.T, label string) *big.Int {
	bits := rapid.SampledFrom([]int{0, 1, 8, 32, 63, 64, 65, 90, 110, 126, 127}).Draw(t, label+" bits")
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	if rapid.Bool().Draw(t, label+" below") {
		n.Sub(n, big.NewInt(1))
	} else {
		noise := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label+" noise"))
		n.Mod(noise, n)
	}
	if rapid.Bool().Draw(t, label+" negative") {
		n.Neg(n)
	}
	return n
}

// requireValue requires want where it fits a Value and ErrOverflow where it does not.
func requireValue(t *rapid.T, want *big.Int, got market.Value, err error) {
	if !fits(want) {
		require.ErrorIs(t, err, market.ErrOverflow)
		require.Zero(t, got)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want.String(), got.String())
}

func TestProductIsExactOrOverflows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, shift := drawInt64(t, "a"), drawInt64(t, "b"), rapid.Uint8Max(45).Draw(t, "shift")
		want := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		got, err := market.Product(a, b, shift)
		requireValue(t, want.Mul(want, bigPow10(shift)), got, err)
	})
}

func TestSumsAreExactOrOverflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawBig(t, "a"), drawBig(t, "b")
		v, w := valueOf(t, a), valueOf(t, b)
		sum, err := v.Add(w)
		requireValue(t, new(big.Int).Add(a, b), sum, err)
		difference, err := v.Sub(w)
		requireValue(t, new(big.Int).Sub(a, b), difference, err)
		require.Equal(t, new(big.Int).Neg(a).String(), v.Neg().String())
		require.Equal(t, a.Sign(), v.Sign())
		require.Equal(t, a.Cmp(b), v.Cmp(w))
	})
}

// -2^127 has a representation but no counterpart; were it let in, Neg would return it unchanged.
func TestSumsNeverReachTheSmallestInteger(t *testing.T) {
	bottom := valueOf(t, new(big.Int).Neg(largest))
	_, err := bottom.Sub(market.ValueOf(1))
	require.ErrorIs(t, err, market.ErrOverflow)
	_, err = bottom.Add(market.ValueOf(-1))
	require.ErrorIs(t, err, market.ErrOverflow)
}

func TestScalingIsExactOrOverflows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, n, digits := drawBig(t, "a"), drawInt64(t, "n"), rapid.Uint8Max(45).Draw(t, "digits")
		v := valueOf(t, a)
		product, err := v.MulInt(n)
		requireValue(t, new(big.Int).Mul(a, big.NewInt(n)), product, err)
		rated, err := v.MulRate(market.Rate(n))
		requireValue(t, new(big.Int).Mul(a, big.NewInt(n)), rated, err)
		scaled, err := v.ScaleUp(digits)
		requireValue(t, new(big.Int).Mul(a, bigPow10(digits)), scaled, err)
	})
}

func TestMoneyRoundsTheWayItsNameSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, drop := drawBig(t, "a"), rapid.Uint8Max(39).Draw(t, "drop")
		v, unit := valueOf(t, a), bigPow10(drop)
		floor, rest := new(big.Int).DivMod(a, unit, new(big.Int))
		ceil := new(big.Int).Set(floor)
		if rest.Sign() != 0 {
			ceil.Add(ceil, big.NewInt(1))
		}
		down, err := v.FloorMoney(drop)
		requireMoney(t, floor, down, err)
		up, err := v.CeilMoney(drop)
		requireMoney(t, ceil, up, err)
		exact, err := v.ExactMoney(drop)
		if err == nil || rest.Sign() == 0 {
			requireMoney(t, floor, exact, err)
		}
		require.True(t, err != nil || rest.Sign() == 0, "ExactMoney rounded %s by %d digits", v, drop)
	})
}

// requireMoney requires want where its magnitude fits an int64 and ErrOverflow where it does not.
func requireMoney(t require.TestingT, want *big.Int, got market.Money, err error) {
	if want.CmpAbs(big.NewInt(math.MaxInt64)) > 0 {
		require.ErrorIs(t, err, market.ErrOverflow)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want.Int64(), int64(got))
}

func TestNearestMoneyRoundsHalvesAwayFromZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, drop := drawBig(t, "a"), rapid.Uint8Max(30).Draw(t, "drop")
		half := new(big.Int).Div(bigPow10(drop), big.NewInt(2))
		moved := new(big.Int).Add(new(big.Int).Abs(a), half)
		if !fits(moved) {
			return // refused as an overflow, though the money itself may fit
		}
		want := new(big.Int).Quo(moved, bigPow10(drop))
		if a.Sign() < 0 {
			want.Neg(want)
		}
		got, err := valueOf(t, a).NearestMoney(drop)
		requireMoney(t, want, got, err)
	})
}

func TestExactMoneySaysWhatItWouldLose(t *testing.T) {
	_, err := market.ValueOf(1250).ExactMoney(2)
	require.ErrorIs(t, err, market.ErrInexact)
	got, err := market.ValueOf(-1200).ExactMoney(2)
	require.NoError(t, err)
	require.Equal(t, market.Money(-12), got)
}

func TestFloorQuoDividesBeforeItRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, by, shift := drawBig(t, "a"), drawInt64(t, "by"), rapid.Uint8Max(20).Draw(t, "shift")
		got, err := valueOf(t, a).FloorQuo(by, shift)
		scaled := new(big.Int).Mul(a, bigPow10(shift))
		if a.Sign() < 0 || by <= 0 || !fits(scaled) {
			require.ErrorIs(t, err, market.ErrOverflow)
			return
		}
		want := scaled.Quo(scaled, big.NewInt(by))
		if !want.IsInt64() {
			require.ErrorIs(t, err, market.ErrOverflow)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want.Int64(), got)
	})
}

func TestQuoIntRoundsTowardsZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, by := drawBig(t, "a"), drawInt64(t, "by")
		if by == 0 {
			return
		}
		require.Equal(t, new(big.Int).Quo(a, big.NewInt(by)).String(), valueOf(t, a).QuoInt(by).String())
	})
}

func TestPartIsTheShareRoundedTowardsZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, den := drawBig(t, "a"), rapid.OneOf(rapid.Int64Min(1), rapid.Int64Range(1, 100)).Draw(t, "den")
		num := rapid.OneOf(rapid.Int64Range(0, den), rapid.SampledFrom([]int64{0, 1, den - 1, den})).Draw(t, "num")
		want := new(big.Int).Mul(a, big.NewInt(num))
		want.Quo(want, big.NewInt(den))
		require.Equal(t, want.String(), valueOf(t, a).Part(num, den).String())
	})
}

// A position closed in parts pays out its whole cost: what Part rounds off stays for the last
// close.
func TestPartsAndRemainderAddUpToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cost := valueOf(t, drawBig(t, "cost"))
		amount := rapid.Int64Min(1).Draw(t, "amount")
		left, paid := cost, market.Value{}
		for amount > 0 {
			sold := rapid.Int64Range(1, amount).Draw(t, "sold")
			if rapid.IntRange(0, 3).Draw(t, "last") == 0 {
				sold = amount
			}
			part := left.Part(sold, amount)
			var err error
			paid, err = paid.Add(part)
			require.NoError(t, err)
			left, err = left.Sub(part)
			require.NoError(t, err)
			amount -= sold
		}
		require.Equal(t, cost, paid)
		require.Equal(t, market.Value{}, left)
	})
}

func TestValueIsWrittenAsDecimalWritesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, digits := drawBig(t, "a"), rapid.Uint8Max(28).Draw(t, "digits")
		v, want := valueOf(t, a), decimal.NewFromBigInt(a, -int32(digits))
		require.Equal(t, a.String(), v.String())
		require.Equal(t, want.String(), v.Format(digits))
		require.Equal(t, "x"+want.String(), string(v.Append([]byte("x"), digits)))
		require.True(t, want.Equal(v.Decimal(digits)))
		float, _ := new(big.Float).SetInt(a).Float64()
		require.InEpsilon(t, float+math.Copysign(1, float), v.Float(0)+math.Copysign(1, float), 1e-15)
		require.InDelta(t, float/math.Pow10(int(digits)), v.Float(digits),
			math.Abs(float)/math.Pow10(int(digits))*1e-15)
	})
}

func TestParseValueIsExactOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, have, digits := drawBig(t, "a"), rapid.Uint8Max(28).Draw(t, "have"), rapid.Uint8Max(28).Draw(t, "digits")
		text := decimal.NewFromBigInt(a, -int32(have)).String()
		got, err := market.ParseValue(text, digits)
		want := decimal.NewFromBigInt(a, int32(digits)-int32(have))
		if !want.IsInteger() {
			require.ErrorIs(t, err, market.ErrInexact)
			return
		}
		requireValue(t, want.BigInt(), got, err)
	})
}

func TestParseValueRefusesWhatParseFixedCallsNoNumber(t *testing.T) {
	for _, text := range []string{"", ".", ".-5", "1e", "NaN", "1 000", "0x1"} {
		_, err := market.ParseValue(text, 4)
		require.ErrorIs(t, err, market.ErrSyntax, text)
	}
	// too large before it is malformed
	for _, text := range []string{"1e2000000000", "1e3000000000", "99999999999999999999x"} {
		_, err := market.ParseValue(text, 4)
		require.ErrorIs(t, err, market.ErrOverflow, text)
	}
}

func FuzzParseValue(f *testing.F) {
	for _, text := range []string{"170141183460469231731687303715884105727", "-1.5e10", "0.00000000000000000000000001",
		".-5", "1e2000000000"} {
		f.Add(text, uint8(18))
	}
	f.Fuzz(func(t *testing.T, text string, digits uint8) {
		digits %= 29
		got, err := market.ParseValue(text, digits)
		if err != nil {
			require.Zero(t, got)
			return
		}
		again, err := market.ParseValue(got.Format(digits), digits)
		require.NoError(t, err)
		require.Equal(t, got, again)
		if want, err := decimal.NewFromString(text); err == nil && got.Sign() != 0 {
			require.True(t, want.Equal(got.Decimal(digits)), "%q", text)
		}
	})
}

func TestAValueSurvivesBeingText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		product, err := market.Product(rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b"), 0)
		require.NoError(t, err)
		text, err := product.MarshalText()
		require.NoError(t, err)
		require.Equal(t, product.String(), string(text))
		var back market.Value
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, product, back)
	})
	var v market.Value
	require.Error(t, v.UnmarshalText([]byte("1.5")))
	require.Error(t, v.UnmarshalText([]byte("twelve")))
}

// The edges of the quotients: results around the largest Money, and remainders of nothing, of one
// unit, of halves, and of one unit less than a whole.
func TestMoneyAtTheEdgesOfItsRange(t *testing.T) {
	one := big.NewInt(1)
	for drop := uint8(0); drop <= 38; drop++ {
		unit := bigPow10(drop)
		half := new(big.Int).Rsh(unit, 1)
		for _, bits := range []uint{0, 1, 62, 63, 64, 65} {
			for _, off := range []int64{-1, 0, 1} {
				whole := new(big.Int).Add(new(big.Int).Lsh(one, bits), big.NewInt(off))
				for _, rest := range []*big.Int{new(big.Int), one, half, new(big.Int).Sub(unit, one)} {
					n := new(big.Int).Add(new(big.Int).Mul(whole, unit), rest)
					requireMoneyOf(t, n, unit, drop)
					requireMoneyOf(t, n.Neg(n), unit, drop)
				}
			}
		}
	}
}

// requireMoneyOf compares FloorMoney and CeilMoney of n with math/big.
func requireMoneyOf(t *testing.T, n, unit *big.Int, drop uint8) {
	if !fits(n) {
		return
	}
	v := valueOf(t, n)
	floor, rest := new(big.Int).DivMod(n, unit, new(big.Int))
	down, err := v.FloorMoney(drop)
	requireMoney(t, floor, down, err)
	if rest.Sign() != 0 {
		floor.Add(floor, big.NewInt(1))
	}
	up, err := v.CeilMoney(drop)
	requireMoney(t, floor, up, err)
}
