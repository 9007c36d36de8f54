package strategy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Size says how much an order is over. Make one with Amount, Money, EquityShare, CashShare,
// PositionShare or Risk, or read it from a text (ParseSize). An order by Money without a price of
// its own spends the money with the fee inside. Every other size becomes a base amount at the price
// of the decision: the limit price, the trigger price, or else the latest price. It is rounded down
// to the market's QuantityDecimals and leaves no room for fees. An order that the cash does not
// suffice for is refused; with UpTo it is made smaller. The zero Size is none.
type Size struct {
	unit   unit
	upTo   bool
	digits uint8 // of a decimal
	number int64
}

// unit says what a Size counts.
type unit uint8

const (
	unitBase     unit = iota + 1 // number is a Qty
	unitQuote                    // number is a Money of the quote asset
	unitBaseText                 // number has digits decimals, as in the next
	unitQuoteText
	unitEquity // number is a Rate, here and below
	unitCash
	unitPosition
	unitRisk
)

// unitNames are the units as texts name them.
var unitNames = [...]string{unitBase: "base", unitQuote: "quote", unitBaseText: "base", unitQuoteText: "quote",
	unitEquity: "equity", unitCash: "cash", unitPosition: "position", unitRisk: "risk"}

// Amount is an amount of the market's base asset.
func Amount(amount market.Qty) Size { return Size{unit: unitBase, number: int64(amount)} }

// Money is an amount of the market's quote asset. A market order spends it, the fee included; a
// limit order is over the base that it pays for, the fee included.
func Money(money market.Money) Size { return Size{unit: unitQuote, number: int64(money)} }

// EquityShare is a share of the strategy's equity (MarketDesk.Equity).
func EquityShare(share market.Rate) Size { return Size{unit: unitEquity, number: int64(share)} }

// CashShare is a share of the cash that the strategy can still spend, that of the order which
// Replacing replaces included.
func CashShare(share market.Rate) Size { return Size{unit: unitCash, number: int64(share)} }

// PositionShare is a share of the strategy's position in the market.
func PositionShare(share market.Rate) Size { return Size{unit: unitPosition, number: int64(share)} }

// Risk is the amount that loses this share of the strategy's equity if the stop fills: from the
// entry's worst price to the stop's price, both fees, half the spread and the slippage included. It
// needs a stop (StopAt). Known limitation: a price that jumps over the stop loses more.
func Risk(share market.Rate) Size { return Size{unit: unitRisk, number: int64(share)} }

// UpTo is the size, or what the strategy's cash pays for, fee included, where that is less; of a
// sell, what the strategy can still sell. A buy at market that takes more than half of the cash is
// an order for money: no rise of the price before it arrives makes the cash too little for it.
func UpTo(size Size) Size {
	size.upTo = true
	return size
}

// ParseSize reads a size from a text: "20% equity", "95% cash", "100% position", "1% risk",
// "0.01 base", "25 quote"; "up to" before it is UpTo.
func ParseSize(text string) (Size, error) {
	words := strings.Fields(text)
	var s Size
	if len(words) > 2 && words[0] == "up" && words[1] == "to" {
		s.upTo, words = true, words[2:]
	}
	if len(words) != 2 {
		return Size{}, sizeError(text)
	}
	var err error
	switch words[1] {
	case "base", "quote":
		s.unit = unitBaseText
		if words[1] == "quote" {
			s.unit = unitQuoteText
		}
		s.number, s.digits, err = market.ParseDecimal(words[0])
	case "equity", "cash", "position", "risk":
		var share market.Rate
		share, err = market.ParseRate(words[0])
		s.number = int64(share)
		s.unit = unitEquity
		for unitNames[s.unit] != words[1] {
			s.unit++
		}
	default:
		return Size{}, sizeError(text)
	}
	if err != nil {
		return Size{}, fmt.Errorf("size %q: %w", text, err)
	}
	if err = s.check(); err == nil && s.number == 0 {
		err = fmt.Errorf("%w: a size is more than zero", ErrMeaningless)
	}
	if err != nil {
		return Size{}, fmt.Errorf("size %q: %w", text, err)
	}
	return s, nil
}

func sizeError(text string) error {
	return fmt.Errorf(`%q is no size; write "20%% equity", "95%% cash", "100%% position", "1%% risk", "0.01 base" or `+
		`"25 quote", with "up to" before it for what the cash allows`, text)
}

// String writes the size as ParseSize reads it. An Amount or a Money that was made from a number of
// a market's units shows that number.
func (s Size) String() string {
	text := ""
	switch {
	case s.unit == 0:
		return "no size"
	case s.unit >= unitEquity:
		text = market.Rate(s.number).String()
	default:
		text = market.FormatFixed(s.number, s.digits)
	}
	text += " " + unitNames[s.unit]
	if s.upTo {
		return "up to " + text
	}
	return text
}

// check refuses a size that no account and no market could make valid.
func (s Size) check() error {
	switch {
	case s.unit == 0:
		return fmt.Errorf("%w: a Size that is zero; make it with Amount, Money, EquityShare and their like",
			ErrMeaningless)
	case s.number < 0:
		return fmt.Errorf("%w: a size of %s is negative", ErrMeaningless, s)
	case s.unit >= unitEquity && market.Rate(s.number) > market.Whole:
		return fmt.Errorf("%w: a size of %s: a share is at most 100%%", ErrMeaningless, s)
	}
	return nil
}

// MoneyIn is the money of a Money, or of a text such as "25 quote", in units of m's quote asset.
// Another size is an error.
func (s Size) MoneyIn(m *market.Market) (market.Money, error) {
	if s.unit != unitQuote && s.unit != unitQuoteText {
		return 0, fmt.Errorf(`%s: want an amount of money, such as "25 quote"`, s)
	}
	units, err := s.units(m)
	return market.Money(units), err
}

// fits reports whether a decimal size is exact in a market's units.
func (s Size) fits(m *market.Market) error {
	_, err := s.units(m)
	return err
}

// units is the number in the market's units.
func (s Size) units(m *market.Market) (int64, error) {
	switch s.unit {
	case unitBaseText:
		return rescaled(s, s.number, s.digits, m.AmountDigits, m.Name)
	case unitQuoteText:
		return rescaled(s, s.number, s.digits, m.QuoteDigits, m.Name)
	}
	return s.number, nil
}

// rescaled is number·10^-from in units of 10^-to; what is named in the error.
func rescaled(what fmt.Stringer, number int64, from, to uint8, name string) (int64, error) {
	units, err := market.Rescale(number, from, to)
	if err != nil {
		return 0, fmt.Errorf("%s in %s, which has %d decimals: %w", what, name, to, err)
	}
	return units, nil
}

// Costs are the assumptions about the costs of orders in one market with which the gate counts.
type Costs struct {
	Buy          market.Price // that a market buy pays now, spread and slippage included; 0: no price yet
	Maker, Taker market.Rate
	Half         market.Rate // half the spread
	Slippage     market.Rate
}

// ErrNoPrice is the answer to an ask whose size needs a price, before the market's first one.
var ErrNoPrice = errors.New("no price yet")

// measure sets the amount of an order from its size.
func (m MarketDesk) measure(o *market.Order, s Size) error {
	if s.unit == unitBase && !s.upTo {
		o.Amount = market.Qty(s.number)
		return nil
	}
	if err := s.check(); err != nil {
		return err
	}
	units, err := s.units(m.facts())
	if err != nil {
		return err
	}
	switch {
	case s.unit == unitBase || s.unit == unitBaseText:
		o.Amount = market.Qty(units)
	case s.unit < unitEquity && !o.Type.HasPrice():
		o.AmountQuote = market.Money(units)
	case s.unit < unitEquity:
		o.Amount = m.affordable(o, market.Money(units))
	case s.unit == unitPosition:
		o.Amount = partOf(m.Position().Amount, market.Rate(units))
	default:
		o.Amount, err = m.share(o, s.unit, market.Rate(units))
	}
	if err != nil {
		return err
	}
	if s.upTo {
		m.limit(o)
	}
	o.Amount = m.facts().RoundAmount(o.Amount)
	return nil
}

// facts is the market without a copy.
func (m MarketDesk) facts() *market.Market { return m.desk.catalog.Market(m.id) }

// partOf is a share of an amount, rounded down.
func partOf(amount market.Qty, share market.Rate) market.Qty {
	if amount <= 0 {
		return 0
	}
	part, err := market.ValueOf(int64(amount)).Part(int64(share), int64(market.Whole)).FloorMoney(0)
	if err != nil {
		return 0
	}
	return market.Qty(part)
}

// share is the amount of a share of equity or cash, or of a risk.
func (m MarketDesk) share(o *market.Order, of unit, share market.Rate) (market.Qty, error) {
	var money market.Money
	if of == unitCash {
		money, _ = m.desk.engine.Book().Balance(m.desk.id, m.facts().Quote)
		money += m.desk.freed()
	} else {
		money = m.Equity()
	}
	if money <= 0 {
		return 0, nil
	}
	rules := m.facts()
	budget := rules.MoneyValue(money).Part(int64(share), int64(market.Whole))
	price := m.decision(o)
	if price == 0 {
		return 0, ErrNoPrice
	}
	if of == unitRisk {
		return m.atRisk(o, budget)
	}
	return rules.AmountFor(budget, price), nil
}

// decision is the price at which an order is decided.
func (m MarketDesk) decision(o *market.Order) market.Price {
	switch {
	case o.Price != 0:
		return o.Price
	case o.TriggerAmount != 0:
		return o.TriggerAmount
	}
	return m.desk.engine.Book().Last(m.id)
}

// atRisk is the amount that loses the budget between the worst entry and the stop.
func (m MarketDesk) atRisk(o *market.Order, budget market.Value) (market.Qty, error) {
	if o.Bracket.Stop <= 0 {
		return 0, fmt.Errorf("%w: a size by Risk needs a stop: add StopAt below the price", ErrMeaningless)
	}
	c := m.desk.engine.Costs(m.id)
	entry, fee := o.Price, max(c.Maker, c.Taker)
	if entry == 0 {
		entry = c.Buy
	}
	if o.PostOnly {
		fee = c.Maker
	}
	exit := o.Bracket.Stop.Below(c.Half).Below(c.Slippage)
	paid, err := market.ValueOf(int64(entry)).MulRate(market.Whole + fee)
	if err != nil {
		return 0, err
	}
	got, err := market.ValueOf(int64(exit)).MulRate(market.Whole - c.Taker)
	if err != nil {
		return 0, err
	}
	lost, err := paid.Sub(got)
	switch {
	case err != nil:
		return 0, err
	case lost.Sign() <= 0:
		return 0, fmt.Errorf("%w: the stop at %s is not below the price of %s", ErrMeaningless,
			m.facts().FormatPrice(o.Bracket.Stop), m.facts().FormatPrice(entry))
	}
	return perUnit(m.facts(), budget, lost)
}

// perUnit is the amount whose loss is the budget, each base losing lost, which has RateDigits more
// decimals than a price. It counts the loss in the finest units in which an int64 holds it, rounded
// up.
func perUnit(m *market.Market, budget, lost market.Value) (market.Qty, error) {
	for drop := range uint8(market.RateDigits + 1) {
		each, err := lost.CeilMoney(drop)
		if err != nil {
			continue
		}
		if scaled, err := budget.ScaleUp(market.RateDigits - drop); err == nil {
			return m.AmountFor(scaled, market.Price(each)), nil
		}
	}
	return 0, fmt.Errorf("a risk of %s, %s a base: %w", budget, lost, market.ErrOverflow)
}

// affordable is the base that money pays for, the fee included, at the worst price of an order.
func (m MarketDesk) affordable(o *market.Order, money market.Money) market.Qty {
	c, price := m.desk.engine.Costs(m.id), o.Price
	switch {
	case price != 0:
	case o.TriggerAmount != 0:
		price = o.TriggerAmount
	default:
		price = c.Buy
	}
	if price == 0 || money <= 0 {
		return 0
	}
	scaled, err := m.facts().MoneyValue(money).ScaleUp(market.RateDigits)
	if err != nil {
		return 0
	}
	fee := max(c.Maker, c.Taker)
	return m.facts().AmountFor(scaled.QuoInt(int64(market.Whole+fee)), price)
}

// limit makes an order no larger than cash or position allow.
func (m MarketDesk) limit(o *market.Order) {
	if o.Side == market.Sell {
		available, _ := m.desk.engine.Book().Balance(m.desk.id, m.facts().Base)
		available += m.desk.freed()
		o.Amount = min(o.Amount, market.Qty(max(0, available)))
		return
	}
	cash := m.Cash() + m.desk.freed()
	if o.AmountQuote != 0 {
		o.AmountQuote = max(0, min(o.AmountQuote, cash))
		return
	}
	whole := m.affordable(o, cash)
	switch {
	case o.Type != market.TypeMarket || o.Amount <= whole/2 || whole == 0:
		o.Amount = min(o.Amount, whole)
	case o.Amount < whole:
		o.Amount, o.AmountQuote = 0, min(cash, m.worth(o.Amount))
	default:
		o.Amount, o.AmountQuote = 0, cash
	}
}

// worth is what an amount costs at market now, the fee included. An order for that money is not
// refused where the price that it meets is a higher one.
func (m MarketDesk) worth(amount market.Qty) market.Money {
	c := m.desk.engine.Costs(m.id)
	value, err := m.facts().Value(c.Buy, amount)
	if err == nil {
		value, err = value.MulRate(market.Whole + max(c.Maker, c.Taker))
	}
	money, err := value.QuoInt(int64(market.Whole)).FloorMoney(m.facts().MoneyDrop())
	if err != nil {
		return 0
	}
	return money
}
