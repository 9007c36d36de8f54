package audit

import (
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// complete sets what a record leaves out to what is known, and clears what does not apply to such
// an order: nobody acts on it.
func complete(own, told *market.Order) {
	if told.TimeInForce == 0 {
		told.TimeInForce = own.TimeInForce
	}
	if told.SelfTradePrevention == 0 {
		told.SelfTradePrevention = own.SelfTradePrevention
	}
	if told.Type == 0 {
		told.Type = own.Type
	}
	if told.TriggerReference == 0 {
		told.TriggerReference = own.TriggerReference
	}
	if !own.Type.HasPrice() {
		told.Price = own.Price
	}
	if !own.Type.HasTrigger() {
		told.TriggerAmount = 0
	}
	if own.ByQuote() {
		told.Amount, told.AmountRemaining = 0, 0
	} else {
		told.AmountQuote, told.AmountQuoteRemaining = 0, 0
	}
}

// identity holds the names of a record against the order's.
func (x *examination) identity(told *market.Order) {
	own := x.order.Order
	if told.Market != own.Market {
		x.breaks(RuleMarket, x.Market.Name, x.marketName(told.Market))
		return // nothing else can be compared
	}
	switch {
	case own.ExchangeID != uuid.Nil:
		x.keeps(told.ExchangeID == own.ExchangeID, RuleOrderID, own.ExchangeID.String(), told.ExchangeID.String())
	case x.OrderOf != nil && told.ExchangeID != uuid.Nil:
		other := x.OrderOf(told.ExchangeID)
		x.keeps(other == 0 || other == own.ID, RuleOrderID, "a new id",
			told.ExchangeID.String()+" of order "+strconv.FormatInt(int64(other), 10))
	}
	named := told.ClientOrderID == own.ClientOrderID || told.ClientOrderID == uuid.Nil && own.ExchangeID != uuid.Nil
	x.keeps(named, RuleClientOrderID, own.ClientOrderID.String(), told.ClientOrderID.String())
	x.keeps(told.Side == own.Side, RuleSide, own.Side.String(), told.Side.String())
	x.keeps(told.Type == own.Type, RuleType, own.Type.String(), told.Type.String())
	x.keeps(told.TriggerReference == own.TriggerReference || own.TriggerReference == 0, RuleReference,
		own.TriggerReference.String(), told.TriggerReference.String())
	x.keeps(told.FeeCurrency == 0 || told.FeeCurrency == x.Market.Quote, RuleFeeCurrency, x.symbol(x.Market.Quote),
		x.symbol(told.FeeCurrency))
	hold := exchange.HoldAsset(x.Market, own.Side)
	x.keeps(told.OnHoldCurrency == 0 || told.OnHoldCurrency == hold, RuleHoldCurrency, x.symbol(hold),
		x.symbol(told.OnHoldCurrency))
	x.moment(RuleTime, told.Updated)
}

// moment holds a time against the order's life. Zero is a time that was not told.
func (x *examination) moment(rule Rule, at market.Time) {
	x.keeps(at == 0 || at >= x.since, rule, "at least "+x.since.String(), at.String())
}

// sinceOf is from when on times can be told of the order: since the exchange took it, by the
// exchange's own clock where that is told, and within ClockError by this machine's.
func (x *examination) sinceOf(told *market.Order) market.Time {
	since := x.order.Created.Add(-ClockError)
	if told != nil && told.Created != 0 {
		since = max(since, told.Created.Add(-Skew))
	}
	return since
}

// past moves times that lie in the future to now: the clock of this machine, or the answer, is
// wrong, and the order's next answer must not pass for older.
func (c *Check) past(at *market.Time) {
	if c.Now != 0 && *at > c.Now.Add(Skew) {
		*at = c.Now
	}
}

// terms holds what the record says that the order wants against what was sent: before or after a
// change, and after it where the record answers the change.
func (x *examination) terms(told *market.Order, kind market.CommandKind) {
	if told.Market != x.order.Market {
		return
	}
	change := x.order.Change
	if change == nil {
		x.broken = append(x.broken, x.differences(x.order.Order, told, 0)...)
		return
	}
	var free market.Change
	if change.Blind {
		free = changeable
		x.widen(told)
	}
	after := x.differences(&change.Order, told, free)
	if kind != market.CommandUpdate {
		if before := x.differences(x.order.Order, told, free); len(before) < len(after) || len(before) == 0 {
			after = before
		}
	}
	x.broken = append(x.broken, after...)
}

// changeable are the fields that an update can set.
const changeable = market.ChangeAmount | market.ChangeAmountQuote | market.ChangePrice | market.ChangeTriggerAmount |
	market.ChangeTimeInForce |
	market.ChangePostOnly | market.ChangeSelfTradePrevention

// differences lists the terms of a record that are others than wanted. Those in free may have any
// value.
func (x *examination) differences(want, told *market.Order, free market.Change) (list []Broken) {
	m := x.Market
	differ := func(holds bool, field market.Change, rule Rule, wanted, seen string) {
		if !holds && !free.Has(field) {
			list = append(list, Broken{rule, wanted, seen})
		}
	}
	less := x.decremented(told)
	differ(told.Amount == want.Amount || less && 0 < told.Amount && told.Amount < want.Amount, market.ChangeAmount,
		RuleAmount, m.FormatQty(want.Amount), m.FormatQty(told.Amount))
	differ(told.AmountQuote == want.AmountQuote || less && 0 < told.AmountQuote && told.AmountQuote < want.AmountQuote,
		market.ChangeAmountQuote, RuleAmountQuote,
		m.FormatMoney(want.AmountQuote), m.FormatMoney(told.AmountQuote))
	differ(told.Price == want.Price, market.ChangePrice, RulePrice, m.FormatPrice(want.Price),
		m.FormatPrice(told.Price))
	differ(told.TriggerAmount == want.TriggerAmount, market.ChangeTriggerAmount, RuleTrigger,
		m.FormatPrice(want.TriggerAmount), m.FormatPrice(told.TriggerAmount))
	differ(told.TimeInForce == want.TimeInForce || want.TimeInForce == 0, market.ChangeTimeInForce, RuleTimeInForce,
		want.TimeInForce.String(), told.TimeInForce.String())
	differ(told.SelfTradePrevention == want.SelfTradePrevention || want.SelfTradePrevention == 0,
		market.ChangeSelfTradePrevention, RuleSelfTrade,
		want.SelfTradePrevention.String(), told.SelfTradePrevention.String())
	differ(told.PostOnly == want.PostOnly, market.ChangePostOnly, RulePostOnly, strconv.FormatBool(want.PostOnly),
		strconv.FormatBool(told.PostOnly))
	return list
}

// decremented reports whether self-trade prevention may have taken something off the order. The
// reason of the end takes the place of that one.
func (x *examination) decremented(told *market.Order) bool {
	return told.RestatementReason == market.DecrementOnSelfTradePrevention ||
		x.order.RestatementReason == market.DecrementOnSelfTradePrevention || told.Status.Terminal()
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
