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

// Highest returns the larger rate. A hold has to cover it, because it is not known yet how the
// order will fill.
func (f Fees) Highest() market.Rate { return max(f.Maker, f.Taker) }

// FeeRounding says when the quote amount that an order pays or receives is rounded to the asset's
// decimals. Rounding goes against the client and counts as fee (venue-facts 3.6).
type FeeRounding uint8

// The choices. How the exchange rounds several fills of one order is not known (venue-facts 7.5).
const (
	RoundOrder   FeeRounding = iota // the order's total is rounded, each fill settles the difference
	RoundFill                       // each fill is rounded by itself, against the client
	RoundNearest                    // each fill is rounded to the nearest unit
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

// Settlement is the sum that an order has paid or received in quote. The zero value is an order
// without a fill.
type Settlement struct {
	due  market.Value // exact, fees included, at ValueDigits+RateDigits
	cash market.Money // settled so far
}

// MarshalText writes the sums that are due and settled, in units, for a state file.
func (s Settlement) MarshalText() ([]byte, error) {
	return strconv.AppendInt(append(s.due.Append(nil, 0), ' '), int64(s.cash), 10), nil
}

// UnmarshalText reads the text of MarshalText.
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
// (sell) for it. fee includes the rounding: cash = gross ± fee exactly.
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

// FillRest settles the fill that uses up an amountQuote: cash is all that was left of it, and cash
// less gross is the fee (venue-facts 3.6, "buy with amountQuote").
func (s *Settlement) FillRest(m *market.Market, gross market.Value, cash market.Money) (fee market.Value, err error) {
	s.cash += cash
	return feeOf(m, market.Buy, gross, cash)
}

// against rounds a buyer's payment up and a seller's proceeds down.
func against(v market.Value, side market.Side, drop uint8) (market.Money, error) {
	if side == market.Buy {
		return v.CeilMoney(drop)
	}
	return v.FloorMoney(drop)
}

func feeOf(m *market.Market, side market.Side, gross market.Value, cash market.Money) (market.Value, error) {
	money := m.MoneyValue(cash)
	if side == market.Buy {
		return money.Sub(gross)
	}
	return gross.Sub(money)
}

// BaseForMoney returns the base that money buys at price with the taker fee inside: floor(money /
// (1+rate) / price) at the market's quantityDecimals (venue-facts 3.6). It is 0 where money does
// not buy the smallest amount, and at most the largest Qty.
func BaseForMoney(m *market.Market, money market.Money, price market.Price, rate market.Rate) market.Qty {
	if money <= 0 || price <= 0 {
		return 0
	}
	scaled, err := market.ValueOf(int64(money)), error(nil)
	if up := m.AmountDigits + m.PriceDigits + market.RateDigits; up >= m.QuoteDigits {
		scaled, err = scaled.ScaleUp(up - m.QuoteDigits)
	} else { // a floor of a floor is the floor of the whole
		scaled = scaled.QuoInt(market.Pow10(m.QuoteDigits - up))
	}
	if err != nil {
		return baseForMuchMoney(m, money, price, rate)
	}
	return floorAmount(m, scaled.QuoInt(int64(one+rate)), price)
}

// baseForMuchMoney is BaseForMoney where 128 bits do not hold the intermediate product.
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

// BaseForValue returns the base to sell for a value at price, before fees: floor(value / price) at
// the market's quantityDecimals, and at most the largest Qty.
func BaseForValue(m *market.Market, value market.Value, price market.Price) market.Qty {
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

// Hold returns the amount that an open order o holds, in units of HoldAsset: a sell its remaining
// base, a buy its highest possible cost with the higher of the two fees, rounded up (venue-facts
// 3.6 and 3.7). reference is the price for orders without a price of their own. Trigger orders use
// their trigger price, because the exchange's rule for them is not known (venue-facts 7.9).
func Hold(m *market.Market, o *market.Order, fees Fees, reference market.Price) (market.Money, error) {
	switch {
	case o.Side == market.Sell && !o.ByQuote():
		return market.Money(o.AmountRemaining), nil
	case o.Side != market.Sell && o.ByQuote():
		return o.AmountQuoteRemaining, nil
	}
	price := reference
	switch {
	case o.Type.HasPrice():
		price = o.Price
	case o.Type.HasTrigger() && !o.Triggered:
		price = o.TriggerAmount
	}
	if o.Side == market.Sell {
		return market.Money(BaseForValue(m, m.MoneyValue(o.AmountQuoteRemaining), price)), nil
	}
	return Cost(m, price, o.AmountRemaining, fees.Highest())
}

// Cost returns the quote that amount costs at price, fee included, rounded up.
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
