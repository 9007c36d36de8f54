package engine

import (
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// toldRefusal is the refusal of a strategy that its log had last.
type toldRefusal struct {
	market market.ID
	reason risk.Reason
	code   int
}

// tell logs a refused ask, with the own order that is in its way. A refusal for the same reason in
// the same market as the last one is a debug line; so are those of a warm-up.
func (e *Engine) tell(s *slot, c *market.Command, err error) {
	var why *risk.Refusal
	if s.Log.GetLevel() > zerolog.InfoLevel || !errors.As(err, &why) {
		return
	}
	now := toldRefusal{c.Order.Market, why.Reason, why.Code}
	line := s.Log.Info()
	if now == s.told || why.Reason == risk.ReasonWarmUp {
		line = s.Log.Debug()
	}
	s.told = now
	if !line.Enabled() {
		return
	}
	line = line.Str("strategy", s.Name).Str("ask", c.Kind.String()).Err(err)
	if m := c.Order.Market; m >= 1 && int(m) <= len(e.catalog.Markets()) {
		line = line.Str("market", e.catalog.Market(m).Name).Str("side", c.Order.Side.String())
		if blocking := e.inTheWay(s.id, c, why); blocking != "" {
			line = line.Str("in_the_way", blocking)
		}
	}
	line.Msg(RefusedMessage)
}

// RefusedMessage is the log message of an ask that the gate refused.
const RefusedMessage = "ask refused"

// inTheWay describes the own open orders because of which an ask was refused: those that hold the
// balance which it needs, or that it would trade with. It is empty where there are none.
func (e *Engine) inTheWay(id market.StrategyID, c *market.Command, why *risk.Refusal) string {
	side := c.Order.Side
	switch {
	case why.Reason == risk.ReasonSelfCross:
		side = market.Buy + market.Sell - side
	case why.Reason != risk.ReasonExchange || why.Code != exchange.CodeInsufficientBalance:
		return ""
	}
	m, text, more := e.catalog.Market(c.Order.Market), "", 0
	for _, o := range e.account.Open(nil, id, m.ID) {
		switch {
		case o.Side != side || o.ID == c.Order.ID:
		case text == "":
			text = fmt.Sprintf("order %d: %s", o.ID, describe(m, o))
		default:
			more++
		}
	}
	if more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// describe says what an open order is over: "sell 0.5, stopLoss at 95".
func describe(m *market.Market, o *market.Order) string {
	text := fmt.Sprintf("%s %s", o.Side, m.FormatQty(o.AmountRemaining))
	if o.ByQuote() {
		text = fmt.Sprintf("%s for %s", o.Side, m.FormatMoney(o.AmountQuoteRemaining))
	}
	text += ", " + o.Type.String()
	switch {
	case o.TriggerAmount != 0:
		text += " at " + m.FormatPrice(o.TriggerAmount)
	case o.Price != 0:
		text += " at " + m.FormatPrice(o.Price)
	}
	return text
}
