package verify

import (
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// fillsOf checks each fill against the order and the booked fills, and sums up all of them, each
// once.
func (x *examination) fillsOf(fills []market.Fill) {
	for i := range x.order.Fills {
		x.add(&x.order.Fills[i])
	}
	if missing := x.order.Counted - x.filled.amount; missing > 0 { // booked by an earlier process
		x.filled.amount += missing
	}
	got := make(map[uuid.UUID]*market.Fill, len(fills))
	for i := range fills {
		f := &fills[i]
		if before := got[f.ID]; before != nil {
			x.unchanged(before, f)
			continue
		}
		got[f.ID] = f
		if sum, err := market.Add(x.answered, f.Amount); err == nil {
			x.answered = sum
		}
		if before := x.booked[f.ID]; before != nil {
			x.known(before, f)
			continue
		}
		x.fill(f)
		if x.owner(f.ID) != x.order.ID {
			x.add(f)
		}
	}
	x.count()
}

// owner is the own order that a fill was booked for, 0 for a new fill.
func (x *examination) owner(id uuid.UUID) market.OrderID {
	if x.FillOf == nil {
		return 0
	}
	return x.FillOf(id)
}

// known checks a booked fill that comes again: its fee may have come.
func (x *examination) known(before, f *market.Fill) {
	x.unchanged(before, f)
	if before.Settled && f.Settled {
		return
	}
	x.fee(f, before)
	if before.Settled || !f.Settled {
		return
	}
	if fee, err := x.filled.fee.Add(f.Fee); err == nil {
		x.filled.fee = fee
		x.filled.unsettled--
	} else {
		x.violated(RuleRange, "a sum of fees", err.Error())
	}
}

// unchanged requires that a fill says the same as before.
func (x *examination) unchanged(before, f *market.Fill) {
	same := f.Price == before.Price && f.Amount == before.Amount && f.Taker == before.Taker
	if same && f.Settled && before.Settled {
		same = f.Fee == before.Fee && f.FeeCurrency == before.FeeCurrency
	}
	x.require(same, RuleFillChanged, x.describe(before), x.describe(f))
}

func (x *examination) describe(f *market.Fill) string {
	text := fmt.Sprintf("%s at %s, %s", x.Market.FormatQty(f.Amount), x.Market.FormatPrice(f.Price), f.Time)
	if f.Settled {
		text += ", fee " + x.Market.FormatValue(f.Fee)
	}
	return text
}

// fill checks a new fill against the order.
func (x *examination) fill(f *market.Fill) {
	m, own := x.Market, x.order
	if f.Market != own.Market {
		x.violated(RuleFillMarket, m.Name, x.marketName(f.Market))
		return
	}
	x.require(f.Side == own.Side || f.Side == 0, RuleFillSide, own.Side.String(), f.Side.String())
	x.require(f.ID != uuid.Nil, RuleFillID, "an id", "none")
	if other := x.owner(f.ID); other != 0 {
		x.require(other == own.ID, RuleFillID, "a new id", f.ID.String()+" of order "+strconv.FormatInt(int64(other),
			10))
	}
	x.require(f.Amount > 0, RuleFillAmount, "above 0", m.FormatQty(f.Amount))
	x.price(f)
	x.fee(f, f)
	x.moment(RuleFillTime, f.Time)
}

// price checks a fill's price against the limit and the market's known prices.
func (x *examination) price(f *market.Fill) {
	m, own := x.Market, x.order
	if f.Price <= 0 {
		x.violated(RuleFillPrice, "above 0", m.FormatPrice(f.Price))
		return
	}
	if x.limit != 0 && (own.Side == market.Buy && f.Price > x.limit || own.Side == market.Sell && f.Price < x.limit) {
		x.violated(RuleFillPrice, limitWords(own.Side)+m.FormatPrice(x.limit), m.FormatPrice(f.Price))
		return
	}
	low, high := x.band(f.Time)
	if low != 0 && (f.Price < low || f.Price > high) {
		x.violated(RuleFillPrice, m.FormatPrice(low)+" to "+m.FormatPrice(high), m.FormatPrice(f.Price))
	}
}

func limitWords(side market.Side) string {
	if side == market.Buy {
		return "at most "
	}
	return "at least "
}

// band is the range of possible fill prices at that time: the known prices, the order's own limit
// and trigger, and Bound around them. 0 is no bound: the market's prices are unknown.
func (x *examination) band(at market.Time) (low, high market.Price) {
	if x.Prices == nil {
		return 0, 0
	}
	known := x.Prices(at)
	if known.Low <= 0 || known.High <= 0 {
		return 0, 0
	}
	low, high = known.Low, known.High
	orders := []*market.Order{x.order.Order}
	if x.order.Change != nil {
		orders = append(orders, &x.order.Change.Order)
	}
	for _, o := range orders {
		for _, price := range [...]market.Price{limitOf(o), o.TriggerAmount} {
			if price != 0 {
				low, high = min(low, price), max(high, price)
			}
		}
	}
	if known.Approximate {
		return low / (1 + ApproximateFactor*market.Price(Bound)/wholeRate), exchange.AddSaturating(high,
			exchange.Share(high, ApproximateFactor*Bound))
	}
	return low - exchange.Share(low, Bound), exchange.AddSaturating(high, exchange.Share(high, Bound))
}

// wholeRate is a Rate of 100 %.
const wholeRate = 1e8

// fee checks the fee of a settled fill against the rates on its booked amount and price.
func (x *examination) fee(f, booked *market.Fill) {
	m := x.Market
	x.require(f.FeeCurrency == 0 || f.FeeCurrency == m.Quote, RuleFillCurrency, x.symbol(m.Quote),
		x.symbol(f.FeeCurrency))
	if !f.Settled {
		x.require(f.Fee.Sign() == 0, RuleFillFee, "none before it is settled", m.FormatValue(f.Fee))
		return
	}
	value, err := m.Value(booked.Price, booked.Amount)
	if err != nil {
		x.violated(RuleRange, "a value of the fill", err.Error())
		return
	}
	least, most, err := x.feeRange(value, 1)
	if err == nil && x.order.ByQuote() && x.order.Side == market.Buy {
		most, err = x.addStep(most, booked.Price)
	}
	if err != nil {
		x.violated(RuleRange, "a fee", err.Error())
		return
	}
	x.require(f.Fee.Cmp(least) >= 0 && f.Fee.Cmp(most) <= 0, RuleFillFee,
		m.FormatValue(least)+" to "+m.FormatValue(most),
		m.FormatValue(f.Fee))
}

// feeRange is the possible range of fees on a value of so many fills: the lowest and the highest
// rate, and the roundings to the asset's decimals.
func (x *examination) feeRange(value market.Value, fills int) (least, most market.Value, err error) {
	m := x.Market
	if most, err = atRate(value, max(0, x.Fees.Highest())); err != nil {
		return least, most, err
	}
	if least, err = atRate(value, min(0, x.Fees.Maker, x.Fees.Taker)); err != nil {
		return least, most, err
	}
	if most, err = most.Add(m.MoneyValue(market.Money(fills + 1))); err != nil {
		return least, most, err
	}
	least, err = least.Sub(m.MoneyValue(market.Money(min(fills, maxRoundings) + 1)))
	return least, most, err
}

// atRate is a value's share, rounded away from zero.
func atRate(value market.Value, rate market.Rate) (market.Value, error) {
	exact, err := value.MulRate(rate)
	if err != nil {
		return market.Value{}, err
	}
	share := exact.QuoInt(wholeRate)
	if rate < 0 {
		return share.Sub(market.ValueOf(1))
	}
	return share.Add(market.ValueOf(1))
}

// addStep adds the value of one step of the amount: a buy over a quote amount pays for it and gets
// nothing (venue-facts 3.6).
func (x *examination) addStep(most market.Value, price market.Price) (market.Value, error) {
	value, err := x.Market.Value(price, x.step)
	if err != nil {
		return most, err
	}
	fee, err := atRate(value, max(0, x.Fees.Highest()))
	if err == nil {
		value, err = value.Add(fee)
	}
	if err == nil {
		most, err = most.Add(value)
	}
	return most, err
}

// step is the smallest step of an amount.
func step(m *market.Market) market.Qty {
	return market.Qty(market.Pow10(m.AmountDigits - min(m.AmountDigits, m.QuantityDecimals)))
}

// shownStep is the coarsest step that an amount is a multiple of.
func shownStep(m *market.Market, amount market.Qty) market.Qty {
	unit := market.Qty(1)
	for most := market.Qty(market.Pow10(m.AmountDigits)); unit < most && amount > 0 && amount%(10*unit) == 0; {
		unit *= 10
	}
	return unit
}

// add adds a fill to the sums.
func (x *examination) add(f *market.Fill) {
	t := &x.filled
	t.fills++
	value, err := x.Market.Value(f.Price, f.Amount)
	if err == nil {
		t.value, err = t.value.Add(value)
	}
	if err == nil {
		t.amount, err = market.Add(t.amount, f.Amount)
	}
	if err == nil && f.Settled {
		t.fee, err = t.fee.Add(f.Fee)
	}
	if err != nil {
		x.violated(RuleRange, "a sum of fills", err.Error())
	}
	if !f.Settled {
		t.unsettled++
	}
}

// count checks the number of fills against the smallest step, or the step of the order's own amount
// where that is finer.
func (x *examination) count() {
	if x.maxAmount == 0 {
		return
	}
	unit := step(x.Market)
	for unit > 1 && x.maxAmount%unit != 0 {
		unit /= 10
	}
	most := x.maxAmount / unit
	x.require(market.Qty(x.filled.fills) <= most, RuleFillCount, "at most "+strconv.FormatInt(int64(most), 10),
		strconv.Itoa(x.filled.fills))
}
