package refusal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Observer is notified of refused asks.
type Observer interface {
	// Refused is called for every refused order and change: as it was asked, as the gate had
	// rounded it until then, and why.
	Refused(asked, rounded *market.Command, why *risk.Refusal)
}

// Log tells of the refused asks of all strategies of an engine. It is a plain value owned by the
// engine's goroutine.
type Log struct {
	core     port.Strategies
	catalog  *market.Catalog
	clock    *market.Time // arrival of the current event
	account  *state.Account
	gate     *risk.Gate
	observer Observer       // nil: none
	keeps    bool           // the observer wants asks as they were before the gate
	asked    market.Command // the ask at the gate, before rounding
	answer   risk.Refusal   // of the engine itself
	told     []told         // by strategy
}

// told is what the log of a strategy has had.
type told struct {
	last      reason
	malformed map[string]bool // kinds of asks that the gate has not seen
}

// reason is why an ask was refused, as far as a log tells two refusals apart.
type reason struct {
	market market.ID
	reason risk.Reason
	code   int
}

// maxKinds bounds the kinds of malformed asks of which Log knows that a strategy's log had them.
const maxKinds = 64

// New is the log of an engine with a number of strategies. observer may be nil. approves: Asked is
// of use for what the gate approves, too. clock is the engine's.
func New(core port.Strategies, catalog *market.Catalog, clock *market.Time, account *state.Account,
	gate *risk.Gate, observer Observer, approves bool, strategies int) *Log {
	return &Log{core: core, catalog: catalog, clock: clock, account: account, gate: gate, observer: observer,
		keeps: observer != nil || approves, told: make([]told, strategies)}
}

// Keep keeps an ask as it is before the gate.
func (l *Log) Keep(c *market.Command) {
	if l.keeps {
		l.asked = *c
	}
}

// KeepNone says that an ask of the engine itself is at the gate: no strategy asked for it.
func (l *Log) KeepNone() {
	if l.keeps {
		l.asked = market.Command{}
	}
}

// KeepExits is Keep of a change of the exits in a market.
func (l *Log) KeepExits(c *market.Command, m market.ID) {
	if l.keeps {
		l.asked = *c
		l.asked.Order.Market, l.asked.Order.Side = m, market.Buy
	}
}

// Asked is the latest ask that was kept; it belongs to the log.
func (l *Log) Asked() *market.Command { return &l.asked }

// Report tells the observer that the kept ask was refused. c is the ask as the gate has rounded it.
func (l *Log) Report(c *market.Command, err error) {
	var why *risk.Refusal
	if l.observer != nil && errors.As(err, &why) {
		l.observer.Refused(&l.asked, c, why)
	}
}

// ReportChecked is Report of an order or a change that the gate has checked.
func (l *Log) ReportChecked(c *market.Command, err error) {
	if l.observer == nil {
		return
	}
	// a change names only its order: report that order's market, side and type
	l.asked.Order.Market, l.asked.Order.Side, l.asked.Order.Type = c.Order.Market, c.Order.Side, c.Order.Type
	l.Report(c, err)
}

// Answer is a refusal by the engine itself, valid until the next one.
func (l *Log) Answer(why risk.Reason, have int64) error {
	l.answer = risk.Refusal{Reason: why, Have: have}
	return &l.answer
}

// Refuse is Answer, and tells the observer.
func (l *Log) Refuse(c *market.Command, why risk.Reason, have int64) error {
	err := l.Answer(why, have)
	l.asked = l.named(c)
	l.Report(&l.asked, err)
	return err
}

// Closed is the answer to an ask during warm-up replay or, where the run has stopped, after that.
// c may be nil: the observer is not told.
//
//go:noinline
func (l *Log) Closed(c *market.Command, stopped bool) error {
	if !stopped {
		return l.Answer(risk.ReasonWarmUp, 0)
	}
	l.Answer(risk.ReasonStopping, 0)
	if l.observer != nil && c != nil {
		l.observer.Refused(c, c, &l.answer)
	}
	return &l.answer
}

// WarmUp is the answer to an ask in a market that is in its warm-up, nil in another.
func (l *Log) WarmUp(c *market.Command) error {
	err := l.gate.RefuseWarmUp(c.Order.Strategy, c.Order.Market)
	if err == nil {
		return nil
	}
	l.asked = l.named(c)
	l.Report(&l.asked, err)
	l.Tell(c.Order.Strategy, c, err)
	return err
}

// Outside is the answer to a buy in a market that is no member of the strategy's universe.
//
//go:noinline
func (l *Log) Outside(c *market.Command) error {
	if warming := l.WarmUp(c); warming != nil {
		return warming
	}
	err := l.gate.RefuseOutside(c.Order.Strategy)
	l.Keep(c)
	l.Report(c, err)
	l.Tell(c.Order.Strategy, c, err)
	return err
}

// Tell logs a refused ask, with the own order that is in its way. A refusal for the same reason in
// the same market as the last one is a debug line; so are those of a warm-up. An ask that the gate
// has not seen is counted first.
func (l *Log) Tell(id market.StrategyID, c *market.Command, err error) {
	var why *risk.Refusal
	if !errors.As(err, &why) {
		l.tellMalformed(id, c, err)
		return
	}
	log := l.core.Log(id)
	if log.GetLevel() > zerolog.WarnLevel {
		return
	}
	line := log.WithLevel(l.levelOf(id, reason{c.Order.Market, why.Reason, why.Code}))
	if !line.Enabled() {
		return
	}
	line = l.inMarket(line.Str("ask", c.Kind.String()).Err(err), c)
	if blocking := l.inTheWay(id, c, why); blocking != "" {
		line = line.Str("in_the_way", blocking)
	}
	line.Msg(message)
}

// TellPlan tells the observer and logs why a portfolio is not traded. The same reason as the last
// one is a debug line; so is that of a warm-up.
func (l *Log) TellPlan(id market.StrategyID, err error) {
	c := market.Command{Kind: market.CommandPlace, At: *l.clock,
		Order: market.Order{Strategy: id, Type: market.TypeMarket, Tag: strategy.TagRebalance}}
	var why *risk.Refusal
	if !errors.As(err, &why) {
		l.tellMalformed(id, &c, err)
		return
	}
	l.asked = c
	l.Report(&c, err)
	l.core.Log(id).WithLevel(l.levelOf(id, reason{reason: why.Reason})).Str("ask", strategy.TagRebalance).Err(err).
		Msg(message)
}

// message is the log message of a refused ask.
const message = "ask refused"

// levelOf is the level of a refusal in a strategy's log, which has had it then.
func (l *Log) levelOf(id market.StrategyID, why reason) zerolog.Level {
	t := &l.told[id-1]
	level := zerolog.InfoLevel
	switch {
	case why.reason == risk.ReasonNothingToSell: // a mistake of the strategy
		level = t.mistake(why.reason.String())
	case why == t.last || why.reason == risk.ReasonWarmUp:
		level = zerolog.DebugLevel
	}
	t.last = why
	return level
}

// mistake is the level of a mistake of a kind: the first one is a warning.
func (t *told) mistake(kind string) zerolog.Level {
	if t.malformed[kind] {
		return zerolog.DebugLevel
	}
	if t.malformed == nil {
		t.malformed = make(map[string]bool)
	}
	if len(t.malformed) < maxKinds {
		t.malformed[kind] = true
	}
	return zerolog.WarnLevel
}

// Forget forgets what the log of a strategy has had: another strategy has taken over.
func (l *Log) Forget(id market.StrategyID) { l.told[id-1] = told{} }

// tellMalformed counts an ask that the gate has not seen, and tells the observer and the log of it:
// the first of a kind of a strategy as a warning. A kind is an error without its numbers.
func (l *Log) tellMalformed(id market.StrategyID, c *market.Command, err error) {
	why := l.gate.RefuseUnseen(id, reasonOf(err), err.Error())
	if l.observer != nil {
		l.asked = l.named(c)
		l.observer.Refused(&l.asked, &l.asked, why)
	}
	kind := c.Kind.String() + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, err.Error())
	level, log := l.told[id-1].mistake(kind), l.core.Log(id)
	if line := log.WithLevel(level); level >= log.GetLevel() {
		l.inMarket(line.Str("ask", c.Kind.String()).Err(err), c).Msg(message)
	}
}

// reasonOf is the reason of an error of an ask that the gate has not seen.
func reasonOf(err error) risk.Reason {
	switch {
	case errors.Is(err, strategy.ErrNoPosition):
		return risk.ReasonNoPosition
	case errors.Is(err, strategy.ErrHeld):
		return risk.ReasonHeld
	case errors.Is(err, strategy.ErrNoPrice):
		return risk.ReasonNoPrice
	}
	return risk.ReasonMalformed
}

// named is a command without the values that may mean nothing, for the observer.
func (l *Log) named(c *market.Command) market.Command {
	o := &c.Order
	named := market.Command{Kind: c.Kind, At: *l.clock,
		Order: market.Order{ID: max(0, o.ID), Strategy: o.Strategy, Market: o.Market, Type: o.Type, Tag: o.Tag}}
	if o.Side == market.Buy || o.Side == market.Sell {
		named.Order.Side = o.Side
	}
	return named
}

// knows reports whether a market is one of the catalog.
func (l *Log) knows(m market.ID) bool { return m >= 1 && int(m) <= len(l.catalog.Markets()) }

// inMarket adds the market and the side of an ask to a line.
func (l *Log) inMarket(line *zerolog.Event, c *market.Command) *zerolog.Event {
	if l.knows(c.Order.Market) {
		line = line.Str("market", l.catalog.Market(c.Order.Market).Name).Str("side", c.Order.Side.String())
	}
	return line
}

// inTheWay describes the own open orders because of which an ask was refused: those that hold the
// balance which it needs, or that it would trade with. It is empty where there are none.
func (l *Log) inTheWay(id market.StrategyID, c *market.Command, why *risk.Refusal) string {
	side := c.Order.Side
	switch {
	case why.Reason == risk.ReasonSelfCross:
		side = market.Buy + market.Sell - side
	case why.Reason != risk.ReasonExchange || why.Code != exchange.CodeInsufficientBalance:
		return ""
	case !l.knows(c.Order.Market):
		return ""
	}
	m, text, more := l.catalog.Market(c.Order.Market), "", 0
	for _, o := range l.account.Open(nil, id, m.ID) {
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
