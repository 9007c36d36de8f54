package strategy

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// ErrMeaningless is the answer to an ask with a value that is never valid, whatever the account and
// the market: an unknown side, a negative price, an order id of 0. The text names the value and the
// remedy.
var ErrMeaningless = errors.New("meaningless")

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
	fieldResize // with another size, which is refused
	fieldTrigger
	fieldStopLoss
	fieldTakeProfit
	fieldStop
	fieldTarget
	fieldReference
	fieldInForce
	fieldPostOnly
	fieldSelfTrade
	fieldExits
	fieldKeep
	fieldOrSell
	fieldReplacing
	fieldTrail
	fieldTrailBy
	fieldTrailAfter
	fieldByPrices
	fieldBreakEven
	fieldExitAfter
	fieldExitAfterTime
	fieldPart
	fieldEnough
	fieldMakerFirst
	fieldTakeAfter
	fieldTakeBeyond
	fieldTWAP
)

// Tag names the reason of an order for the reports. Use constants: the text is kept, not copied.
func Tag(text string) Option { return Option{field: fieldTag, text: text} }

// At sets a limit price. It makes a Buy or a Sell a limit order; with StopLoss or TakeProfit, one
// that becomes a limit order when it triggers. In Update it is the new price.
func At(p market.Price) Option { return Option{field: fieldPrice, number: int64(p)} }

// Resize sets a new amount in Update: an Amount, after which the remaining amount follows
// (specification 4.4), or, for stopLoss and takeProfit orders that have not triggered, a Money.
func Resize(size Size) Option {
	switch size.unit {
	case unitBase:
		return Option{field: fieldAmount, number: size.number}
	case unitQuote:
		return Option{field: fieldAmountQuote, number: size.number}
	}
	return Option{field: fieldResize, text: size.String()}
}

// StopLoss makes the order a stopLoss, or with At a stopLossLimit: it triggers at a price equal to
// or worse than trigger (lower for a sell, higher for a buy; specification 4.1 rule 3). For a stop
// that protects what a buy buys, see StopAt.
func StopLoss(trigger market.Price) Option {
	return Option{field: fieldStopLoss, number: int64(trigger)}
}

// TakeProfit makes the order a takeProfit, or with At a takeProfitLimit: it triggers at a price
// equal to or better than trigger.
func TakeProfit(trigger market.Price) Option {
	return Option{field: fieldTakeProfit, number: int64(trigger)}
}

// StopAt attaches a stop to a buy: what it buys is sold when the price falls to p. In Update, on
// the entry of a bracket, it moves the stop and leaves the target. See MarketDesk.Buy.
func StopAt(p market.Price) Option { return Option{field: fieldStop, number: int64(p)} }

// TargetAt attaches a target to a buy: what it buys is sold when the price rises to p. In Update it
// moves the target and leaves the stop.
func TargetAt(p market.Price) Option { return Option{field: fieldTarget, number: int64(p)} }

// Trigger sets a new trigger price in Update, for orders that have not triggered.
func Trigger(p market.Price) Option { return Option{field: fieldTrigger, number: int64(p)} }

// Reference sets the price that a trigger watches; the default is lastTrade.
func Reference(r market.TriggerReference) Option {
	return Option{field: fieldReference, number: int64(r)}
}

// InForce sets the time in force; the default is GTC.
func InForce(t market.TimeInForce) Option { return Option{field: fieldInForce, number: int64(t)} }

// PostOnly makes a limit order that would match at once be cancelled instead, so that only the
// maker fee is ever paid.
func PostOnly() Option { return Option{field: fieldPostOnly, number: 1} }

// SelfTrade sets the self-trade prevention; the default is decrementAndCancel.
func SelfTrade(s market.SelfTradePrevention) Option {
	return Option{field: fieldSelfTrade, number: int64(s)}
}

// Exits attaches a stop and a target to a buy, or moves those of an earlier entry in Update. 0
// leaves one out.
func Exits(stop, target market.Price) Option {
	return Option{field: fieldExits, number: int64(stop), second: int64(target)}
}

// Keep says which exit of a bracket rests at the venue; the default is market.KeepStop.
func Keep(leg market.Leg) Option { return Option{field: fieldKeep, number: int64(leg)} }

// OrSell lets an Update of a bracket that holds something set a stop or a target that the price has
// passed already: that exit sells at once. Without it such a level is refused.
func OrSell() Option { return Option{field: fieldOrSell, number: 1} }

// apply sets the option's field of the order and returns the matching change of an update.
func (p *Option) apply(o *market.Order) (market.Change, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	n := p.number
	switch p.field {
	case fieldTag:
		o.Tag = p.text
	case fieldPrice:
		o.Price = market.Price(n)
		return market.ChangePrice, nil
	case fieldAmount:
		o.Amount = market.Qty(n)
		return market.ChangeAmount, nil
	case fieldAmountQuote:
		o.AmountQuote = market.Money(n)
		return market.ChangeAmountQuote, nil
	case fieldTrigger:
		o.TriggerAmount = market.Price(n)
		return market.ChangeTriggerAmount, nil
	case fieldStopLoss:
		o.Type = market.TypeStopLoss
		o.TriggerAmount, o.TriggerType = market.Price(n), market.TriggerPrice
	case fieldTakeProfit:
		o.Type = market.TypeTakeProfit
		o.TriggerAmount, o.TriggerType = market.Price(n), market.TriggerPrice
	case fieldStop:
		o.Bracket.Stop = market.Price(n)
		return market.ChangeExits, nil
	case fieldTarget:
		o.Bracket.Target = market.Price(n)
		return market.ChangeExits, nil
	case fieldReference:
		o.TriggerReference = market.TriggerReference(n)
	case fieldInForce:
		o.TimeInForce = market.TimeInForce(n)
		return market.ChangeTimeInForce, nil
	case fieldPostOnly:
		o.PostOnly = n != 0
		return market.ChangePostOnly, nil
	case fieldSelfTrade:
		o.SelfTradePrevention = market.SelfTradePrevention(n)
		return market.ChangeSelfTradePrevention, nil
	case fieldExits:
		o.Bracket.Stop, o.Bracket.Target = market.Price(n), market.Price(p.second)
		return market.ChangeExits, nil
	case fieldKeep:
		o.Bracket.Keep = market.Leg(n)
	case fieldOrSell:
		return market.ChangeSells, nil
	}
	return 0, nil
}

// follow sets the option's field of a Follow.
func (p *Option) follow(f *Follow) {
	switch n := p.number; p.field {
	case fieldTrail:
		f.Trail = market.Rate(n)
	case fieldTrailBy:
		f.TrailBy = market.Price(n)
	case fieldTrailAfter:
		f.TrailAfter = market.Rate(n)
	case fieldByPrices:
		f.ByPrices = n != 0
	case fieldBreakEven:
		f.BreakEven = market.Rate(n)
	case fieldExitAfter:
		f.Candles = int(n)
	case fieldExitAfterTime:
		f.Time = market.Duration(n)
	case fieldPart:
		f.Parts = f.Parts.with(Part{market.Price(n), market.Rate(p.second)})
	case fieldEnough:
		f.Gains = f.Gains.with(Gain{market.Rate(n), market.Duration(p.second)})
	}
}

// numbers are the options that take a number, with its valid range.
var numbers = [...]struct {
	name        string
	least, most int64
	what        string
}{
	fieldPrice:       {"At", 1, math.MaxInt64, "a limit price is positive"},
	fieldAmount:      {"Resize", 1, math.MaxInt64, "an amount is positive"},
	fieldAmountQuote: {"Resize", 1, math.MaxInt64, "an amount is positive"},
	fieldTrigger:     {"Trigger", 1, math.MaxInt64, "a trigger price is positive"},
	fieldStopLoss:    {"StopLoss", 1, math.MaxInt64, "a trigger price is positive"},
	fieldTakeProfit:  {"TakeProfit", 1, math.MaxInt64, "a trigger price is positive"},
	fieldStop:        {"StopAt", 1, math.MaxInt64, "a stop is positive"},
	fieldTarget:      {"TargetAt", 1, math.MaxInt64, "a target is positive"},
	fieldReference: {"Reference", int64(market.LastTrade), int64(market.MidPrice),
		"use one of package market, such as market.LastTrade"},
	fieldInForce: {"InForce", int64(market.GTC), int64(market.FOK), "use market.GTC, market.IOC or market.FOK"},
	fieldSelfTrade: {"SelfTrade", int64(market.DecrementAndCancel), int64(market.CancelBoth),
		"use one of package market, such as market.CancelNewest"},
	fieldExits:    {"Exits", 0, math.MaxInt64, "a stop is positive, or 0 for none"},
	fieldTag:      {"Tag", math.MinInt64, math.MaxInt64, ""},
	fieldPostOnly: {"PostOnly", 0, 1, ""},
	fieldKeep: {"Keep", int64(market.KeepStop), int64(market.KeepTarget),
		"use market.KeepStop or market.KeepTarget"},
	fieldReplacing:     {"Replacing", 1, math.MaxInt64, "ids begin with 1; an ask that was refused has none"},
	fieldTrail:         {"Trail", 1, int64(market.Whole) - 1, "a rate is above 0 and below 100%"},
	fieldTrailBy:       {"TrailBy", 1, math.MaxInt64, "a distance is positive"},
	fieldTrailAfter:    {"TrailAfter", 1, 100 * int64(market.Whole), "a gain is above 0 and at most 10000%"},
	fieldByPrices:      {"ByPrices", 0, 1, ""},
	fieldBreakEven:     {"BreakEvenAfter", 1, 100 * int64(market.Whole), "a gain is above 0 and at most 10000%"},
	fieldExitAfter:     {"ExitAfter", 1, math.MaxInt32, "a number of candles is positive"},
	fieldExitAfterTime: {"ExitAfterTime", 1, math.MaxInt64, "a duration is positive"},
	fieldPart:          {"PartAt", 1, math.MaxInt64, "a price is positive"},
	fieldEnough:        {"EnoughAfter", 0, 100 * int64(market.Whole), "a gain is at least 0 and at most 10000%"},
	fieldMakerFirst:    {"MakerFirst", int64(time.Second), math.MaxInt64, "an order moves at most once a second"},
	fieldTakeAfter:     {"TakeAfter", 1, math.MaxInt64, "a duration is positive"},
	fieldTakeBeyond:    {"TakeBeyond", 1, int64(market.Whole), "a rate is above 0 and at most 100%"},
	fieldTWAP:          {"TWAP", int64(time.Second), math.MaxInt64, "it lasts at least a second"},
	fieldOrSell:        {"OrSell", 1, 1, ""},
}

// check refuses a number out of its valid range.
func (p *Option) check() error {
	if p.field == 0 {
		return fmt.Errorf("%w: an Option that is zero; make it with At, Tag and their like", ErrMeaningless)
	}
	if p.field == fieldResize {
		return fmt.Errorf("%w: Resize(%s): use an Amount, or a Money", ErrMeaningless, p.text)
	}
	n := &numbers[p.field]
	if p.number < n.least || p.number > n.most {
		return fmt.Errorf("%w: %s(%d): %s", ErrMeaningless, n.name, p.number, n.what)
	}
	if p.field == fieldTWAP && (p.second < 1 || p.second > math.MaxInt32) {
		return fmt.Errorf("%w: TWAP of %d parts: a number of parts is positive", ErrMeaningless, p.second)
	}
	if p.field == fieldPart && (p.second <= 0 || p.second >= int64(market.Whole)) {
		return fmt.Errorf("%w: PartAt with a share of %s: a share is above 0%% and below 100%%; all is TargetAt",
			ErrMeaningless, market.Rate(p.second))
	}
	if p.field == fieldEnough && p.second < 0 {
		return fmt.Errorf("%w: EnoughAfter(%s): a duration is not below 0", ErrMeaningless, market.Duration(p.second))
	}
	if p.second < 0 {
		return fmt.Errorf("%w: Exits with a target of %d: a target is positive, or 0 for none", ErrMeaningless,
			p.second)
	}
	return nil
}
