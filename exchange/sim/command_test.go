package sim

import (
	"github.com/tidemark-trading/tidemark/market"
)

// do hands a command of the script to the venue.
func (s *stage) do(at market.Time, words []string) {
	c := s.command(at, words)
	s.venue.Do(&c)
}

// command reads a command of the script.
func (s *stage) command(at market.Time, words []string) market.Command {
	c := market.Command{At: at}
	switch words[0] {
	case "attached":
		c.Attached, words = true, words[1:]
	case "earlier":
		c.Earlier, words = true, words[1:]
	}
	c.Order.ID = s.id(words[1])
	switch words[0] {
	case "place":
		c.Kind = market.CommandPlace
		s.placing(&c.Order, words[2:])
	case "update":
		c.Kind = market.CommandUpdate
		s.updating(&c, words[2:])
	case "cancel":
		c.Kind = market.CommandCancel
		s.naming(&c.Order, words[2:])
	default:
		s.fail("no command: ", words[0])
	}
	return c
}

// naming reads the market of an update or a cancel, which may be left out.
func (s *stage) naming(o *market.Order, words []string) {
	if len(words) == 2 && words[0] == "in" {
		o.Market = s.catalog.MarketNamed(words[1]).ID
	}
}

// placing reads SIDE TYPE AMOUNT and the options of a new order.
func (s *stage) placing(o *market.Order, words []string) {
	o.Market, o.TimeInForce, o.SelfTradePrevention = 1, market.GTC, market.DecrementAndCancel
	o.Side, o.Type = parsed(market.ParseSide(words[0])), parsed(market.ParseOrderType(words[1]))
	if o.Type.HasTrigger() {
		o.TriggerReference = market.LastTrade
	}
	m := s.catalog.Market(1)
	words = words[2:]
	switch {
	case words[0] == "quote":
		o.AmountQuote, words = parsed(m.ParseMoney(words[1])), words[2:]
	default:
		o.Amount, words = parsed(m.ParseQty(words[0])), words[1:]
	}
	for len(words) > 0 {
		words = words[s.option(o, words):]
	}
}

// option reads one option of a new order and returns how many words it took.
func (s *stage) option(o *market.Order, words []string) int {
	switch words[0] {
	case "postOnly":
		o.PostOnly = true
		return 1
	case "@":
		o.Price = s.price(words[1])
	case "trigger":
		o.TriggerAmount = s.price(words[1])
	case "reference":
		o.TriggerReference = parsed(market.ParseTriggerReference(words[1]))
	case "tif":
		o.TimeInForce = parsed(market.ParseTimeInForce(words[1]))
	case "stp":
		o.SelfTradePrevention = parsed(market.ParseSelfTradePrevention(words[1]))
	case "group":
		o.CodGroupID = uint16(s.id(words[1]))
	case "quote": // beside an amount: one too many
		o.AmountQuote = parsed(s.catalog.Market(1).ParseMoney(words[1]))
	case "in":
		o.Market = s.catalog.MarketNamed(words[1]).ID
	default:
		s.fail("an order has no ", words[0])
	}
	return 2
}

// updating reads the fields that an update changes.
func (s *stage) updating(c *market.Command, words []string) {
	for i := 0; i < len(words); i += 2 {
		if words[i] == "in" {
			s.naming(&c.Order, words[i:i+2])
			continue
		}
		s.change(c, words[i], words[i+1])
	}
}

func (s *stage) change(c *market.Command, field, value string) {
	o, m := &c.Order, s.catalog.Market(1)
	switch field {
	case "amount":
		o.Amount, c.Changed = parsed(m.ParseQty(value)), c.Changed|market.ChangeAmount
	case "remaining":
		o.AmountRemaining, c.Changed = parsed(m.ParseQty(value)), c.Changed|market.ChangeAmountRemaining
	case "quote":
		o.AmountQuote, c.Changed = parsed(m.ParseMoney(value)), c.Changed|market.ChangeAmountQuote
	case "price":
		o.Price, c.Changed = s.price(value), c.Changed|market.ChangePrice
	case "trigger":
		o.TriggerAmount, c.Changed = s.price(value), c.Changed|market.ChangeTriggerAmount
	case "tif":
		o.TimeInForce, c.Changed = parsed(market.ParseTimeInForce(value)), c.Changed|market.ChangeTimeInForce
	case "stp":
		o.SelfTradePrevention, c.Changed = parsed(market.ParseSelfTradePrevention(value)),
			c.Changed|market.ChangeSelfTradePrevention
	case "postOnly":
		o.PostOnly, c.Changed = value == "yes", c.Changed|market.ChangePostOnly
	default:
		s.fail("an update has no ", field)
	}
}
