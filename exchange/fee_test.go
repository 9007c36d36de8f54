package exchange_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// feeMarket returns a market with the given decimals.
func feeMarket(t require.TestingT, price, base, quote uint8) *market.Market {
	catalog := &market.Catalog{}
	_, err := catalog.AddAsset("BTC", base)
	require.NoError(t, err)
	_, err = catalog.AddAsset("EUR", quote)
	require.NoError(t, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: price,
		Rules: market.Rules{QuantityDecimals: base, NotionalDecimals: quote}}
	require.NoError(t, catalog.AddMarket(m))
	return m
}

func rate(t require.TestingT, text string) market.Rate {
	n, err := market.ParseFixed(text, market.RateDigits)
	require.NoError(t, err)
	return market.Rate(n)
}

// Amounts, prices and fees as the exchange stated them for real orders (fixtures/fee_vectors.json).
func TestFeesAreThoseTheExchangeTook(t *testing.T) {
	cases := []struct {
		side                       market.Side
		amount, price, rate, gross string
		fee                        string
	}{
		{market.Sell, "0.00020002", "34469", "0.0025", "6.89448938", "0.02448938"}, // 6.8772… credited as 6.87
		{market.Sell, "0.0002", "34464", "0.0025", "6.8928", "0.0228"},
		{market.Sell, "0.249825", "183.49", "0.0025", "45.84038925", "0.12038925"},
		{market.Sell, "0.05", "1800.4", "0.0025", "90.02", "0.23"},
		{market.Buy, "0.1", "4000", "0.0025", "400", "1"},
		{market.Buy, "0.1", "4000", "0.002", "400", "0.8"},
	}
	m := feeMarket(t, 2, 8, 2)
	for _, c := range cases {
		for _, rounding := range [...]exchange.FeeRounding{exchange.RoundOrder, exchange.RoundFill} {
			price, err := m.ParsePrice(c.price)
			require.NoError(t, err)
			amount, err := m.ParseQty(c.amount)
			require.NoError(t, err)
			var s exchange.Settlement
			gross, err := m.Value(price, amount)
			require.NoError(t, err)
			cash, fee, err := s.Fill(m, c.side, gross, rate(t, c.rate), rounding)
			require.NoError(t, err)
			require.Equal(t, c.fee, m.FormatValue(fee))
			require.Equal(t, c.gross, m.FormatValue(gross))
			require.Equal(t, signed(c.side, gross, fee), m.MoneyValue(cash))
		}
	}
}

// signed returns what a fill moves in quote: the value and the fee for a buyer, the value without
// it for a seller.
func signed(side market.Side, gross, fee market.Value) market.Value {
	if side == market.Sell {
		fee = fee.Neg()
	}
	sum, err := gross.Add(fee)
	if err != nil {
		panic(err)
	}
	return sum
}

func TestABuyByQuoteAmountGetsTheBaseThatTheExchangeGave(t *testing.T) {
	m := feeMarket(t, 5, 8, 2)
	amount := exchange.BaseForMoney(m, 40_00, 57751, rate(t, "0.0025"))
	require.Equal(t, "69.09014454", m.FormatQty(amount))
	var s exchange.Settlement
	gross, err := m.Value(57751, amount)
	require.NoError(t, err)
	fee, err := s.FillRest(m, gross, 40_00)
	require.NoError(t, err)
	require.Equal(t, "0.0997506267046", m.FormatValue(fee))
	require.Equal(t, "39.9002493732954", m.FormatValue(gross))
}

func TestHoldsAreThoseTheExchangeStated(t *testing.T) {
	cases := []struct{ amount, price, want string }{
		{"0.0003", "30000", "9.03"}, // 9.0225 rounded up
		{"0.0003", "31000", "9.33"},
		{"1", "3000", "3007.5"},
		{"0.5", "3000", "1503.75"},
	}
	m := feeMarket(t, 2, 8, 2)
	for _, c := range cases {
		price, err := m.ParsePrice(c.price)
		require.NoError(t, err)
		amount, err := m.ParseQty(c.amount)
		require.NoError(t, err)
		o := market.Order{Side: market.Buy, Type: market.TypeLimit,
			OrderState: market.OrderState{Price: price, Amount: amount, AmountRemaining: amount}}
		hold, err := exchange.Hold(m, &o, exchange.Fees{Maker: rate(t, "0.0015"), Taker: rate(t, "0.0025")}, 0)
		require.NoError(t, err)
		require.Equal(t, c.want, m.FormatMoney(hold))
	}
}

func TestHoldFollowsTheKindOfOrder(t *testing.T) {
	m := feeMarket(t, 2, 8, 2)
	fees := exchange.Fees{Maker: -1_000_000, Taker: 1_000_000} // ±1 %: a hold counts with the dearer of the two
	cases := []struct {
		name string
		o    market.Order
		want market.Money
	}{
		{"a limit buy: price, amount and fee",
			market.Order{Side: market.Buy, Type: market.TypeLimit,
				OrderState: market.OrderState{Price: 90_00, AmountRemaining: 2e8}}, 181_80},
		{"a limit sell: its base",
			market.Order{Side: market.Sell, Type: market.TypeLimit,
				OrderState: market.OrderState{Price: 90_00, AmountRemaining: 2e8}}, 2e8},
		{"a market buy: the reference price",
			market.Order{Side: market.Buy, Type: market.TypeMarket,
				OrderState: market.OrderState{AmountRemaining: 2e8}}, 202_00},
		{"a market buy by quote: what it may spend",
			market.Order{Side: market.Buy, Type: market.TypeMarket,
				OrderState: market.OrderState{AmountQuote: 50_00, AmountQuoteRemaining: 30_00}}, 30_00},
		{"a market sell by quote: the base for it",
			market.Order{Side: market.Sell, Type: market.TypeMarket,
				OrderState: market.OrderState{AmountQuote: 50_00, AmountQuoteRemaining: 50_00}}, 5e7},
		{"a stop buy: its trigger price",
			market.Order{Side: market.Buy, Type: market.TypeStopLoss,
				OrderState: market.OrderState{TriggerAmount: 120_00, AmountRemaining: 1e8}}, 121_20},
		{"a stop buy that has fired: the reference price",
			market.Order{Side: market.Buy, Type: market.TypeStopLoss,
				OrderState: market.OrderState{TriggerAmount: 120_00, Triggered: true, AmountRemaining: 1e8}}, 101_00},
		{"a stop limit buy: its limit", market.Order{Side: market.Buy, Type: market.TypeStopLossLimit,
			OrderState: market.OrderState{Price: 130_00, TriggerAmount: 120_00, AmountRemaining: 1e8}}, 131_30},
		{"a stop sell by quote: the base at its trigger price",
			market.Order{Side: market.Sell, Type: market.TypeStopLoss,
				OrderState: market.OrderState{TriggerAmount: 50_00, AmountQuote: 50_00, AmountQuoteRemaining: 50_00}},
			1e8},
	}
	for _, c := range cases {
		hold, err := exchange.Hold(m, &c.o, fees, 100_00)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, hold, c.name)
	}
}

func TestAHoldCoversTheDearerFeeWhicheverItIs(t *testing.T) {
	m := feeMarket(t, 2, 8, 2)
	o := market.Order{Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Price: 100_00, AmountRemaining: 1e8}}
	for _, fees := range [...]exchange.Fees{{Maker: 1_000_000}, {Taker: 1_000_000}} {
		hold, err := exchange.Hold(m, &o, fees, 0)
		require.NoError(t, err)
		require.Equal(t, market.Money(101_00), hold)
	}
}

func TestFeeRoundingIsReadAsItIsWritten(t *testing.T) {
	for _, rounding := range [...]exchange.FeeRounding{exchange.RoundOrder, exchange.RoundFill, exchange.RoundNearest} {
		got, err := exchange.ParseFeeRounding(rounding.String())
		require.NoError(t, err)
		require.Equal(t, rounding, got)
	}
	_, err := exchange.ParseFeeRounding("up")
	require.ErrorContains(t, err, "order, fill, none")
}

// digits draws decimals that a catalog accepts.
func digits(t *rapid.T) *market.Market {
	price := rapid.Uint8Range(0, 10).Draw(t, "price digits")
	base := rapid.Uint8Range(0, 10).Draw(t, "base digits")
	quote := rapid.Uint8Range(0, 18).Draw(t, "quote digits")
	if price+base > min(28, 18+quote) {
		t.Skip("the catalog takes no such market")
	}
	return feeMarket(t, price, base, quote)
}

// ratio returns n·10^-digits exactly.
func ratio(n int64, digits uint8) *big.Rat {
	return new(big.Rat).Quo(new(big.Rat).SetInt64(n), new(big.Rat).
		SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)))
}

// floor returns the largest integer not above r; ceil the smallest not below.
func floor(r *big.Rat) *big.Int {
	quotient, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() < 0 {
		quotient.Sub(quotient, big.NewInt(1))
	}
	return quotient
}

func ceil(r *big.Rat) *big.Int { return new(big.Int).Neg(floor(new(big.Rat).Neg(r))) }

// units returns r in units of 10^-digits.
func units(r *big.Rat, digits uint8) *big.Rat { return new(big.Rat).Quo(r, ratio(1, digits)) }

func plus(rate market.Rate) *big.Rat { return ratio(1e8+int64(rate), market.RateDigits) }

func TestBaseForMoneyIsTheMostThatMoneyBuys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := digits(t)
		m.QuantityDecimals = rapid.Uint8Range(0, m.AmountDigits).Draw(t, "quantity decimals")
		money := rapid.Int64Range(1, math.MaxInt64).Draw(t, "money")
		price := rapid.Int64Range(1, math.MaxInt64).Draw(t, "price")
		fee := market.Rate(rapid.Int64Range(-100_000, 10_000_000).Draw(t, "rate"))
		got := exchange.BaseForMoney(m, market.Money(money), market.Price(price), fee)
		exact := new(big.Rat).Quo(new(big.Rat).Quo(ratio(money, m.QuoteDigits), plus(fee)), ratio(price, m.PriceDigits))
		if most := ratio(math.MaxInt64, m.AmountDigits); exact.Cmp(most) > 0 {
			exact = most // nobody offers more
		}
		want := floor(units(exact, m.QuantityDecimals))
		want.Mul(want, big.NewInt(market.Pow10(m.AmountDigits-m.QuantityDecimals)))
		require.Equal(t, want.String(), fmt.Sprint(int64(got)))
	})
}

func TestCostIsRoundedUpFromTheExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := digits(t)
		amount := rapid.Int64Range(1, 1e12).Draw(t, "amount")
		price := rapid.Int64Range(1, 1e9).Draw(t, "price")
		fee := market.Rate(rapid.Int64Range(-100_000, 10_000_000).Draw(t, "rate"))
		got, err := exchange.Cost(m, market.Price(price), market.Qty(amount), fee)
		exact := new(big.Rat).Mul(new(big.Rat).Mul(ratio(price, m.PriceDigits), ratio(amount, m.AmountDigits)),
			plus(fee))
		want := ceil(units(exact, m.QuoteDigits))
		if err != nil {
			require.ErrorIs(t, err, market.ErrOverflow)
			require.Greater(t, want.BitLen(), 60)
			return
		}
		require.Equal(t, want.String(), fmt.Sprint(int64(got)))
	})
}

func TestBaseForMoneyCostsNoMoreThanTheMoney(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := feeMarket(t, rapid.Uint8Range(0, 5).Draw(t, "price digits"), rapid.Uint8Range(0, 8).Draw(t, "base digits"),
			2)
		money := market.Money(rapid.Int64Range(1, 1e10).Draw(t, "money"))
		price := market.Price(rapid.Int64Range(1e3, 1e9).Draw(t, "price"))
		fee := market.Rate(rapid.Int64Range(0, 1_000_000).Draw(t, "rate"))
		amount := exchange.BaseForMoney(m, money, price, fee)
		cost, err := exchange.Cost(m, price, amount, fee)
		require.NoError(t, err)
		require.LessOrEqual(t, cost, money)
		more, err := exchange.Cost(m, price, amount+1, fee)
		require.NoError(t, err)
		require.Greater(t, more, money, "one unit more is affordable too")
	})
}

// Several fills of one order: each moves its value and its fee exactly; rounded by order, the sum
// is the exact sum rounded once; rounded by fill, it is that of the rounded parts.
func TestSettlementRoundsWhereItsNameSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := feeMarket(t, 3, 6, rapid.Uint8Range(0, 8).Draw(t, "quote digits"))
		side := market.Side(rapid.IntRange(1, 2).Draw(t, "side"))
		rounding := exchange.FeeRounding(rapid.IntRange(0, 2).Draw(t, "rounding"))
		var s exchange.Settlement
		due, parts, sum := new(big.Rat), new(big.Int), new(big.Int)
		for range rapid.IntRange(1, 6).Draw(t, "fills") {
			price := rapid.Int64Range(1, 1e6).Draw(t, "price")
			amount := rapid.Int64Range(1, 1e7).Draw(t, "amount")
			fee := market.Rate(rapid.Int64Range(-50_000, 500_000).Draw(t, "rate"))
			gross, err := m.Value(market.Price(price), market.Qty(amount))
			require.NoError(t, err)
			cash, paid, err := s.Fill(m, side, gross, fee, rounding)
			require.NoError(t, err)
			require.Equal(t, signed(side, gross, paid), m.MoneyValue(cash), "cash is not value and fee")
			exact := exactCash(m, side, price, amount, fee)
			due.Add(due, exact)
			parts.Add(parts, rounded(exact, side, rounding))
			sum.Add(sum, big.NewInt(int64(cash)))
			if rounding == exchange.RoundOrder {
				require.Equal(t, rounded(due, side, rounding).String(), sum.String())
			}
		}
		if rounding != exchange.RoundOrder {
			require.Equal(t, parts.String(), sum.String())
		}
	})
}

// exactCash is what a fill moves in units of quote before rounding.
func exactCash(m *market.Market, side market.Side, price, amount int64, fee market.Rate) *big.Rat {
	factor := plus(fee)
	if side == market.Sell {
		factor = plus(-fee)
	}
	gross := new(big.Rat).Mul(ratio(price, m.PriceDigits), ratio(amount, m.AmountDigits))
	return units(new(big.Rat).Mul(gross, factor), m.QuoteDigits)
}

// rounded rounds against the client, or to the nearest where the rounding says so.
func rounded(exact *big.Rat, side market.Side, rounding exchange.FeeRounding) *big.Int {
	switch {
	case rounding == exchange.RoundNearest:
		return floor(new(big.Rat).Add(exact, big.NewRat(1, 2)))
	case side == market.Buy:
		return ceil(exact)
	}
	return floor(exact)
}

func ExampleBaseForMoney() {
	catalog := &market.Catalog{}
	catalog.AddAsset("BTC", 8)
	catalog.AddAsset("EUR", 2)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, Rules: market.Rules{QuantityDecimals: 8}}
	catalog.AddMarket(m)
	amount := exchange.BaseForMoney(m, 100_00, 40000_00, 250_000) // 100 EUR at 40,000, 0.25 % fee
	fmt.Println(m.FormatQty(amount))
	// Output: 0.00249376
}

func TestASettlementSurvivesBeingText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &market.Market{PriceDigits: 2, AmountDigits: 8, QuoteDigits: 2, ValueDigits: 10}
		var whole, stored exchange.Settlement
		for range rapid.IntRange(1, 5).Draw(t, "fills") {
			gross, err := m.Value(market.Price(rapid.Int64Range(1, 1e7).Draw(t, "price")),
				market.Qty(rapid.Int64Range(1, 1e10).Draw(t, "amount")))
			require.NoError(t, err)
			wantCash, wantFee, err := whole.Fill(m, market.Sell, gross, 250_000, exchange.RoundOrder)
			require.NoError(t, err)
			text, err := stored.MarshalText()
			require.NoError(t, err)
			stored = exchange.Settlement{}
			require.NoError(t, stored.UnmarshalText(text))
			cash, fee, err := stored.Fill(m, market.Sell, gross, 250_000, exchange.RoundOrder)
			require.NoError(t, err)
			require.Equal(t, wantCash, cash)
			require.Equal(t, wantFee, fee)
		}
	})
	for _, text := range [...]string{"", "1", "1 x", "x 1", "1.5 2"} {
		require.Error(t, new(exchange.Settlement).UnmarshalText([]byte(text)), text)
	}
}
