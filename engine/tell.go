package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine/goroutine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// toldRefusal is the refusal of a strategy that its log had last.
type toldRefusal struct {
	market market.ID
	reason risk.Reason
	code   int
}

// RefuseAsk is the answer to an ask that the desk refuses by itself. In a warm-up and after Stop
// that comes first: the account of a bot that starts has no equity yet, so most asks cannot be
// measured.
func (e *Engine) RefuseAsk(id market.StrategyID, c *market.Command, why error) error {
	c.At, c.Order.Strategy = e.now, id
	if e.replaying || e.stopped {
		return e.refuse(c)
	}
	if warming := e.refuseWarm(c); warming != nil {
		return warming
	}
	e.tell(&e.slots[id-1], c, why)
	return why
}

// refuseWarm is the answer to an ask in a market that is in its warm-up, nil in another.
func (e *Engine) refuseWarm(c *market.Command) error {
	err := e.gate.RefuseWarmUp(c.Order.Strategy, c.Order.Market)
	if err == nil {
		return nil
	}
	e.asked = e.named(c)
	e.reportRefusal(&e.asked, err)
	e.tell(&e.slots[c.Order.Strategy-1], c, err)
	return err
}

// named is a command without the values that may mean nothing, for the observer.
func (e *Engine) named(c *market.Command) market.Command {
	o := &c.Order
	named := market.Command{Kind: c.Kind, At: e.now,
		Order: market.Order{ID: max(0, o.ID), Strategy: o.Strategy, Market: o.Market, Type: o.Type, Tag: o.Tag}}
	if o.Side == market.Buy || o.Side == market.Sell {
		named.Order.Side = o.Side
	}
	return named
}

// unseen counts an ask that the gate has not seen, and tells the observer and the log of it: the
// first of a kind of a strategy as a warning. A kind is an error without its numbers.
func (e *Engine) unseen(s *slot, c *market.Command, err error) {
	reason := risk.ReasonMalformed
	switch {
	case errors.Is(err, strategy.ErrNoPosition):
		reason = risk.ReasonNoPosition
	case errors.Is(err, strategy.ErrHeld):
		reason = risk.ReasonHeld
	case errors.Is(err, strategy.ErrNoPrice):
		reason = risk.ReasonNoPrice
	}
	why := e.gate.RefuseUnseen(s.id, reason, err.Error())
	if e.refuser != nil {
		e.asked = e.named(c)
		e.refuser.Refused(&e.asked, &e.asked, why)
	}
	kind := c.Kind.String() + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, err.Error())
	level := zerolog.WarnLevel
	if s.unseen[kind] {
		level = zerolog.DebugLevel
	} else if len(s.unseen) < maxUnseen {
		if s.unseen == nil {
			s.unseen = make(map[string]bool)
		}
		s.unseen[kind] = true
	}
	if line := s.Log.WithLevel(level); level >= s.Log.GetLevel() {
		e.inMarket(line.Str("ask", c.Kind.String()).Err(err), c).Msg(RefusedMessage)
	}
}

// maxUnseen bounds the kinds of which unseen knows that the log had them.
const maxUnseen = 64

// inMarket adds the market and the side of an ask to a line.
func (e *Engine) inMarket(line *zerolog.Event, c *market.Command) *zerolog.Event {
	if m := c.Order.Market; m >= 1 && int(m) <= len(e.catalog.Markets()) {
		line = line.Str("market", e.catalog.Market(m).Name).Str("side", c.Order.Side.String())
	}
	return line
}

// tell logs a refused ask, with the own order that is in its way. A refusal for the same reason in
// the same market as the last one is a debug line; so are those of a warm-up.
func (e *Engine) tell(s *slot, c *market.Command, err error) {
	var why *risk.Refusal
	if !errors.As(err, &why) {
		e.unseen(s, c, err)
		return
	}
	if s.Log.GetLevel() > zerolog.InfoLevel {
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
	line = e.inMarket(line.Str("ask", c.Kind.String()).Err(err), c)
	if blocking := e.inTheWay(s.id, c, why); blocking != "" {
		line = line.Str("in_the_way", blocking)
	}
	line.Msg(RefusedMessage)
}

// stamp puts the engine's time into a line of a strategy's log. On a goroutine of the strategy's
// own it is that of the latest callback.
func (e *Engine) stamp(line *zerolog.Event, _ zerolog.Level, _ string) {
	at := e.calls.at.get()
	if uintptr(goroutine.Current()) == e.owner.Load() {
		e.catchUp()
		at = int64(e.now)
	}
	line.Stringer("at", market.Time(at))
}

// RefusedMessage is the log message of a refused ask.
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
	case c.Order.Market < 1 || int(c.Order.Market) > len(e.catalog.Markets()):
		return ""
	}
	m, text, more := e.catalog.Market(c.Order.Market), "", 0
	for _, o := range e.account.Open(nil, id, m.ID) {
		switch {
		case o.Side != side || o.ID == c.Order.ID:
		case text == "":
			text = fmt.Sprintf("order %d: %s", o.ID, m.Describe(o))
		default:
			more++
		}
	}
	if more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// tellPlan logs why a portfolio is not traded. The same reason as the last one is a debug line; so
// is that of a warm-up.
func (e *Engine) tellPlan(s *slot, err error) {
	var why *risk.Refusal
	if !errors.As(err, &why) {
		e.unseen(s, &market.Command{Kind: market.CommandPlace, At: e.now,
			Order: market.Order{Strategy: s.id, Type: market.TypeMarket, Tag: strategy.TagRebalance}}, err)
		return
	}
	now := toldRefusal{reason: why.Reason}
	level := zerolog.InfoLevel
	if now == s.told || now.reason == risk.ReasonWarmUp {
		level = zerolog.DebugLevel
	}
	s.told = now
	s.Log.WithLevel(level).Str("ask", strategy.TagRebalance).Err(err).Msg(RefusedMessage)
}
