package exchange

import (
	"fmt"
	"math"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// member is a member of an order's record that is read (specification 2.1), in the order in which
// AppendOrder writes them.
type member uint8

const (
	memberOrderID member = iota
	memberClientOrderID
	memberMarket
	memberCreated
	memberUpdated
	memberCreatedNs
	memberUpdatedNs
	memberStatus
	memberSide
	memberOrderType
	memberAmount
	memberAmountRemaining
	memberAmountQuote
	memberAmountQuoteRemaining
	memberPrice
	memberOnHold
	memberOnHoldCurrency
	memberTriggerPrice
	memberTriggerAmount
	memberTriggerType
	memberTriggerReference
	memberFilledAmount
	memberFilledAmountQuote
	memberFeePaid
	memberFeeCurrency
	memberFills
	memberSelfTradePrevention
	memberVisible
	memberTimeInForce
	memberPostOnly
	memberOperatorID
	memberRestatementReason
	memberCodGroupID
	members
)

var memberNames = [members]string{"orderId", "clientOrderId", "market", "created", "updated", "createdNs", "updatedNs",
	"status", "side", "orderType", "amount", "amountRemaining", "amountQuote", "amountQuoteRemaining", "price",
	"onHold", "onHoldCurrency", "triggerPrice", "triggerAmount", "triggerType", "triggerReference",
	"filledAmount", "filledAmountQuote", "feePaid", "feeCurrency", "fills", "selfTradePrevention", "visible",
	"timeInForce", "postOnly", "operatorId", "restatementReason", "codGroupId"}

// numbers are the members that are a number, quoted or not; the others are texts.
const numbers uint64 = 1<<memberCreated | 1<<memberUpdated | 1<<memberCreatedNs | 1<<memberUpdatedNs |
	1<<memberAmount | 1<<memberAmountRemaining | 1<<memberAmountQuote | 1<<memberAmountQuoteRemaining |
	1<<memberPrice | 1<<memberOnHold | 1<<memberTriggerPrice | 1<<memberTriggerAmount | 1<<memberFilledAmount |
	1<<memberFilledAmountQuote | 1<<memberFeePaid | 1<<memberOperatorID | 1<<memberCodGroupID

// orderRecord is specification 2.1: the texts of the members; absent and null ones are empty.
type orderRecord struct {
	text              [members]string
	visible, postOnly bool
	fills             []fillRecord
}

// fillRecord is specification 2.2.
type fillRecord struct {
	id, timestamp, amount, price, fee, feeCurrency string
	taker, settled, settledKnown                   bool
}

// ParseOrder reads the JSON record of one order and its fills (specification 2.1, 2.2), exactly or
// with an error that names the field; only amountQuoteRemaining, which is what exact fills leave
// over, is rounded down to the asset's decimals. The units are those of the market, which must be
// in cat (else ErrUnknownMarket). The order's ID, Strategy and Tag are left zero: the caller knows
// whose it is.
//
// It is tolerant where the exchange may change: unknown fields are ignored, null counts as absent,
// an unknown status is StatusUnresolved, any other unknown enum text and a clientOrderId that is no
// UUID are left zero. An orderId or fill id that is no UUID and a side that is neither buy nor sell
// are errors, for nothing can be booked without them. An operatorId of the smallest int64 stands
// for none; Triggered is inferred from the status.
func ParseOrder(data []byte, cat *market.Catalog) (market.Order, []market.Fill, error) {
	var record orderRecord
	if err := record.scan(data); err != nil {
		return market.Order{}, nil, fmt.Errorf("order record: %w", err)
	}
	m := cat.MarketNamed(record.text[memberMarket])
	if m == nil {
		return market.Order{}, nil, fmt.Errorf("order record: %q: %w", clip(record.text[memberMarket]),
			ErrUnknownMarket)
	}
	r := reader{cat: cat, m: m}
	order := r.order(&record)
	fills := r.fills(record.fills, order.Side)
	if r.err != nil {
		return market.Order{}, nil, False(fmt.Errorf("order record %s: %w", clip(record.text[memberOrderID]), r.err))
	}
	return order, fills, nil
}

// reader converts fields and keeps the first error.
type reader struct {
	cat *market.Catalog
	m   *market.Market
	err error
}

func (r *reader) order(from *orderRecord) market.Order {
	o := market.Order{Market: r.m.ID, Visible: from.visible, OrderState: market.OrderState{PostOnly: from.postOnly}}
	t := &from.text
	r.enums(t, &o)
	o.ExchangeID = r.id("orderId", t[memberOrderID])
	o.ClientOrderID, _ = uuid.Parse(t[memberClientOrderID])
	if operator := r.integer("operatorId", t[memberOperatorID]); operator != math.MinInt64 {
		o.OperatorID = operator
	}
	o.CodGroupID = r.group(t[memberCodGroupID])
	o.Created = r.moment("created", t[memberCreated], t[memberCreatedNs])
	o.Updated = r.moment("updated", t[memberUpdated], t[memberUpdatedNs])
	r.amounts(t, &o)
	o.Triggered = hasTriggered(&o)
	return o
}

func (r *reader) enums(t *[members]string, o *market.Order) {
	var err error
	if o.Side, err = market.ParseSide(t[memberSide]); err != nil {
		r.fail("side", err)
	}
	if o.Status, err = market.ParseStatus(t[memberStatus]); err != nil {
		o.Status = market.StatusUnresolved
	}
	o.Type = known(t[memberOrderType], market.ParseOrderType)
	o.TimeInForce = known(t[memberTimeInForce], market.ParseTimeInForce)
	o.SelfTradePrevention = known(t[memberSelfTradePrevention], market.ParseSelfTradePrevention)
	o.TriggerType = known(t[memberTriggerType], market.ParseTriggerType)
	o.TriggerReference = known(t[memberTriggerReference], market.ParseTriggerReference)
	o.RestatementReason = known(t[memberRestatementReason], market.ParseRestatementReason)
}

// known returns the value of an enum's text, 0 for an absent or unknown one.
func known[T any](text string, parse func(string) (T, error)) (value T) {
	if text != "" {
		value, _ = parse(text)
	}
	return value
}

func (r *reader) amounts(t *[members]string, o *market.Order) {
	o.Amount = r.qty("amount", t[memberAmount])
	o.AmountRemaining = r.qty("amountRemaining", t[memberAmountRemaining])
	o.Price = r.price("price", t[memberPrice])
	o.AmountQuote = r.money("amountQuote", t[memberAmountQuote], r.m.QuoteDigits)
	o.AmountQuoteRemaining = r.moneyDown("amountQuoteRemaining", t[memberAmountQuoteRemaining])
	o.TriggerAmount = r.price("triggerAmount", t[memberTriggerAmount])
	if t[memberTriggerAmount] == "" {
		o.TriggerAmount = r.price("triggerPrice", t[memberTriggerPrice])
	}
	o.OnHoldCurrency = r.asset("onHoldCurrency", t[memberOnHoldCurrency], holdCurrency(r.m, o))
	o.OnHold = r.money("onHold", t[memberOnHold], r.cat.Asset(o.OnHoldCurrency).Digits)
	o.FilledAmount = r.qty("filledAmount", t[memberFilledAmount])
	o.FilledAmountQuote = r.value("filledAmountQuote", t[memberFilledAmountQuote])
	o.FeePaid = r.value("feePaid", t[memberFeePaid])
	o.FeeCurrency = r.asset("feeCurrency", t[memberFeeCurrency], r.m.Quote)
}

func (r *reader) fills(from []fillRecord, side market.Side) []market.Fill {
	if len(from) == 0 {
		return nil
	}
	fills := make([]market.Fill, len(from))
	for i := range from {
		fills[i] = r.fill(&from[i])
		fills[i].Side = side
	}
	return fills
}

// fill reads one fill. Without the field settled, a fee says that it is.
func (r *reader) fill(from *fillRecord) market.Fill {
	f := market.Fill{
		ID:      r.id("fills.id", from.id),
		Market:  r.m.ID,
		Taker:   from.taker,
		Settled: from.fee != "",
		Price:   r.price("fills.price", from.price),
		Amount:  r.qty("fills.amount", from.amount),
		Time:    r.moment("fills.timestamp", from.timestamp, ""),
	}
	if from.settledKnown {
		f.Settled = from.settled
	}
	if f.Settled {
		f.Fee = r.value("fills.fee", from.fee)
		f.FeeCurrency = r.asset("fills.feeCurrency", from.feeCurrency, r.m.Quote)
	}
	return f
}

// hasTriggered infers what the record does not say: an order that rests, filled or expired (which
// happens at the book) has been triggered; one cancelled without a fill may not have been.
func hasTriggered(o *market.Order) bool {
	if !o.Type.HasTrigger() {
		return false
	}
	switch o.Status {
	case market.StatusNew, market.StatusPartiallyFilled, market.StatusFilled, market.StatusExpired:
		return true
	}
	return o.FilledAmount > 0
}

func (r *reader) fail(field string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", field, err)
	}
}

func (r *reader) id(field, text string) uuid.UUID {
	id, err := uuid.Parse(text)
	if err != nil {
		r.fail(field, err)
	}
	return id
}

func (r *reader) asset(field, symbol string, absent market.AssetID) market.AssetID {
	if symbol == "" {
		return absent
	}
	asset := r.cat.AssetNamed(symbol)
	if asset == nil {
		r.fail(field, fmt.Errorf("asset %q is not in the catalog", clip(symbol)))
		return absent
	}
	return asset.ID
}

func (r *reader) integer(field string, text string) int64 {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.fail(field, err)
	}
	return n
}

func (r *reader) group(text string) uint16 {
	group := r.integer("codGroupId", text)
	if group < 0 || group > math.MaxUint16 {
		r.fail("codGroupId", fmt.Errorf("%d: %w", group, market.ErrOverflow))
		return 0
	}
	return uint16(group)
}

// moment prefers nanoseconds, which carry microseconds today and more one day.
func (r *reader) moment(field string, millis, nanos string) market.Time {
	if nanos != "" {
		return market.Time(r.integer(field+"Ns", nanos))
	}
	t, err := market.TimeOfMillis(r.integer(field, millis))
	if err != nil {
		r.fail(field, err)
	}
	return t
}

func (r *reader) price(field string, text string) market.Price {
	return market.Price(r.fixed(field, text, r.m.PriceDigits))
}

func (r *reader) qty(field string, text string) market.Qty {
	return market.Qty(r.fixed(field, text, r.m.AmountDigits))
}

func (r *reader) money(field string, text string, digits uint8) market.Money {
	return market.Money(r.fixed(field, text, digits))
}

// moneyDown reads quote currency and rounds it down: what is left after exact fills may have more
// decimals than the asset.
func (r *reader) moneyDown(field string, text string) market.Money {
	money, err := r.value(field, text).FloorMoney(r.m.MoneyDrop())
	if err == nil && money < 0 {
		err = fmt.Errorf("%d is negative", money)
	}
	if err != nil {
		r.fail(field, err)
		return 0
	}
	return money
}

// fixed reads a number that cannot be negative.
func (r *reader) fixed(field string, text string, digits uint8) int64 {
	if text == "" {
		return 0
	}
	n, err := market.ParseFixed(text, digits)
	if err == nil && n < 0 {
		err = fmt.Errorf("%d is negative", n)
	}
	if err != nil {
		r.fail(field, err)
		return 0
	}
	return n
}

func (r *reader) value(field string, text string) market.Value {
	if text == "" {
		return market.Value{}
	}
	v, err := market.ParseValue(text, r.m.ValueDigits)
	if err != nil {
		r.fail(field, err)
	}
	return v
}
