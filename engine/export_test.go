package engine

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// CheckBrackets is bracket.Set.Check of the engine's brackets.
func (e *Engine) CheckBrackets() error { return e.brackets.Check() }

// CheckTacticLevels is tactic.Set.CheckLevels of the engine's tactics.
func (e *Engine) CheckTacticLevels() (waiting int, err error) { return e.tactics.CheckLevels() }

// What tests enter, as the loop and a replay do.

func (e *Engine) HaltAll(at market.Time, reason string) []market.Command {
	return e.Enter(&market.Input{Kind: market.InputHalt, At: at, Reason: reason}).Commands
}

func (e *Engine) HaltOne(at market.Time, id market.StrategyID, reason string) []market.Command {
	return e.Enter(&market.Input{Kind: market.InputHalt, At: at, Strategy: id, Reason: reason}).Commands
}

func (e *Engine) CancelHalted(at market.Time) ([]market.Command, int) {
	a := e.Enter(&market.Input{Kind: market.InputCancelHalted, At: at})
	return a.Commands, a.Left
}

func (e *Engine) Resume(at market.Time, id market.StrategyID) []market.Command {
	return e.Enter(&market.Input{Kind: market.InputResume, At: at, Strategy: id}).Commands
}

func (e *Engine) CancelAll(at market.Time) []market.Command {
	return e.Enter(&market.Input{Kind: market.InputCancelAll, At: at}).Commands
}

func (e *Engine) Cancel(at market.Time, ids []market.OrderID) []market.Command {
	return e.Enter(&market.Input{Kind: market.InputCancel, At: at, Orders: ids}).Commands
}

func (e *Engine) Dissolve(at market.Time, ids []market.OrderID) []market.Command {
	return e.Enter(&market.Input{Kind: market.InputDissolve, At: at, Orders: ids}).Commands
}

func (e *Engine) Flatten(at market.Time, id market.StrategyID, reason string) ([]market.Command, []Unsold) {
	a := e.Enter(&market.Input{Kind: market.InputFlatten, At: at, Strategy: id, Reason: reason})
	return a.Commands, a.Unsold
}

func (e *Engine) Delisted(m market.ID) []market.Command {
	return e.Enter(&market.Input{Kind: market.InputDelisted, Market: m}).Commands
}

func (e *Engine) SetMembers(id market.StrategyID, next strategy.Membership) {
	e.Enter(&market.Input{Kind: market.InputMembers, Strategy: id, From: next.From, Members: next.Markets})
}

// What a desk reads.

func (e *Engine) Working(id market.StrategyID, m market.ID) bool { return asks{e}.Working(id, m) }

func (e *Engine) Exits(id market.StrategyID, order market.OrderID) (market.Bracket, bool) {
	return asks{e}.Exits(id, order)
}
