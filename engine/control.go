package engine

import "github.com/tidemark-trading/tidemark/market"

// HaltAll halts every strategy, for a reason from outside, and cancels their orders but for the exits of brackets, which protect.
func (e *Engine) HaltAll(at market.Time, reason string) []market.Command {
	e.begin(at)
	for i := range e.seats {
		e.halt(&e.seats[i], reason)
	}
	return e.out
}

// HaltOne halts one strategy as HaltAll does all.
func (e *Engine) HaltOne(at market.Time, id market.StrategyID, reason string) []market.Command {
	e.begin(at)
	e.halt(&e.seats[id-1], reason)
	return e.out
}

// Resume lets a halted strategy trade again. It hears of the next event as if it had never been halted.
func (e *Engine) Resume(at market.Time, id market.StrategyID) []market.Command {
	e.begin(at)
	e.seats[id-1].halted = false
	e.gate.Resume(id)
	return e.out
}

// CancelAll asks for every own open order to end, exits of brackets included; their brackets are dissolved.
func (e *Engine) CancelAll(at market.Time) []market.Command {
	e.begin(at)
	for _, o := range e.account.Open(nil, 0, 0) {
		if b := e.bracketOf(o.ID); b != nil {
			e.dissolve(b)
		}
		e.cancel(o.ID)
	}
	return e.out
}
