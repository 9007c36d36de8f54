package exchange

import (
	"encoding/json"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// AppendOrder appends the JSON record of o with its fills, as specification 2.1 and 2.2 describe it: amounts are strings in
// plain decimals, times are integers, createdNs and updatedNs are microseconds padded to nanoseconds, and fields whose
// condition does not hold are left out. The market and the currencies of o must be of cat; a currency of zero is written as
// the one that follows from market and side. Everything that is ours alone (ID, Strategy, Bracket, Tag) stays inside.
func AppendOrder(dst []byte, cat *market.Catalog, o *market.Order, fills []market.Fill) []byte {
	return appendRecord(dst, cat, o, fills, true)
}

// AppendListed appends what AppendOrder does, as an element of a list of orders: clientOrderId is null where the order carries
// one and latest is false, that is, where a later order carries the same (specification 2.1).
func AppendListed(dst []byte, cat *market.Catalog, o *market.Order, fills []market.Fill, latest bool) []byte {
	return appendRecord(dst, cat, o, fills, latest)
}

// AppendShortOrder appends the short object that answers a request without responseRequired (specification 4.4): which order,
// in which market, and its times, in the form of AppendOrder.
func AppendShortOrder(dst []byte, cat *market.Catalog, o *market.Order) []byte {
	w := writer{dst: append(dst, '{'), cat: cat, m: cat.Market(o.Market)}
	w.identity(o, true)
	w.times(o)
	return append(w.dst, '}')
}

func appendRecord(dst []byte, cat *market.Catalog, o *market.Order, fills []market.Fill, latest bool) []byte {
	w := writer{dst: append(dst, '{'), cat: cat, m: cat.Market(o.Market)}
	w.identity(o, latest)
	w.times(o)
	w.text("status", o.Status.String())
	w.text("side", o.Side.String())
	w.text("orderType", o.Type.String())
	w.amounts(o)
	w.trigger(o)
	w.filled(o)
	w.fills(fills)
	w.conditions(o)
	return append(w.dst, '}')
}

// writer appends the members of one JSON object.
type writer struct {
	dst []byte
	cat *market.Catalog
	m   *market.Market
}

// identity writes which order it is; an order that is not the latest with its clientOrderId has null for it.
func (w *writer) identity(o *market.Order, latest bool) {
	w.id("orderId", o.ExchangeID)
	switch {
	case o.ClientOrderID == uuid.Nil:
	case latest:
		w.id("clientOrderId", o.ClientOrderID)
	default:
		w.key("clientOrderId")
		w.dst = append(w.dst, "null"...)
	}
	w.text("market", w.m.Name)
}

func (w *writer) times(o *market.Order) {
	const microsecond = 1000
	w.integer("created", o.Created.Millis())
	w.integer("updated", o.Updated.Millis())
	w.integer("createdNs", int64(market.FloorTo(o.Created, microsecond)))
	w.integer("updatedNs", int64(market.FloorTo(o.Updated, microsecond)))
}

// amounts writes what the order asks for and what it holds: amount or amountQuote, never both. Price belongs to the limit
// kinds; the specification's takeProfit has one too, which the exchange has never been seen to send, so zero is left out.
func (w *writer) amounts(o *market.Order) {
	if o.ByQuote() {
		w.fixed("amountQuote", int64(o.AmountQuote), w.m.QuoteDigits)
		w.fixed("amountQuoteRemaining", int64(o.AmountQuoteRemaining), w.m.QuoteDigits)
	} else {
		w.fixed("amount", int64(o.Amount), w.m.AmountDigits)
		w.fixed("amountRemaining", int64(o.AmountRemaining), w.m.AmountDigits)
	}
	if o.Type.HasPrice() || o.Type == market.TypeTakeProfit && o.Price != 0 {
		w.fixed("price", int64(o.Price), w.m.PriceDigits)
	}
	held := w.cat.Asset(holdCurrency(w.m, o))
	w.fixed("onHold", int64(o.OnHold), held.Digits)
	w.text("onHoldCurrency", held.Symbol)
}

func (w *writer) trigger(o *market.Order) {
	if !o.Type.HasTrigger() {
		return
	}
	w.fixed("triggerPrice", int64(o.TriggerAmount), w.m.PriceDigits)
	w.fixed("triggerAmount", int64(o.TriggerAmount), w.m.PriceDigits)
	w.text("triggerType", o.TriggerType.String())
	w.text("triggerReference", o.TriggerReference.String())
}

func (w *writer) filled(o *market.Order) {
	w.fixed("filledAmount", int64(o.FilledAmount), w.m.AmountDigits)
	w.value("filledAmountQuote", o.FilledAmountQuote)
	w.value("feePaid", o.FeePaid)
	w.text("feeCurrency", w.feeCurrency(o.FeeCurrency))
}

// conditions writes how the order behaves. disableMarketProtection is deprecated and always false.
func (w *writer) conditions(o *market.Order) {
	w.text("selfTradePrevention", o.SelfTradePrevention.String())
	w.boolean("visible", o.Visible)
	w.text("timeInForce", o.TimeInForce.String())
	w.boolean("postOnly", o.PostOnly)
	w.boolean("disableMarketProtection", false)
	w.integer("operatorId", o.OperatorID)
	w.text("restatementReason", o.RestatementReason.String())
	if o.CodGroupID != 0 {
		w.integer("codGroupId", int64(o.CodGroupID))
	}
}

func (w *writer) fills(fills []market.Fill) {
	w.key("fills")
	w.dst = append(w.dst, '[')
	for i := range fills {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.fill(&fills[i])
	}
	w.dst = append(w.dst, ']')
}

func (w *writer) fill(f *market.Fill) {
	w.dst = append(w.dst, '{')
	w.id("id", f.ID)
	w.integer("timestamp", f.Time.Millis())
	w.fixed("amount", int64(f.Amount), w.m.AmountDigits)
	w.fixed("price", int64(f.Price), w.m.PriceDigits)
	w.boolean("taker", f.Taker)
	if f.Settled {
		w.value("fee", f.Fee)
		w.text("feeCurrency", w.feeCurrency(f.FeeCurrency))
	}
	w.boolean("settled", f.Settled)
	w.dst = append(w.dst, '}')
}

// holdCurrency is the order's own, or what orders of its side hold.
func holdCurrency(m *market.Market, o *market.Order) market.AssetID {
	if o.OnHoldCurrency != 0 {
		return o.OnHoldCurrency
	}
	return HoldAsset(m, o.Side)
}

func (w *writer) feeCurrency(id market.AssetID) string {
	if id == 0 {
		id = w.m.Quote
	}
	return w.cat.Asset(id).Symbol
}

func (w *writer) key(name string) {
	if w.dst[len(w.dst)-1] != '{' {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
}

// text writes a member, or nothing for an empty text: an enum that is not set.
func (w *writer) text(name, text string) {
	if text == "" {
		return
	}
	w.key(name)
	w.dst = appendText(w.dst, text)
}

func (w *writer) id(name string, id uuid.UUID) {
	w.key(name)
	var text [36]byte
	encodeUUID(&text, id)
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, text[:]...)
	w.dst = append(w.dst, '"')
}

func (w *writer) integer(name string, n int64) {
	w.key(name)
	w.dst = strconv.AppendInt(w.dst, n, 10)
}

func (w *writer) boolean(name string, b bool) {
	w.key(name)
	w.dst = strconv.AppendBool(w.dst, b)
}

func (w *writer) fixed(name string, n int64, digits uint8) {
	w.key(name)
	w.dst = append(w.dst, '"')
	w.dst = market.AppendFixed(w.dst, n, digits)
	w.dst = append(w.dst, '"')
}

func (w *writer) value(name string, v market.Value) {
	w.key(name)
	w.dst = append(w.dst, '"')
	w.dst = v.Append(w.dst, w.m.ValueDigits)
	w.dst = append(w.dst, '"')
}

func encodeUUID(text *[36]byte, id uuid.UUID) {
	const digits = "0123456789abcdef"
	at := 0
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text[at] = '-'
			at++
		}
		text[at], text[at+1] = digits[b>>4], digits[b&15]
		at += 2
	}
}

// appendText appends text as a JSON string.
func appendText(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if ch := text[i]; ch < ' ' || ch >= 0x7f || ch == '"' || ch == '\\' {
			quoted, _ := json.Marshal(text) // a string always marshals
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}
