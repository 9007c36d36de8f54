package market_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// pair makes a market with these digits through a catalog.
func pair(t require.TestingT, price, amount, quote, quantity uint8) *market.Market {
	var c market.Catalog
	_, err := c.AddAsset("BTC", amount)
	require.NoError(t, err)
	_, err = c.AddAsset("EUR", quote)
	require.NoError(t, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: price, Rules: market.Rules{QuantityDecimals: quantity}}
	require.NoError(t, c.AddMarket(m))
	return m
}

func TestTheAmountForAValueIsTheFloorOfTheExactQuotient(t *testing.T) {
	cases := []struct {
		name                           string
		price, amount, quote, quantity uint8
		cash                           market.Money
		share                          market.Rate
		at                             market.Price
		want                           market.Qty
	}{
		{"whole units of the reference run", 2, 0, 8, 0, 10_000_000_00000000, 99_000_000, 6449_00, 1535},
		{"nothing is lost before the division", 2, 8, 2, 8, 1_00, 100_000_000, 3_00, 33_333_333},
		{"rounded down to the allowed decimals", 2, 8, 2, 4, 1_00, 100_000_000, 3_00, 33_330_000},
		{"exactly affordable", 0, 0, 0, 0, 100, 50_000_000, 25, 2},
		{"one unit short", 0, 0, 0, 0, 99, 50_000_000, 25, 1},
		{"no cash", 2, 8, 2, 8, 0, 99_000_000, 3_00, 0},
		{"debt", 2, 8, 2, 8, -5, 99_000_000, 3_00, 0},
		{"no price", 2, 8, 2, 8, 1_00, 99_000_000, 0, 0},
		{"beyond an int64", 2, 18, 2, 18, math.MaxInt64, 100_000_000, 1, 0},
	}
	for _, c := range cases {
		m := pair(t, c.price, c.amount, c.quote, c.quantity)
		require.Equal(t, c.want,
			m.RoundAmount(m.AmountFor(m.MoneyValue(c.cash).Part(int64(c.share), int64(market.Whole)), c.at)), c.name)
	}
}

func TestTheAmountForAValueEqualsRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.Uint8Range(0, 8)
		m := pair(t, digits.Draw(t, "price"), digits.Draw(t, "amount"), digits.Draw(t, "quote"),
			digits.Draw(t, "quantity"))
		cash := rapid.Int64Range(1, math.MaxInt64).Draw(t, "cash")
		share := rapid.Int64Range(1, 100_000_000).Draw(t, "share")
		price := rapid.Int64Range(1, math.MaxInt64).Draw(t, "at")

		quotient := new(big.Rat).SetFrac(big.NewInt(cash), big.NewInt(price))
		quotient.Mul(quotient, big.NewRat(share, 100_000_000))
		scale(quotient, int(m.PriceDigits)+int(m.AmountDigits)-int(m.QuoteDigits))
		floor := new(big.Int).Quo(quotient.Num(), quotient.Denom())
		want := int64(0)
		if floor.IsInt64() {
			want = market.FloorDigits(floor.Int64(), m.AmountDigits, m.QuantityDecimals)
		}
		value := m.MoneyValue(market.Money(cash)).Part(share, int64(market.Whole))
		require.Equal(t, market.Qty(want), m.RoundAmount(m.AmountFor(value, market.Price(price))))
	})
}

func scale(r *big.Rat, digits int) {
	ten := big.NewRat(10, 1)
	for ; digits > 0; digits-- {
		r.Mul(r, ten)
	}
	for ; digits < 0; digits++ {
		r.Quo(r, ten)
	}
}

func TestThePriceForAnAmountIsWhatAUnitCost(t *testing.T) {
	m := pair(t, 2, 4, 2, 4)
	cost, err := m.Value(100_00, 2_0000)
	require.NoError(t, err)
	more, err := m.Value(101_01, 1_0000)
	require.NoError(t, err)
	cost, err = cost.Add(more)
	require.NoError(t, err)
	// 100.336…
	require.Equal(t, market.Price(100_33), m.PriceFor(cost, 3_0000))
	require.Zero(t, m.PriceFor(market.Value{}, 0))

	fine := pair(t, 2, 0, 8, 0) // the quote asset has the finest decimals
	require.Equal(t, market.Price(12_34),
		fine.PriceFor(market.ValueOf(24_69000000), 2))
}

func TestTradableKnowsDust(t *testing.T) {
	m := pair(t, 2, 4, 2, 2)
	m.MinOrderInBase, m.MinOrderInQuote = 500, 5_00
	require.Equal(t, market.Qty(1_2300), m.Tradable(1_2345, 100_00))
	require.Equal(t, market.Qty(500), m.Tradable(500, 100_00))
	require.Zero(t, m.Tradable(499, 1000_00), "below the base minimum after rounding")
	require.Zero(t, m.Tradable(500, 99_99), "below the quote minimum")
	require.Zero(t, m.Tradable(-1_0000, 100_00))
}

func TestFractionsAreExactAndRoundTowardsZero(t *testing.T) {
	rate, err := market.ParseRate("12.5bps")
	require.NoError(t, err)
	require.Equal(t, market.Rate(125_000), rate)
	require.Equal(t, market.Price(12), market.Price(9_999).Part(rate)) // 12.49875
	require.Equal(t, market.Price(-12), market.Price(9_999).Part(-rate))
	// above 2^53: floats would miss it
	require.Equal(t, market.Price(11_529_215_046_068_469), market.Price(math.MaxInt64).Part(rate))
	require.Equal(t, market.Price(9_986), market.Price(9_999).Below(rate))  // 9986.50125
	require.Equal(t, market.Price(10_012), market.Price(9_999).Above(rate)) // 10011.49875
	require.Equal(t, market.Price(9_999), market.Price(9_999).Above(0))
	require.Equal(t, market.Price(9_999), market.Price(9_999).Below(0))
	require.Panics(t, func() { market.Price(math.MaxInt64).Above(rate) })
}

// Most fractions are reckoned in 64 bits. They equal those of numbers without a limit.
func TestFractionsEqualThoseOfLargeNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shift := rapid.IntRange(0, 61).Draw(t, "shift")
		price := market.Price(rapid.Int64Range(-1<<62, 1<<62).Draw(t, "price") >> shift)
		rate := market.Rate(rapid.Int64Range(0, int64(market.Whole)-1).Draw(t, "rate"))
		divide := func(by func(quotient, product, whole *big.Int) *big.Int, rate market.Rate) market.Price {
			product := new(big.Int).Mul(big.NewInt(int64(price)), big.NewInt(int64(rate)))
			return market.Price(by(new(big.Int), product, big.NewInt(int64(market.Whole))).Int64())
		}
		ceil := func(quotient, product, whole *big.Int) *big.Int {
			return quotient.Neg(quotient.Div(product.Neg(product), whole))
		}
		require.Equal(t, divide((*big.Int).Quo, rate), price.Part(rate))
		require.Equal(t, divide((*big.Int).Div, market.Whole-rate), price.Below(rate))
		require.Equal(t, divide(ceil, market.Whole+rate), price.Above(rate))
	})
}

func TestPricesRoundAsTheGateDoes(t *testing.T) {
	m := &market.Market{Rules: market.Rules{TickSize: 25}}
	require.Equal(t, market.Price(100), m.RoundPrice(market.Buy, 124))
	require.Equal(t, market.Price(125), m.RoundPrice(market.Sell, 101))
	require.Equal(t, market.Price(124), new(market.Market).RoundPrice(market.Buy, 124))
}

func TestARateHasAUnit(t *testing.T) {
	for text, want := range map[string]market.Rate{
		"5%": 5 * market.Percent, "0.25 %": 25 * market.BasisPoint, "12.5bps": 125_000, "0.05": 5 * market.Percent,
		"-0.005%": -50 * market.BasisPoint / 100, "1": market.Whole, "0.00000001": 1,
	} {
		rate, err := market.ParseRate(text)
		require.NoError(t, err, text)
		require.Equal(t, want, rate, text)
		back, err := market.ParseRate(rate.String())
		require.NoError(t, err)
		require.Equal(t, rate, back, rate.String())
	}
	_, err := market.ParseRate("0.00001bps")
	require.ErrorIs(t, err, market.ErrInexact)
	_, err = market.ParseRate("five%")
	require.ErrorIs(t, err, market.ErrSyntax)
}
