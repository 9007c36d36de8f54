package engine

import (
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Halt is the halt of a strategy.
type Halt struct {
	Strategy market.StrategyID
	Name     string
	At       market.Time
	Reason   string
}

// HaltedMessage begins the log message of a strategy that was halted for its own mistake. The entry
// has the stack.
const HaltedMessage = "strategy halted"

// halt stops a strategy: it is no longer called, and its orders are cancelled, except exits of
// brackets, which protect.
func (e *Engine) halt(s *strategyState, reason string) {
	if s.halted {
		return
	}
	s.halted, e.saves.changed = true, true
	e.rebalances.Drop(s.id)
	e.replaces.Drop(s.id, "the strategy was halted")
	e.EndTactics(s.id, 0)
	e.gate.Halt(s.id)
	e.halts = append(e.halts, Halt{Strategy: s.id, Name: s.Name, At: e.now, Reason: reason})
	e.cancelUnprotected(s)
}

// causes is how many reasons a halt names at most.
const causes = 4

// haltAlso halts a strategy for a reason from outside. The halt of a strategy that is halted
// already names this reason too.
func (e *Engine) haltAlso(s *strategyState, reason string) {
	const and = "; and: "
	latest, halted := e.Halted(s.id)
	switch {
	case !halted:
		e.halt(s, reason)
	case latest.Strategy != 0 && !strings.Contains(latest.Reason, reason) &&
		strings.Count(latest.Reason, and) < causes-1:
		latest.At, latest.Reason = e.now, latest.Reason+and+reason
		e.halts, e.saves.changed = append(e.halts, latest), true
	}
}

// cancelUnprotected cancels the orders of a strategy that neither protect nor liquidate its
// holdings. It returns their number.
func (e *Engine) cancelUnprotected(s *strategyState) (count int) {
	for _, o := range e.account.Open(nil, s.id, 0) {
		if !e.brackets.IsExit(o.ID) && !Liquidates(o) {
			e.cancel(o.ID, nil, false)
			count++
		}
	}
	return count
}

// Halts returns the halts so far, in order.
func (e *Engine) Halts() []Halt { return e.halts }

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

// EndTactics ends the tactics of a strategy in a market, 0 for all markets.
func (e *Engine) EndTactics(id market.StrategyID, m market.ID) {
	if !e.replaying {
		e.tactics.End(id, m)
	}
}
