package exchange

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// AppendOrder appends the JSON record of o with its fills, as specification 2.1 and 2.2 describe
// it: amounts are strings in plain decimals, times are integers, createdNs and updatedNs are
// microseconds padded to nanoseconds, and fields whose condition does not hold are left out. The
// market and the currencies of o must be of cat; for a currency of zero
// AppendOrder writes the currency that follows from market and side. Our own fields (ID, Strategy,
// Bracket, Tag) are not written.
func AppendOrder(dst []byte, cat *market.Catalog, o *market.Order, fills []market.Fill) []byte {
	return appendRecord(dst, cat, o, fills, true)
}

// AppendListed appends what AppendOrder does, as an element of a list of orders: clientOrderId is
// null where the order carries one and latest is false, that is, where a later order carries the
// same (specification 2.1).
func AppendListed(dst []byte, cat *market.Catalog, o *market.Order, fills []market.Fill, latest bool) []byte {
	return appendRecord(dst, cat, o, fills, latest)
}

// AppendShortOrder appends the short object that answers a request without responseRequired
// (specification 4.4): which order, in which market, and its times, in the form of AppendOrder.
func AppendShortOrder(dst []byte, cat *market.Catalog, o *market.Order) []byte {
	w := begin(dst, cat, o)
	w.identity(o, true)
	w.times(o)
	return append(w.Dst, '}')
}

func appendRecord(dst []byte, cat *market.Catalog, o *market.Order, fills []market.Fill, latest bool) []byte {
	w := begin(dst, cat, o)
	w.identity(o, latest)
	w.times(o)
	w.Word("status", o.Status.String())
	w.Word("side", o.Side.String())
	w.Word("orderType", o.Type.String())
	w.amounts(o)
	w.trigger(o)
	w.filled(o)
	w.fills(fills)
	w.conditions(o)
	return append(w.Dst, '}')
}

// AppendOrderEvent appends the event that tells of a change of an order on the channel account
// (specification 6, websocket-facts 6): its record without fills, fees and the deprecated
// disableMarketProtection, and what happened to it.
func AppendOrderEvent(dst []byte, cat *market.Catalog, o *market.Order, exec market.ExecutionType) []byte {
	w := begin(dst, cat, o)
	w.Text("event", "order")
	w.identity(o, true)
	w.times(o)
	w.Word("status", o.Status.String())
	w.Word("side", o.Side.String())
	w.Word("orderType", o.Type.String())
	w.amounts(o)
	w.trigger(o)
	w.Fixed("filledAmount", int64(o.FilledAmount), w.m.AmountDigits)
	w.Value("filledAmountQuote", o.FilledAmountQuote, w.m.ValueDigits)
	w.Word("selfTradePrevention", o.SelfTradePrevention.String())
	w.Boolean("visible", o.Visible)
	w.Word("timeInForce", o.TimeInForce.String())
	w.Boolean("postOnly", o.PostOnly)
	w.Integer("operatorId", o.OperatorID)
	w.Word("executionType", exec.String())
	w.Word("restatementReason", o.RestatementReason.String())
	if o.CodGroupID != 0 {
		w.Integer("codGroupId", int64(o.CodGroupID))
	}
	return append(w.Dst, '}')
}

// AppendFillEvent appends the event that tells of a fill of o on the channel account
// (websocket-facts 6). The fee is left out until the fill is settled.
func AppendFillEvent(dst []byte, cat *market.Catalog, o *market.Order, f *market.Fill) []byte {
	w := begin(dst, cat, o)
	w.Text("event", "fill")
	w.Integer("timestamp", f.Time.Millis())
	w.Integer("timestampNs", int64(f.Time))
	w.identity(o, true)
	w.Integer("operatorId", o.OperatorID)
	w.ID("fillId", f.ID)
	w.Word("side", o.Side.String())
	w.deal(f)
	return append(w.Dst, '}')
}

// writer appends the members of one order's record.
type writer struct {
	wire.Writer
	cat *market.Catalog
	m   *market.Market
}

// begin opens the record of o.
func begin(dst []byte, cat *market.Catalog, o *market.Order) writer {
	return writer{Writer: wire.Writer{Dst: append(dst, '{')}, cat: cat, m: cat.Market(o.Market)}
}

// identity writes which order it is; an order that is not the latest with its clientOrderId has
// null for it.
func (w *writer) identity(o *market.Order, latest bool) {
	w.ID("orderId", o.ExchangeID)
	switch {
	case o.ClientOrderID == uuid.Nil:
	case latest:
		w.ID("clientOrderId", o.ClientOrderID)
	default:
		w.Null("clientOrderId")
	}
	w.Text("market", w.m.Name)
}

func (w *writer) times(o *market.Order) {
	const microsecond = 1000
	w.Integer("created", o.Created.Millis())
	w.Integer("updated", o.Updated.Millis())
	w.Integer("createdNs", int64(market.FloorTo(o.Created, microsecond)))
	w.Integer("updatedNs", int64(market.FloorTo(o.Updated, microsecond)))
}

// amounts writes what the order asks for and what it holds: amount or amountQuote, never both.
// Price belongs to the limit kinds; the specification's takeProfit has one too, which the exchange
// has never been seen to send, so zero is left out.
func (w *writer) amounts(o *market.Order) {
	if o.ByQuote() {
		w.Fixed("amountQuote", int64(o.AmountQuote), w.m.QuoteDigits)
		w.Fixed("amountQuoteRemaining", int64(o.AmountQuoteRemaining), w.m.QuoteDigits)
	} else {
		w.Fixed("amount", int64(o.Amount), w.m.AmountDigits)
		w.Fixed("amountRemaining", int64(o.AmountRemaining), w.m.AmountDigits)
	}
	if o.Type.HasPrice() || o.Type == market.TypeTakeProfit && o.Price != 0 {
		w.Fixed("price", int64(o.Price), w.m.PriceDigits)
	}
	held := w.cat.Asset(holdCurrency(w.m, o))
	w.Fixed("onHold", int64(o.OnHold), held.Digits)
	w.Text("onHoldCurrency", held.Symbol)
}

func (w *writer) trigger(o *market.Order) {
	if !o.Type.HasTrigger() {
		return
	}
	w.Fixed("triggerPrice", int64(o.TriggerAmount), w.m.PriceDigits)
	w.Fixed("triggerAmount", int64(o.TriggerAmount), w.m.PriceDigits)
	w.Word("triggerType", o.TriggerType.String())
	w.Word("triggerReference", o.TriggerReference.String())
}

func (w *writer) filled(o *market.Order) {
	w.Fixed("filledAmount", int64(o.FilledAmount), w.m.AmountDigits)
	w.Value("filledAmountQuote", o.FilledAmountQuote, w.m.ValueDigits)
	w.Value("feePaid", o.FeePaid, w.m.ValueDigits)
	w.Text("feeCurrency", w.feeCurrency(o.FeeCurrency))
}

// conditions writes how the order behaves. disableMarketProtection is deprecated and always false.
func (w *writer) conditions(o *market.Order) {
	w.Word("selfTradePrevention", o.SelfTradePrevention.String())
	w.Boolean("visible", o.Visible)
	w.Word("timeInForce", o.TimeInForce.String())
	w.Boolean("postOnly", o.PostOnly)
	w.Boolean("disableMarketProtection", false)
	w.Integer("operatorId", o.OperatorID)
	w.Word("restatementReason", o.RestatementReason.String())
	if o.CodGroupID != 0 {
		w.Integer("codGroupId", int64(o.CodGroupID))
	}
}

func (w *writer) fills(fills []market.Fill) {
	w.Key("fills")
	w.Open('[')
	for i := range fills {
		w.fill(&fills[i])
	}
	w.Close(']')
}

// deal writes what a fill traded. Its fee is left out until it is settled.
func (w *writer) deal(f *market.Fill) {
	w.Fixed("amount", int64(f.Amount), w.m.AmountDigits)
	w.Fixed("price", int64(f.Price), w.m.PriceDigits)
	w.Boolean("taker", f.Taker)
	if f.Settled {
		w.Value("fee", f.Fee, w.m.ValueDigits)
		w.Text("feeCurrency", w.feeCurrency(f.FeeCurrency))
	}
}

func (w *writer) fill(f *market.Fill) {
	w.Open('{')
	w.ID("id", f.ID)
	w.Integer("timestamp", f.Time.Millis())
	w.deal(f)
	w.Boolean("settled", f.Settled)
	w.Close('}')
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
