package exchange

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Fees are the rates of one account in one market. A negative rate is a rebate.
type Fees struct {
	Maker, Taker market.Rate
}

// Highest returns the larger rate, which a hold has to cover: nobody knows yet how the order will
// fill.
func (f Fees) Highest() market.Rate { return max(f.Maker, f.Taker) }

// FeeRounding says when the quote amount that an order pays or receives is rounded to the asset's
// decimals. Rounding goes against the client and counts as fee (venue-facts 3.6).
type FeeRounding uint8

// The choices. What the exchange does with several fills of one order is not known (venue-facts
// 7.5).
const (
	RoundOrder FeeRounding = iota // the cumulative total of the order is rounded, each fill settles the difference
	RoundFill                     // each fill is rounded by itself
	// each fill is rounded to the nearest unit: as good as not rounded where the asset has decimals
	// to spare
	RoundNearest
)

// ParseFeeRounding reads "order", "fill" or "none".
func ParseFeeRounding(text string) (FeeRounding, error) {
	switch text {
	case "order", "":
		return RoundOrder, nil
	case "fill":
		return RoundFill, nil
	case "none":
		return RoundNearest, nil
	}
	return 0, fmt.Errorf("fee rounding %q is not one of order, fill, none", text)
}

// String returns the text that ParseFeeRounding reads.
func (r FeeRounding) String() string { return [...]string{"order", "fill", "none"}[r] }

// one is a Rate of 100 %.
const one = market.Rate(1e8)

// Settlement accumulates what an order has paid or received in quote. The zero value is an order
// without a fill.
type Settlement struct {
	due  market.Value // exact, fees included, at ValueDigits+RateDigits
	cash market.Money // settled so far
}

// MarshalText writes what is due and what is settled, in units, so that an order's settlement
// outlives the process.
func (s Settlement) MarshalText() ([]byte, error) {
	return strconv.AppendInt(append(s.due.Append(nil, 0), ' '), int64(s.cash), 10), nil
}

// UnmarshalText reads what MarshalText wrote.
func (s *Settlement) UnmarshalText(text []byte) error {
	due, cash, _ := strings.Cut(string(text), " ")
	settled, err := strconv.ParseInt(cash, 10, 64)
	if err == nil {
		err = s.due.UnmarshalText([]byte(due))
	}
	if err != nil {
		return fmt.Errorf("settlement %q: %w", text, err)
	}
	s.cash = market.Money(settled)
	return nil
}

// Fill settles one more fill, of gross = price·amount. cash is the quote debited (buy) or credited
// (sell) for it; fee is what of that is fee, the rounding included, so that cash = gross ± fee
// exactly.
func (s *Settlement) Fill(m *market.Market, side market.Side, gross market.Value, rate market.Rate,
	rounding FeeRounding) (cash market.Money, fee market.Value, err error) {
	factor := one + rate
	if side == market.Sell {
		factor = one - rate
	}
	exact, err := gross.MulRate(factor)
	if err != nil {
		return 0, market.Value{}, err
	}
	drop := m.MoneyDrop() + market.RateDigits
	switch rounding {
	case RoundNearest:
		cash, err = exact.NearestMoney(drop)
	case RoundFill:
		cash, err = against(exact, side, drop)
	default:
		if s.due, err = s.due.Add(exact); err != nil {
			return 0, market.Value{}, err
		}
		var total market.Money
		total, err = against(s.due, side, drop)
		cash = total - s.cash
	}
	if err != nil {
		return 0, market.Value{}, err
	}
	s.cash += cash
	fee, err = feeOf(m, side, gross, cash)
	return cash, fee, err
}

// FillRest settles the fill that uses up an amountQuote: cash is all that was left of it, and what
// the base did not cost is fee (venue-facts 3.6, "buy with amountQuote").
func (s *Settlement) FillRest(m *market.Market, gross market.Value, cash market.Money) (fee market.Value, err error) {
	s.cash += cash
	return feeOf(m, market.Buy, gross, cash)
}

// against rounds up what a buyer pays and down what a seller gets.
func against(v market.Value, side market.Side, drop uint8) (market.Money, error) {
	if side == market.Buy {
		return v.CeilMoney(drop)
	}
	return v.FloorMoney(drop)
}

func feeOf(m *market.Market, side market.Side, gross market.Value, cash market.Money) (market.Value, error) {
	if side == market.Buy {
		return m.MoneyValue(cash).Sub(gross)
	}
	return gross.Sub(m.MoneyValue(cash))
}

// BaseForMoney returns the base that money buys at price with the taker fee inside: floor(money /
// (1+rate) / price) at the market's quantityDecimals (venue-facts 3.6). It is 0 where even the
// smallest amount is too dear, and the largest amount there is where money buys more than that:
// nobody offers so much.
func BaseForMoney(m *market.Market, money market.Money, price market.Price, rate market.Rate) market.Qty {
	if money <= 0 || price <= 0 {
		return 0
	}
	scaled, err := market.ValueOf(int64(money)), error(nil)
	if up := m.AmountDigits + m.PriceDigits + market.RateDigits; up >= m.QuoteDigits {
		scaled, err = scaled.ScaleUp(up - m.QuoteDigits)
	} else { // digits that decide nothing: floor of a floor
		scaled = scaled.QuoInt(market.Pow10(m.QuoteDigits - up))
	}
	if err != nil {
		return baseForMuchMoney(m, money, price, rate)
	}
	return floorAmount(m, scaled.QuoInt(int64(one+rate)), price)
}

// baseForMuchMoney is Affordable for so much money, in a market of so many decimals, that 128 bits
// do not hold what lies between.
func baseForMuchMoney(m *market.Market, money market.Money, price market.Price, rate market.Rate) market.Qty {
	digits := int64(m.AmountDigits+m.PriceDigits+market.RateDigits) - int64(m.QuoteDigits)
	amount := new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)
	amount.Mul(amount, big.NewInt(int64(money)))
	amount.Quo(amount, big.NewInt(int64(one+rate)))
	amount.Quo(amount, big.NewInt(int64(price)))
	if !amount.IsInt64() {
		amount.SetInt64(math.MaxInt64)
	}
	return market.FloorDigits(market.Qty(amount.Int64()), m.AmountDigits, m.QuantityDecimals)
}

// Convertible returns the base to sell for a value at price, before fees: floor(value / price) at
// the market's quantityDecimals, and at most the largest amount there is.
func Convertible(m *market.Market, value market.Value, price market.Price) market.Qty {
	if price <= 0 {
		return 0
	}
	return floorAmount(m, value.QuoInt(market.Pow10(m.ValueDigits-m.PriceDigits-m.AmountDigits)), price)
}

// floorAmount returns value / price, of a value at PriceDigits+AmountDigits, rounded down to
// quantityDecimals.
func floorAmount(m *market.Market, value market.Value, price market.Price) market.Qty {
	amount, err := value.FloorQuo(int64(price), 0)
	if err != nil { // more than an int64 holds
		amount = math.MaxInt64
	}
	return market.FloorDigits(market.Qty(amount), m.AmountDigits, m.QuantityDecimals)
}

// Hold returns what an open order o holds, in units of HoldAsset: a sell its remaining base, a buy
// what it can cost at worst with the higher of the two fees, rounded up (venue-facts 3.6 and 3.7).
// reference is the price for orders without one of their own; trigger orders use their trigger
// price, because what a trigger market order holds is not known (venue-facts 7.9).
func Hold(m *market.Market, o *market.Order, fees Fees, reference market.Price) (market.Money, error) {
	price := reference
	switch {
	case o.Type.HasPrice():
		price = o.Price
	case o.Type.HasTrigger() && !o.Triggered:
		price = o.TriggerAmount
	}
	if o.Side == market.Sell {
		if !o.ByQuote() {
			return market.Money(o.AmountRemaining), nil
		}
		return market.Money(Convertible(m, m.MoneyValue(o.AmountQuoteRemaining), price)), nil
	}
	if o.ByQuote() {
		return o.AmountQuoteRemaining, nil
	}
	return Cost(m, price, o.AmountRemaining, fees.Highest())
}

// Cost returns what buying amount at price costs with the fee inside, rounded up.
func Cost(m *market.Market, price market.Price, amount market.Qty, rate market.Rate) (market.Money, error) {
	gross, err := m.Value(price, amount)
	if err != nil {
		return 0, err
	}
	due, err := gross.MulRate(one + rate)
	if err != nil {
		return 0, err
	}
	return due.CeilMoney(m.MoneyDrop() + market.RateDigits)
}

// HoldAsset returns the asset that an order of that side holds.
func HoldAsset(m *market.Market, side market.Side) market.AssetID {
	if side == market.Buy {
		return m.Quote
	}
	return m.Base
}
