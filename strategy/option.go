package strategy

import "github.com/tidemark-trading/tidemark/market"

// Option sets one more field of an ask.
type Option struct {
	field  field
	number int64
	second int64
	text   string
}

type field uint8

const (
	fieldTag field = iota + 1
	fieldPrice
	fieldAmount
	fieldAmountQuote
	fieldTrigger
	fieldReference
	fieldInForce
	fieldPostOnly
	fieldSelfTrade
	fieldExits
	fieldKeep
)

// Tag names the reason of an order for the reports. Use constants: the text is kept, not copied.
func Tag(text string) Option { return Option{field: fieldTag, text: text} }

// At sets the limit price: of a Buy, a Sell or a Bracket's entry, which is a limit order then, of a stop or take-profit that
// becomes one when it triggers, or a new one in Update.
func At(p market.Price) Option { return Option{field: fieldPrice, number: int64(p)} }

// Amount sets a new base amount in Update; the remaining amount follows (specification 4.4).
func Amount(q market.Qty) Option { return Option{field: fieldAmount, number: int64(q)} }

// AmountQuote sets a new quote amount in Update, for stopLoss and takeProfit orders that have not triggered.
func AmountQuote(q market.Money) Option { return Option{field: fieldAmountQuote, number: int64(q)} }

// Trigger sets a new trigger price in Update, for orders that have not triggered.
func Trigger(p market.Price) Option { return Option{field: fieldTrigger, number: int64(p)} }

// Reference sets the price that a trigger watches; the default is lastTrade.
func Reference(r market.TriggerReference) Option {
	return Option{field: fieldReference, number: int64(r)}
}

// InForce sets the time in force; the default is GTC.
func InForce(t market.TimeInForce) Option { return Option{field: fieldInForce, number: int64(t)} }

// PostOnly makes a limit order that would match at once be cancelled instead, so that only the maker fee is ever paid.
func PostOnly() Option { return Option{field: fieldPostOnly, number: 1} }

// SelfTrade sets the self-trade prevention; the default is decrementAndCancel.
func SelfTrade(s market.SelfTradePrevention) Option {
	return Option{field: fieldSelfTrade, number: int64(s)}
}

// Exits attaches a stop and a target to a buy, or moves those of an earlier entry in Update. 0 leaves one out.
func Exits(stop, target market.Price) Option {
	return Option{field: fieldExits, number: int64(stop), second: int64(target)}
}

// Keep says which exit of a bracket rests at the venue; the default is market.KeepStop.
func Keep(leg market.Leg) Option { return Option{field: fieldKeep, number: int64(leg)} }

// apply sets the option's field and returns which change of an update it is.
func (p *Option) apply(o *market.Order) market.Change {
	n := p.number
	switch p.field {
	case fieldTag:
		o.Tag = p.text
	case fieldPrice:
		o.Price = market.Price(n)
		return market.ChangePrice
	case fieldAmount:
		o.Amount = market.Qty(n)
		return market.ChangeAmount
	case fieldAmountQuote:
		o.AmountQuote = market.Money(n)
		return market.ChangeAmountQuote
	case fieldTrigger:
		o.TriggerAmount = market.Price(n)
		return market.ChangeTriggerAmount
	case fieldReference:
		o.TriggerReference = market.TriggerReference(n)
	case fieldInForce:
		o.TimeInForce = market.TimeInForce(n)
		return market.ChangeTimeInForce
	case fieldPostOnly:
		o.PostOnly = n != 0
		return market.ChangePostOnly
	case fieldSelfTrade:
		o.SelfTradePrevention = market.SelfTradePrevention(n)
		return market.ChangeSelfTradePrevention
	case fieldExits:
		o.Bracket.Stop, o.Bracket.Target = market.Price(n), market.Price(p.second)
		return market.ChangeExits
	case fieldKeep:
		o.Bracket.Keep = market.Leg(n)
	}
	return 0
}
