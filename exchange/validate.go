package exchange

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// Facts is the state of the account on which the validity of an order depends, besides its market.
// The gate takes it from its account, the venue from its own; both run the same checks.
type Facts struct {
	Reference market.Price // latest price, for the value of orders without one
	Open      int          // open orders of the account in the market, this one not counted
	Available market.Money // of the asset that the order would hold; for an update with the order's own hold
	Fees      Fees
	HoldLater bool // a trigger buy by amount, without a price, holds nothing until it triggers (venue-facts 7.9)
}

// The largest values of any market, whatever its own limits (venue-facts 2.1: codes 210 and 211).
const (
	maxAmountUnits = 1_000_000_000
	maxPriceUnits  = 100_000_000_000
)

// CheckPlace decides whether the exchange takes a new order: specification 4.1 and 3.2, venue-facts
// 3. It returns the order's hold, or the exchange's error for the first rule broken: market status,
// fields, precision, size, open orders, balance, in this order.
func CheckPlace(m *market.Market, o *market.Order, f *Facts) (hold market.Money, refused *Error) {
	if m.Status == market.Trading && plain(o) && !m.Coarse() {
		return checkPlain(m, o, f)
	}
	return checkPlace(m, o, f)
}

// checkPlace is CheckPlace for any order.
func checkPlace(m *market.Market, o *market.Order, f *Facts) (hold market.Money, refused *Error) {
	if refused = checkForm(m, o); refused != nil {
		return 0, refused
	}
	if refused = checkSize(m, o, f.Reference); refused != nil {
		return 0, refused
	}
	if o.Type != market.TypeMarket && m.MaxOpenOrders > 0 && f.Open >= m.MaxOpenOrders {
		return 0, ErrCode(CodeTooManyOpenOrders)
	}
	return checkBalance(m, o, f)
}

// checkForm is CheckPlace for the market's status, the fields and their precision.
func checkForm(m *market.Market, o *market.Order) (refused *Error) {
	if m.Status != market.Trading {
		if refused = checkStatus(m, o); refused != nil {
			return refused
		}
	}
	if refused = checkFields(o); refused != nil {
		return refused
	}
	return checkPrecision(m, o)
}

// CheckUpdate decides whether the exchange takes a change of an open order: specification 4.4. On
// success *changed is the order as it will be, with its new hold in OnHold; otherwise it is
// undefined.
func CheckUpdate(m *market.Market, old *market.Order, c *market.Command, f *Facts, changed *market.Order) *Error {
	if refused := cmp.Or(checkOpenToChange(m, old, c), checkChange(old, c)); refused != nil {
		return refused
	}
	*changed = *old
	ApplyChange(changed, c)
	if refused := cmp.Or(checkFields(changed), checkPrecision(m, changed), checkRest(changed),
		checkSize(m, changed, f.Reference)); refused != nil {
		return refused
	}
	hold, refused := checkBalance(m, changed, f)
	changed.OnHold = hold
	return refused
}

// CheckCancel decides whether orders of m may be cancelled at all (specification 3.2).
func CheckCancel(m *market.Market) *Error {
	if m.Status == market.Halted || m.Status == market.Delisted {
		return ErrCode(CodeHalted)
	}
	return nil
}

// checkStatus applies specification 3.2 to a new order in a market that is not trading.
func checkStatus(m *market.Market, o *market.Order) *Error {
	switch m.Status {
	case market.Halted, market.Delisted:
		return ErrCode(CodeHalted)
	case market.CancelOnly:
		return ErrCode(CodeCancelOnly)
	case market.AuctionMatching:
		return ErrCode(CodeAuctionMatching)
	}
	if o.Type == market.TypeMarket {
		return ErrCode(CodeAuction)
	}
	if o.TimeInForce != market.GTC {
		return ErrCode(CodeTimeInForce)
	}
	return nil
}

// checkOpenToChange applies specification 3.2 to a change, and refuses orders that cannot be
// changed.
func checkOpenToChange(m *market.Market, old *market.Order, c *market.Command) *Error {
	switch {
	case m.Status == market.Halted || m.Status == market.Delisted:
		return ErrCode(CodeHalted)
	case m.Status == market.CancelOnly:
		return ErrCode(CodeCancelOnly)
	case m.Status == market.AuctionMatching:
		return ErrCode(CodeAuctionMatching)
	case old.Done():
		return ErrCode(CodeNotFound)
	case old.Type == market.TypeMarket:
		return ErrCode(CodeMarketOrderUpdate)
	case m.Status == market.Auction && c.Changed.Has(market.ChangeTimeInForce) && c.Order.TimeInForce != market.GTC:
		return ErrCode(CodeTimeInForce)
	}
	return nil
}

// checkFields applies rules 1, 2 and 6 of specification 4.1: the fields that an order type needs or
// excludes.
func checkFields(o *market.Order) *Error {
	if o.Type.HasTrigger() != (o.TriggerAmount != 0) {
		return misplacedTrigger(o.Type)
	}
	switch {
	case o.Type.HasPrice():
		if refused := checkLimitFields(o); refused != nil {
			return refused
		}
	case o.Amount == 0 && o.AmountQuote == 0:
		return Required("amount")
	case o.Amount != 0 && o.AmountQuote != 0:
		return Exclusive("amount", "amountQuote")
	case o.Price != 0:
		return UnsupportedForType("price")
	case o.PostOnly:
		return UnsupportedForType("postOnly")
	case o.CodGroupID != 0 && o.Type == market.TypeMarket:
		return UnsupportedForType("codGroupId")
	}
	if int64(o.Amount)|int64(o.AmountQuote)|int64(o.Price)|int64(o.TriggerAmount) < 0 || o.CodGroupID > 1000 {
		return checkRanges(o)
	}
	return nil
}

// misplacedTrigger is the refusal of a missing or an unwanted trigger.
func misplacedTrigger(t market.OrderType) *Error {
	switch {
	case !t.HasTrigger():
		return UnsupportedForType("triggerAmount")
	case t.HasPrice():
		return ErrCode(CodeStopLossLimitParameters)
	}
	return ErrCode(CodeStopLossParameters)
}

func checkLimitFields(o *market.Order) *Error {
	switch {
	case o.AmountQuote != 0:
		return UnsupportedForType("amountQuote")
	case o.Amount == 0:
		return Required("amount")
	case o.Price == 0:
		return Required("price")
	}
	return nil
}

// checkRanges refuses the first number of an order that is below zero, or too high for a group.
func checkRanges(o *market.Order) *Error {
	switch {
	case o.Amount < 0:
		return Invalid("amount")
	case o.AmountQuote < 0:
		return Invalid("amountQuote")
	case o.Price < 0:
		return Invalid("price")
	case o.TriggerAmount < 0:
		return Invalid("triggerAmount")
	case o.CodGroupID > 1000:
		return Invalid("codGroupId")
	}
	return nil
}

// checkPrecision applies rules 4 and 5 of specification 4.1. A trigger price must be on the tick,
// too (venue-facts 2.1, code 218).
func checkPrecision(m *market.Market, o *market.Order) *Error {
	if m.Coarse() {
		return checkDecimals(m, o)
	}
	if o.Price|o.TriggerAmount != 0 {
		return checkTick(m, o)
	}
	return nil
}

// checkDecimals is checkPrecision for amounts, in a market that takes fewer decimals than its
// assets have.
func checkDecimals(m *market.Market, o *market.Order) *Error {
	switch {
	case market.FloorDigits(o.Amount, m.AmountDigits, m.QuantityDecimals) != o.Amount:
		return TooManyDecimals("amount")
	case market.FloorDigits(o.AmountQuote, m.QuoteDigits, m.NotionalDecimals) != o.AmountQuote:
		return TooManyDecimals("amountQuote")
	}
	return checkTick(m, o)
}

// checkTick is checkPrecision for prices.
func checkTick(m *market.Market, o *market.Order) *Error {
	if market.FloorTo(o.Price, m.TickSize) != o.Price ||
		market.FloorTo(o.TriggerAmount, m.TickSize) != o.TriggerAmount {
		return ErrCode(CodeTick)
	}
	return nil
}

// checkRest refuses an update that would leave nothing to fill: the new amount must exceed the
// filled amount.
func checkRest(o *market.Order) *Error {
	if o.AmountRemaining <= 0 && !o.ByQuote() {
		return Invalid("amount")
	}
	if o.ByQuote() && o.AmountQuoteRemaining <= 0 {
		return Invalid("amountQuote")
	}
	return nil
}

// checkSize applies the smallest and largest order of the market to the order's remaining amount
// (venue-facts 3.3).
func checkSize(m *market.Market, o *market.Order, reference market.Price) *Error {
	amount := o.AmountRemaining
	switch {
	case exceeds(int64(amount), maxAmountUnits, m.AmountDigits), m.MaxOrderInBase > 0 && amount > m.MaxOrderInBase:
		return ErrCode(CodeAmountTooLarge)
	case o.Price|o.TriggerAmount > maxPriceUnits &&
		(tooHigh(o.Price, m.PriceDigits) || tooHigh(o.TriggerAmount, m.PriceDigits)):
		return ErrCode(CodePriceTooLarge)
	}
	if o.ByQuote() {
		return checkQuoteSize(m, m.MoneyValue(o.AmountQuoteRemaining))
	}
	if amount < m.MinOrderInBase {
		return ErrCode(CodeMinBase)
	}
	if m.MinOrderInQuote|m.MaxOrderInQuote == 0 {
		return nil
	}
	switch {
	case o.Type.HasPrice():
		reference = o.Price
	case o.Type.HasTrigger():
		reference = o.TriggerAmount
	}
	if reference == 0 {
		return nil // the market has never traded
	}
	value, err := m.Value(reference, amount)
	if err != nil {
		return ErrCode(CodeAmountTooLarge)
	}
	return checkQuoteSize(m, value)
}

func checkQuoteSize(m *market.Market, value market.Value) *Error {
	switch {
	case m.MinOrderInQuote > 0 && value.Cmp(m.MoneyValue(m.MinOrderInQuote)) < 0:
		return ErrCode(CodeMinQuote)
	case m.MaxOrderInQuote > 0 && value.Cmp(m.MoneyValue(m.MaxOrderInQuote)) > 0:
		return ErrCode(CodeAmountTooLarge)
	}
	return nil
}

// MostBase is the largest amount that one order of a market may have.
func MostBase(m *market.Market) market.Qty {
	over, most := bits.Mul64(maxAmountUnits, uint64(market.Pow10(m.AmountDigits)))
	if over != 0 || most > math.MaxInt64 {
		most = math.MaxInt64
	}
	if m.MaxOrderInBase > 0 {
		return min(m.MaxOrderInBase, market.Qty(most))
	}
	return market.Qty(most)
}

// Portion is the part of an amount that the next order sells, where all of it is sold in as few
// orders as the market takes: orders of equal size, so that none is left below the smallest. price
// is the highest at which the exchange may value the order; 0: unknown.
func Portion(m *market.Market, amount market.Qty, price market.Price) market.Qty {
	most := MostBase(m)
	if m.MaxOrderInQuote > 0 && price > 0 {
		most = min(most, BaseForValue(m, m.MoneyValue(m.MaxOrderInQuote), price))
	}
	most = market.FloorDigits(most, m.AmountDigits, m.QuantityDecimals)
	if amount <= most || most <= 0 {
		return amount
	}
	orders := (amount-1)/most + 1
	step := market.Qty(market.Pow10(m.AmountDigits - m.QuantityDecimals))
	return min(most, ((amount-1)/orders/step+1)*step)
}

// PortionAtMarket is Portion for sales at market: the price may rise before they arrive.
func PortionAtMarket(m *market.Market, amount market.Qty, price market.Price) market.Qty {
	return Portion(m, amount, price+price/20)
}

// exceeds reports whether n·10^-digits is above limit, which is not negative.
func exceeds(n, limit int64, digits uint8) bool { return n > limit && exceedsScaled(n, limit, digits) }

// exceedsScaled is exceeds for n above the limit.
//
//go:noinline
func exceedsScaled(n, limit int64, digits uint8) bool {
	over, most := bits.Mul64(uint64(limit), uint64(market.Pow10(digits)))
	return over == 0 && uint64(n) > most
}

// TooHigh reports whether a price is above the largest of all markets (venue-facts 2.1, code 211),
// or so near the end of int64 that a spread on top of it would overflow.
func TooHigh(m *market.Market, p market.Price) bool { return tooHigh(p, m.PriceDigits) }

func tooHigh(p market.Price, digits uint8) bool {
	return p > math.MaxInt64/2 || exceeds(int64(p), maxPriceUnits, digits)
}

func checkBalance(m *market.Market, o *market.Order, f *Facts) (market.Money, *Error) {
	hold, err := Hold(m, o, f.Fees, f.Reference)
	if err != nil {
		return 0, ErrCode(CodeAmountTooLarge)
	}
	if f.HoldLater && o.Side == market.Buy && o.Type.HasTrigger() && !o.Triggered && !o.Type.HasPrice() &&
		!o.ByQuote() {
		return 0, nil
	}
	if hold > f.Available {
		return 0, ErrCode(CodeInsufficientBalance)
	}
	return hold, nil
}

// checkChange applies specification 4.4 to the set of fields of an update, before their values.
func checkChange(old *market.Order, c *market.Command) *Error {
	set := c.Changed
	amounts := 0
	for _, field := range [...]market.Change{market.ChangeAmount, market.ChangeAmountRemaining,
		market.ChangeAmountQuote} {
		if set.Has(field) {
			amounts++
		}
	}
	waiting := old.Type.HasTrigger() && !old.Triggered
	switch {
	case set == 0:
		return ErrCode(CodeUnchanged)
	case amounts > 1:
		return ErrCode(CodeOneAmountOnly)
	case set.Has(market.ChangeAmountQuote) && !old.ByQuote(),
		amounts > 0 && !set.Has(market.ChangeAmountQuote) && old.ByQuote():
		return ErrCode(CodeSwitchAmountKind)
	case set.Has(market.ChangeAmountQuote) && !waiting:
		return UnsupportedForType("amountQuote")
	case set.Has(market.ChangeTriggerAmount) && !waiting:
		return UnsupportedForType("triggerAmount")
	case set.Has(market.ChangeTimeInForce) && old.Type.HasTrigger() && !waiting:
		return UnsupportedForType("timeInForce")
	case set.Has(market.ChangePrice) && !old.Type.HasPrice():
		return UnsupportedForType("price")
	}
	return nil
}

// ApplyChange sets the fields that an update changes; amount and amountRemaining move together
// (specification 4.4).
func ApplyChange(o *market.Order, c *market.Command) {
	from, set := &c.Order, c.Changed
	if set.Has(market.ChangeAmount) {
		o.Amount, o.AmountRemaining = from.Amount, from.Amount-o.FilledAmount
	}
	if set.Has(market.ChangeAmountRemaining) {
		o.Amount, o.AmountRemaining = from.AmountRemaining+o.FilledAmount, from.AmountRemaining
	}
	if set.Has(market.ChangeAmountQuote) {
		o.AmountQuoteRemaining += from.AmountQuote - o.AmountQuote
		o.AmountQuote = from.AmountQuote
	}
	if set.Has(market.ChangePrice) {
		o.Price = from.Price
	}
	if set.Has(market.ChangeTriggerAmount) {
		o.TriggerAmount = from.TriggerAmount
	}
	if set.Has(market.ChangeTimeInForce) {
		o.TimeInForce = from.TimeInForce
	}
	if set.Has(market.ChangePostOnly) {
		o.PostOnly = from.PostOnly
	}
	if set.Has(market.ChangeSelfTradePrevention) {
		o.SelfTradePrevention = from.SelfTradePrevention
	}
}
