package exchange

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// orderRecord is specification 2.1. A json.Number takes a string, a number and null alike.
type orderRecord struct {
	OrderID              string       `json:"orderId"`
	ClientOrderID        string       `json:"clientOrderId"`
	Market               string       `json:"market"`
	Created              json.Number  `json:"created"`
	Updated              json.Number  `json:"updated"`
	CreatedNs            json.Number  `json:"createdNs"`
	UpdatedNs            json.Number  `json:"updatedNs"`
	Status               string       `json:"status"`
	Side                 string       `json:"side"`
	OrderType            string       `json:"orderType"`
	Amount               json.Number  `json:"amount"`
	AmountRemaining      json.Number  `json:"amountRemaining"`
	Price                json.Number  `json:"price"`
	AmountQuote          json.Number  `json:"amountQuote"`
	AmountQuoteRemaining json.Number  `json:"amountQuoteRemaining"`
	OnHold               json.Number  `json:"onHold"`
	OnHoldCurrency       string       `json:"onHoldCurrency"`
	TriggerPrice         json.Number  `json:"triggerPrice"`
	TriggerAmount        json.Number  `json:"triggerAmount"`
	TriggerType          string       `json:"triggerType"`
	TriggerReference     string       `json:"triggerReference"`
	FilledAmount         json.Number  `json:"filledAmount"`
	FilledAmountQuote    json.Number  `json:"filledAmountQuote"`
	FeePaid              json.Number  `json:"feePaid"`
	FeeCurrency          string       `json:"feeCurrency"`
	Fills                []fillRecord `json:"fills"`
	SelfTradePrevention  string       `json:"selfTradePrevention"`
	Visible              bool         `json:"visible"`
	TimeInForce          string       `json:"timeInForce"`
	PostOnly             bool         `json:"postOnly"`
	OperatorID           json.Number  `json:"operatorId"`
	RestatementReason    string       `json:"restatementReason"`
	CodGroupID           json.Number  `json:"codGroupId"`
}

// fillRecord is specification 2.2.
type fillRecord struct {
	ID          string      `json:"id"`
	Timestamp   json.Number `json:"timestamp"`
	Amount      json.Number `json:"amount"`
	Price       json.Number `json:"price"`
	Taker       bool        `json:"taker"`
	Fee         json.Number `json:"fee"`
	FeeCurrency string      `json:"feeCurrency"`
	Settled     *bool       `json:"settled"`
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
	if err := json.Unmarshal(data, &record); err != nil {
		return market.Order{}, nil, fmt.Errorf("order record: %w", err)
	}
	m := cat.MarketNamed(record.Market)
	if m == nil {
		return market.Order{}, nil, fmt.Errorf("order record: %q: %w", clip(record.Market), ErrUnknownMarket)
	}
	r := reader{cat: cat, m: m}
	order := r.order(&record)
	fills := r.fills(record.Fills, order.Side)
	if r.err != nil {
		return market.Order{}, nil, False(fmt.Errorf("order record %s: %w", clip(record.OrderID), r.err))
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
	o := market.Order{Market: r.m.ID, Visible: from.Visible, OrderState: market.OrderState{PostOnly: from.PostOnly}}
	r.enums(from, &o)
	o.ExchangeID = r.id("orderId", from.OrderID)
	o.ClientOrderID, _ = uuid.Parse(from.ClientOrderID)
	if operator := r.integer("operatorId", from.OperatorID); operator != math.MinInt64 {
		o.OperatorID = operator
	}
	o.CodGroupID = r.group(from.CodGroupID)
	o.Created = r.moment("created", from.Created, from.CreatedNs)
	o.Updated = r.moment("updated", from.Updated, from.UpdatedNs)
	r.amounts(from, &o)
	o.Triggered = hasTriggered(&o)
	return o
}

func (r *reader) enums(from *orderRecord, o *market.Order) {
	var err error
	if o.Side, err = market.ParseSide(from.Side); err != nil {
		r.fail("side", err)
	}
	if o.Status, err = market.ParseStatus(from.Status); err != nil {
		o.Status = market.StatusUnresolved
	}
	o.Type, _ = market.ParseOrderType(from.OrderType)
	o.TimeInForce, _ = market.ParseTimeInForce(from.TimeInForce)
	o.SelfTradePrevention, _ = market.ParseSelfTradePrevention(from.SelfTradePrevention)
	o.TriggerType, _ = market.ParseTriggerType(from.TriggerType)
	o.TriggerReference, _ = market.ParseTriggerReference(from.TriggerReference)
	o.RestatementReason, _ = market.ParseRestatementReason(from.RestatementReason)
}

func (r *reader) amounts(from *orderRecord, o *market.Order) {
	o.Amount = r.qty("amount", from.Amount)
	o.AmountRemaining = r.qty("amountRemaining", from.AmountRemaining)
	o.Price = r.price("price", from.Price)
	o.AmountQuote = r.money("amountQuote", from.AmountQuote, r.m.QuoteDigits)
	o.AmountQuoteRemaining = r.moneyDown("amountQuoteRemaining", from.AmountQuoteRemaining)
	o.TriggerAmount = r.price("triggerAmount", from.TriggerAmount)
	if from.TriggerAmount == "" {
		o.TriggerAmount = r.price("triggerPrice", from.TriggerPrice)
	}
	o.OnHoldCurrency = r.asset("onHoldCurrency", from.OnHoldCurrency, holdCurrency(r.m, o))
	o.OnHold = r.money("onHold", from.OnHold, r.cat.Asset(o.OnHoldCurrency).Digits)
	o.FilledAmount = r.qty("filledAmount", from.FilledAmount)
	o.FilledAmountQuote = r.value("filledAmountQuote", from.FilledAmountQuote)
	o.FeePaid = r.value("feePaid", from.FeePaid)
	o.FeeCurrency = r.asset("feeCurrency", from.FeeCurrency, r.m.Quote)
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
		ID:      r.id("fills.id", from.ID),
		Market:  r.m.ID,
		Taker:   from.Taker,
		Settled: from.Fee != "",
		Price:   r.price("fills.price", from.Price),
		Amount:  r.qty("fills.amount", from.Amount),
		Time:    r.moment("fills.timestamp", from.Timestamp, ""),
	}
	if from.Settled != nil {
		f.Settled = *from.Settled
	}
	if f.Settled {
		f.Fee = r.value("fills.fee", from.Fee)
		f.FeeCurrency = r.asset("fills.feeCurrency", from.FeeCurrency, r.m.Quote)
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

func (r *reader) integer(field string, text json.Number) int64 {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		r.fail(field, err)
	}
	return n
}

func (r *reader) group(text json.Number) uint16 {
	group := r.integer("codGroupId", text)
	if group < 0 || group > math.MaxUint16 {
		r.fail("codGroupId", fmt.Errorf("%d: %w", group, market.ErrOverflow))
		return 0
	}
	return uint16(group)
}

// moment prefers nanoseconds, which carry microseconds today and more one day.
func (r *reader) moment(field string, millis, nanos json.Number) market.Time {
	if nanos != "" {
		return market.Time(r.integer(field+"Ns", nanos))
	}
	t, err := market.TimeOfMillis(r.integer(field, millis))
	if err != nil {
		r.fail(field, err)
	}
	return t
}

func (r *reader) price(field string, text json.Number) market.Price {
	return market.Price(r.fixed(field, text, r.m.PriceDigits))
}

func (r *reader) qty(field string, text json.Number) market.Qty {
	return market.Qty(r.fixed(field, text, r.m.AmountDigits))
}

func (r *reader) money(field string, text json.Number, digits uint8) market.Money {
	return market.Money(r.fixed(field, text, digits))
}

// moneyDown reads quote currency and rounds it down: what is left after exact fills may have more
// decimals than the asset.
func (r *reader) moneyDown(field string, text json.Number) market.Money {
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
func (r *reader) fixed(field string, text json.Number, digits uint8) int64 {
	if text == "" {
		return 0
	}
	n, err := market.ParseFixed(string(text), digits)
	if err == nil && n < 0 {
		err = fmt.Errorf("%d is negative", n)
	}
	if err != nil {
		r.fail(field, err)
		return 0
	}
	return n
}

func (r *reader) value(field string, text json.Number) market.Value {
	if text == "" {
		return market.Value{}
	}
	v, err := market.ParseValue(string(text), r.m.ValueDigits)
	if err != nil {
		r.fail(field, err)
	}
	return v
}
