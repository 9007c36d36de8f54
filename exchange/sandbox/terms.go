package sandbox

import (
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// maxPriceDecimals is how many decimals a price may have in any market (venue-facts 2.1).
const maxPriceDecimals = 15

// terms reads the parameters of POST or PUT /order one by one, in the units of a market, and keeps
// the first refusal.
type terms struct {
	*api.Call
	m         *market.Market
	reference market.TriggerReference // of an order that names none
	refused   *exchange.Error
}

// order fills o from the parameters of POST /order, with the defaults of specification 4.1 and, for
// triggers, of venue-facts 3.1. The venue checks whether its fields fit each other and the market.
func (t *terms) order(o *market.Order) {
	o.Market, o.OperatorID = t.m.ID, t.Integer("operatorId", 0)
	o.CodGroupID = uint16(t.Integer("codGroupId", 0))
	o.Side = word(t, "side", "", market.ParseSide)
	o.Type = word(t, "orderType", "", market.ParseOrderType)
	o.ClientOrderID = t.UUID("clientOrderId")
	if t.Has("clientOrderId") && o.ClientOrderID == uuid.Nil {
		t.refuse(exchange.Invalid("clientOrderId")) // it stands for none
	}
	t.common(o)
	if !o.Type.HasTrigger() {
		t.without("triggerType")
		t.without("triggerReference")
		return
	}
	o.TriggerType = word(t, "triggerType", "price", market.ParseTriggerType)
	o.TriggerReference = word(t, "triggerReference", t.reference.String(), market.ParseTriggerReference)
}

// common reads the parameters that POST and PUT share.
func (t *terms) common(o *market.Order) {
	o.Amount = market.Qty(t.decimal("amount", t.m.AmountDigits, exchange.CodeAmountTooLarge))
	o.AmountQuote = market.Money(t.decimal("amountQuote", t.m.QuoteDigits, exchange.CodeAmountTooLarge))
	o.Price = market.Price(t.decimal("price", t.m.PriceDigits, exchange.CodePriceTooLarge))
	o.TriggerAmount = market.Price(t.decimal("triggerAmount", t.m.PriceDigits, exchange.CodePriceTooLarge))
	o.TimeInForce = word(t, "timeInForce", "GTC", market.ParseTimeInForce)
	o.SelfTradePrevention = word(t, "selfTradePrevention", "decrementAndCancel", market.ParseSelfTradePrevention)
	o.PostOnly = t.Flag("postOnly", false)
}

// changeable are the parameters of PUT /order that change something.
var changeable = []struct {
	name   string
	change market.Change
}{
	{"amount", market.ChangeAmount},
	{"amountQuote", market.ChangeAmountQuote},
	{"amountRemaining", market.ChangeAmountRemaining},
	{"price", market.ChangePrice},
	{"triggerAmount", market.ChangeTriggerAmount},
	{"timeInForce", market.ChangeTimeInForce},
	{"postOnly", market.ChangePostOnly},
	{"selfTradePrevention", market.ChangeSelfTradePrevention},
}

// update makes c the change that PUT /order asks for. An update that changes anything sets postOnly
// and selfTradePrevention too, to their defaults where they were left out (specification 4.4).
func (t *terms) update(c *market.Command) {
	t.common(&c.Order)
	c.Order.AmountRemaining = market.Qty(t.decimal("amountRemaining", t.m.AmountDigits, exchange.CodeAmountTooLarge))
	for i := range changeable {
		if t.Has(changeable[i].name) {
			c.Changed |= changeable[i].change
		}
	}
	if c.Changed != 0 {
		c.Changed |= market.ChangePostOnly | market.ChangeSelfTradePrevention
	}
}

// refuse keeps the first refusal.
func (t *terms) refuse(refused *exchange.Error) {
	if t.refused == nil {
		t.refused = refused
	}
}

// without refuses a parameter that does not go with the order's type.
func (t *terms) without(name string) {
	if t.Has(name) {
		t.refuse(exchange.UnsupportedForType(name))
	}
}

// decimal reads a decimal above zero, in units of 10^-digits; 0 where it was not sent. Too many
// decimals are tooFine, more than an int64 holds is tooLarge, zero is 205.
func (t *terms) decimal(name string, digits uint8, tooLarge int) int64 {
	sent := t.Arg(name)
	if !sent.Set {
		return 0
	}
	n, err := market.ParseFixed(sent.Text, digits)
	switch {
	case errors.Is(err, market.ErrInexact), errors.Is(err, market.ErrOverflow) && wholeFits(sent.Text, digits):
		t.refuse(t.tooFine(name, sent.Text))
	case errors.Is(err, market.ErrOverflow):
		t.refuse(exchange.ErrCode(tooLarge))
	case err != nil || n <= 0:
		t.refuse(exchange.Invalid(name))
	}
	return n
}

// tooFine is the refusal of a decimal with more decimals than its unit has. An amount has too many
// decimals (429); a price is off the market's tick (422), and still worse with more than 15
// decimals (215) or below 10^-15 (213).
func (t *terms) tooFine(name, text string) *exchange.Error {
	whole, fraction, _ := strings.Cut(strings.TrimRight(text, "0"), ".")
	switch {
	case name != "price" && name != "triggerAmount":
		return exchange.TooManyDecimals(name)
	case strings.Trim(whole, "0") == "" && strings.HasPrefix(fraction, strings.Repeat("0", maxPriceDecimals)):
		return exchange.ErrCode(exchange.CodePriceTooSmall)
	case len(fraction) > maxPriceDecimals:
		return exchange.ErrCode(exchange.CodePriceTooFine)
	case t.m.TickSize == 0:
		return exchange.TooManyDecimals(name)
	}
	return exchange.ErrCode(exchange.CodeTick, name)
}

// wholeFits reports whether the whole part of a decimal with a fraction is small enough by itself.
func wholeFits(text string, digits uint8) bool {
	whole, _, fraction := strings.Cut(text, ".")
	if whole == "" {
		return true
	}
	_, err := market.ParseFixed(whole, digits)
	return fraction && err == nil
}

// word reads one of an enumeration's words, otherwise where it was not sent. The table has the
// words.
func word[T ~uint8](t *terms, name, otherwise string, parse func(string) (T, error)) (value T) {
	text := otherwise
	if sent := t.Arg(name); sent.Set {
		text = sent.Text
	}
	value, _ = parse(text)
	return value
}

// detailed returns a refusal of the venue in the table's wording with details, where it has one,
// for an order or a change of one.
func detailed(refused *exchange.Error, cat *market.Catalog, o *market.Order) *exchange.Error {
	m := cat.Market(o.Market)
	base, quote := cat.Asset(m.Base).Symbol, cat.Asset(m.Quote).Symbol
	switch refused.Code {
	case exchange.CodeMinBase:
		return exchange.ErrCode(refused.Code, m.FormatQty(m.MinOrderInBase)+" "+base)
	case exchange.CodeMinQuote:
		return exchange.MinimumQuote(m.FormatMoney(m.MinOrderInQuote)+" "+quote, m.FormatQty(m.MinOrderInBase)+" "+base)
	case exchange.CodeTooManyOpenOrders:
		return exchange.ErrCode(refused.Code, m.MaxOpenOrders)
	case exchange.CodeStopLossParameters, exchange.CodeStopLossLimitParameters:
		return exchange.ErrCode(refused.Code, "triggerAmount", o.Type)
	case exchange.CodeTick:
		if market.FloorTo(o.Price, m.TickSize) != o.Price {
			return exchange.ErrCode(refused.Code, "price")
		}
		return exchange.ErrCode(refused.Code, "triggerAmount")
	}
	return refused
}
