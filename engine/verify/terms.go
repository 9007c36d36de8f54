package verify

import (
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// complete sets missing fields of a record to what is known, and clears fields that do not apply to
// the order, because nothing uses them.
func complete(own, got *market.Order) {
	if got.TimeInForce == 0 {
		got.TimeInForce = own.TimeInForce
	}
	if got.SelfTradePrevention == 0 {
		got.SelfTradePrevention = own.SelfTradePrevention
	}
	if got.Type == 0 {
		got.Type = own.Type
	}
	if got.TriggerReference == 0 {
		got.TriggerReference = own.TriggerReference
	}
	if !own.Type.HasPrice() {
		got.Price = own.Price
	}
	if !own.Type.HasTrigger() {
		got.TriggerAmount = 0
	}
	if own.ByQuote() {
		got.Amount, got.AmountRemaining = 0, 0
	} else {
		got.AmountQuote, got.AmountQuoteRemaining = 0, 0
	}
}

// identity checks the names in a record against the order's.
func (x *examination) identity(got *market.Order) {
	own := x.order.Order
	if got.Market != own.Market {
		x.violated(RuleMarket, x.Market.Name, x.marketName(got.Market))
		return // nothing else can be compared
	}
	switch {
	case own.ExchangeID != uuid.Nil:
		x.require(got.ExchangeID == own.ExchangeID, RuleOrderID, own.ExchangeID.String(), got.ExchangeID.String())
	case x.OrderOf != nil && got.ExchangeID != uuid.Nil:
		other := x.OrderOf(got.ExchangeID)
		x.require(other == 0 || other == own.ID, RuleOrderID, "a new id",
			got.ExchangeID.String()+" of order "+strconv.FormatInt(int64(other), 10))
	}
	named := got.ClientOrderID == own.ClientOrderID || got.ClientOrderID == uuid.Nil && own.ExchangeID != uuid.Nil
	x.require(named, RuleClientOrderID, own.ClientOrderID.String(), got.ClientOrderID.String())
	x.require(got.Side == own.Side, RuleSide, own.Side.String(), got.Side.String())
	x.require(got.Type == own.Type, RuleType, own.Type.String(), got.Type.String())
	x.require(got.TriggerReference == own.TriggerReference || own.TriggerReference == 0, RuleReference,
		own.TriggerReference.String(), got.TriggerReference.String())
	x.require(got.FeeCurrency == 0 || got.FeeCurrency == x.Market.Quote, RuleFeeCurrency, x.symbol(x.Market.Quote),
		x.symbol(got.FeeCurrency))
	hold := exchange.HoldAsset(x.Market, own.Side)
	x.require(got.OnHoldCurrency == 0 || got.OnHoldCurrency == hold, RuleHoldCurrency, x.symbol(hold),
		x.symbol(got.OnHoldCurrency))
	x.moment(RuleTime, got.Updated)
}

// moment checks a time against the order's life. Zero is a missing time.
func (x *examination) moment(rule Rule, at market.Time) {
	x.require(at == 0 || at >= x.since, rule, "at least "+x.since.String(), at.String())
}

// sinceOf is the earliest possible time of the order: its creation by the exchange's clock, with
// Skew, or by this machine's, with ClockError.
func (x *examination) sinceOf(got *market.Order) market.Time {
	since := x.order.Created.Add(-ClockError)
	if got != nil && got.Created != 0 {
		since = max(since, got.Created.Add(-Skew))
	}
	return since
}

// capTime sets a future time to now: a clock is wrong, and the order's next answer must not count
// as older.
func (c *Check) capTime(at *market.Time) {
	if c.Now != 0 && *at > c.Now.Add(Skew) {
		*at = c.Now
	}
}

// terms checks the terms in a record against those before or after a change; only against those
// after it where the record answers the change.
func (x *examination) terms(got *market.Order, kind market.CommandKind) {
	if got.Market != x.order.Market {
		return
	}
	change := x.order.Change
	if change == nil {
		x.broken = append(x.broken, x.differences(x.order.Order, got, 0)...)
		return
	}
	var free market.Change
	if change.Unknown {
		free = changeable
		x.widen(got)
	}
	after := x.differences(&change.Order, got, free)
	if kind != market.CommandUpdate {
		if before := x.differences(x.order.Order, got, free); len(before) < len(after) || len(before) == 0 {
			after = before
		}
	}
	x.broken = append(x.broken, after...)
}

// changeable are the fields that an update can set.
const changeable = market.ChangeAmount | market.ChangeAmountQuote | market.ChangePrice | market.ChangeTriggerAmount |
	market.ChangeTimeInForce |
	market.ChangePostOnly | market.ChangeSelfTradePrevention

// differences lists the terms of a record that differ from want. Fields in free may have any value.
func (x *examination) differences(want, got *market.Order, free market.Change) (list []Broken) {
	m := x.Market
	differ := func(holds bool, field market.Change, rule Rule, wanted, seen string) {
		if !holds && !free.Has(field) {
			list = append(list, Broken{rule, wanted, seen})
		}
	}
	less := x.decremented(got)
	differ(got.Amount == want.Amount || less && 0 < got.Amount && got.Amount < want.Amount, market.ChangeAmount,
		RuleAmount, m.FormatQty(want.Amount), m.FormatQty(got.Amount))
	differ(got.AmountQuote == want.AmountQuote || less && 0 < got.AmountQuote && got.AmountQuote < want.AmountQuote,
		market.ChangeAmountQuote, RuleAmountQuote,
		m.FormatMoney(want.AmountQuote), m.FormatMoney(got.AmountQuote))
	differ(got.Price == want.Price, market.ChangePrice, RulePrice, m.FormatPrice(want.Price),
		m.FormatPrice(got.Price))
	differ(got.TriggerAmount == want.TriggerAmount, market.ChangeTriggerAmount, RuleTrigger,
		m.FormatPrice(want.TriggerAmount), m.FormatPrice(got.TriggerAmount))
	differ(got.TimeInForce == want.TimeInForce || want.TimeInForce == 0, market.ChangeTimeInForce, RuleTimeInForce,
		want.TimeInForce.String(), got.TimeInForce.String())
	differ(got.SelfTradePrevention == want.SelfTradePrevention || want.SelfTradePrevention == 0,
		market.ChangeSelfTradePrevention, RuleSelfTrade,
		want.SelfTradePrevention.String(), got.SelfTradePrevention.String())
	differ(got.PostOnly == want.PostOnly, market.ChangePostOnly, RulePostOnly, strconv.FormatBool(want.PostOnly),
		strconv.FormatBool(got.PostOnly))
	return list
}

// decremented reports whether self-trade prevention may have reduced the order. The reason of the
// end overwrites that reason.
func (x *examination) decremented(got *market.Order) bool {
	return got.RestatementReason == market.DecrementOnSelfTradePrevention ||
		x.order.RestatementReason == market.DecrementOnSelfTradePrevention || got.Status.Terminal()
}

func (x *examination) symbol(id market.AssetID) string {
	if id == 0 || int(id) > len(x.Catalog.Assets()) {
		return "none"
	}
	return x.Catalog.Asset(id).Symbol
}

func (x *examination) marketName(id market.ID) string {
	if id == 0 || int(id) > len(x.Catalog.Markets()) {
		return "none"
	}
	return x.Catalog.Market(id).Name
}
