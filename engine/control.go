package engine

import (
	"errors"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// tagFlatten begins the tag of Flatten's orders and of sales that Adopt takes in.
const tagFlatten = "flatten"

// Liquidates reports whether an order liquidates a halted strategy: an order of Flatten, or a sale
// that Adopt took in. The tag alone is not enough: a strategy may give its own orders any tag.
func Liquidates(o *market.Order) bool {
	return o.Side == market.Sell && o.Type == market.TypeMarket && strings.HasPrefix(o.Tag, tagFlatten)
}

// HaltAll halts every strategy, for a reason from outside, and cancels their orders except exits of
// brackets, which protect.
func (e *Engine) HaltAll(at market.Time, reason string) []market.Command {
	e.begin(at)
	for i := range e.slots {
		e.halt(&e.slots[i], reason)
	}
	return e.out
}

// HaltOne halts one strategy as HaltAll halts all.
func (e *Engine) HaltOne(at market.Time, id market.StrategyID, reason string) []market.Command {
	e.begin(at)
	e.halt(&e.slots[id-1], reason)
	return e.out
}

// CancelHalted cancels the open orders of halted strategies again, except exits of brackets and
// Flatten's sales: the first cancel may have been lost or refused. left is the number of orders
// still open.
func (e *Engine) CancelHalted(at market.Time) (commands []market.Command, left int) {
	e.begin(at)
	for i := range e.slots {
		if s := &e.slots[i]; s.halted && e.account.OpenBy(s.id) > 0 {
			left += e.cancelUnprotected(s)
		}
	}
	return e.out, left
}

// Unsaved are the strategies whose Save failed, as halts that are due: so that they do not trade
// beyond the state that a restart would load. Halted ones are left out.
func (e *Engine) Unsaved() (due []Halt) {
	for i := range e.slots {
		if s := &e.slots[i]; s.unsaved != "" && !s.halted {
			due = append(due, Halt{Strategy: s.id, Name: s.Name, At: e.now,
				Reason: "its state cannot be saved: " + s.unsaved})
		}
	}
	return due
}

// HaltedOpen reports whether a halted strategy has an open order: CancelHalted may do something.
func (e *Engine) HaltedOpen() bool {
	for i := range e.slots {
		if s := &e.slots[i]; s.halted && e.account.OpenBy(s.id) > 0 {
			return true
		}
	}
	return false
}

// Resume lets a halted strategy trade again. It receives the next event as if it had never been
// halted. One whose saved state was not loaded stays halted.
func (e *Engine) Resume(at market.Time, id market.StrategyID) []market.Command {
	e.begin(at)
	if e.Unloaded(id) {
		return e.out
	}
	e.slots[id-1].halted, e.slots[id-1].unsaved, e.saves.changed = false, "", true
	e.gate.Resume(id)
	return e.out
}

// Unloaded reports whether a strategy stays halted until a start that can load its saved state.
func (e *Engine) Unloaded(id market.StrategyID) bool { return e.slots[id-1].unloaded != nil }

// Halted is the latest halt of a strategy, and whether the strategy is still halted.
func (e *Engine) Halted(id market.StrategyID) (latest Halt, halted bool) {
	for _, h := range e.halts {
		if h.Strategy == id {
			latest = h
		}
	}
	return latest, e.slots[id-1].halted
}

// Stack is the goroutine stack of a strategy's latest halt: where it panicked, ended its goroutine,
// or used its desk from elsewhere; nil for any other reason.
func (e *Engine) Stack(id market.StrategyID) []byte { return e.slots[id-1].stack }

// Protects reports whether an order is the exit of a bracket: a halt leaves it open.
func (e *Engine) Protects(id market.OrderID) bool { return e.brackets.IsExit(id) }

// CancelAll cancels every own open order, exits of brackets included, and dissolves their brackets.
func (e *Engine) CancelAll(at market.Time) []market.Command {
	e.begin(at)
	e.cancelOf(0)
	return e.out
}

// CancelOthers cancels every own open order that neither protects nor liquidates a holding, and
// ends the tactics and other asks that would send more. Brackets stay.
func (e *Engine) CancelOthers(at market.Time) []market.Command {
	e.begin(at)
	for i := range e.slots {
		s := &e.slots[i]
		e.dropRebalance(s)
		e.EndTactics(s.id, 0)
		e.cancelUnprotected(s)
	}
	e.dropReplacements(0, "all orders are cancelled")
	return e.out
}

// Cancel sends cancels again for own orders whose first cancel the exchange refused or never
// received. It leaves brackets alone.
func (e *Engine) Cancel(at market.Time, ids []market.OrderID) []market.Command {
	e.begin(at)
	for _, id := range ids {
		e.cancel(id, false)
	}
	return e.out
}

// cancelOf cancels the open orders of a strategy, 0 for all strategies, and ends its brackets.
func (e *Engine) cancelOf(id market.StrategyID) {
	e.brackets.EndAll(id)
	for i := range e.slots {
		if s := &e.slots[i]; id == 0 || s.id == id {
			e.dropRebalance(s)
			e.EndTactics(s.id, 0)
		}
	}
	e.dropReplacements(id, "all orders are cancelled")
	for _, o := range e.account.Open(nil, id, 0) {
		e.cancel(o.ID, false)
	}
}

// Unsold is a holding that Flatten could not sell: dust below the market's minimum, or a halted
// market.
type Unsold struct {
	Market  market.ID
	Amount  market.Qty
	Refusal risk.Refusal
}

// Flatten brings a strategy one step nearer to holding nothing. While it has open orders they are
// cancelled, exits of brackets included; once none is left, its holdings are sold at market,
// through the gate, as reduce-only orders that its limits do not stop. Sales of an earlier call are
// waited for. The first call halts the strategy. With no commands and no open orders left, the
// strategy is as flat as possible: unsold lists the rest.
func (e *Engine) Flatten(at market.Time, id market.StrategyID, reason string) (commands []market.Command,
	unsold []Unsold) {
	e.begin(at)
	e.halt(&e.slots[id-1], reason)
	e.brackets.EndAll(id)
	open := e.account.Open(nil, id, 0)
	for _, o := range open {
		if !Liquidates(o) {
			e.cancelOf(id)
			break
		}
	}
	if len(open) > 0 {
		return e.out, nil
	}
	for _, m := range e.catalog.Markets() {
		if held := e.account.Position(id, m.ID).Amount; held > 0 {
			if refusal := e.sellOff(id, m.ID, held); refusal != nil {
				unsold = append(unsold, Unsold{Market: m.ID, Amount: held, Refusal: *refusal})
			}
		}
	}
	return e.out, unsold
}

// sellOff sells at market as an exit, which the gate checks only against the exchange's own rules.
func (e *Engine) sellOff(id market.StrategyID, m market.ID, amount market.Qty) *risk.Refusal {
	c := &e.command
	*c = market.Command{Kind: market.CommandPlace, At: e.now, Attached: true}
	o := &c.Order
	o.Strategy, o.Market, o.Side, o.Type, o.Amount, o.Tag = id, m, market.Sell, market.TypeMarket, amount, tagFlatten
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	_, err := e.place(c, true)
	var refusal *risk.Refusal
	errors.As(err, &refusal)
	return refusal
}
