package engine

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Answer is the engine's answer to an input. Commands are valid until the next one.
type Answer struct {
	Commands []market.Command
	Unsold   []Unsold     // InputFlatten
	Left     int          // InputCancelHalted: orders that are still open
	Own      *state.Order // InputAdopt
	Err      error        // InputReopen: the saved order cannot be read
	// InputSignal: the strategies that got it, and those that want it and are halted, or not
	// started yet.
	Heard, Deaf []market.StrategyID
}

// Enter carries out an input. It is the only way by which a live bot changes engine and account
// once they have begun, so a replay that enters the same inputs does the same.
func (e *Engine) Enter(in *market.Input) (a Answer) {
	switch in.Kind {
	case market.InputEvent, market.InputBooking:
		a.Commands = e.Step(in.Event)
	case market.InputStart:
		a.Commands = e.Start(in.At)
	case market.InputStop:
		a.Commands = e.Stop(in.At)
	case market.InputHalt:
		if in.Strategy == 0 {
			a.Commands = acts{e}.HaltAll(in.At, in.Reason)
		} else {
			a.Commands = acts{e}.HaltOne(in.At, in.Strategy, in.Reason)
		}
	case market.InputWithhold:
		a.Commands = acts{e}.Withhold(in.At, in.Strategy, in.Reason)
	case market.InputResume:
		a.Commands = acts{e}.Resume(in.At, in.Strategy)
	case market.InputMembers:
		e.universes.Change(in.Strategy, strategy.Membership{From: in.From, Markets: in.Members})
	case market.InputUnreliable:
		e.account.MarkUnreliable(in.Market)
	case market.InputSignal:
		a = acts{e}.Hear(in.At, in.Signal)
	default:
		return acts{e}.enterOrders(in)
	}
	return a
}

// enterOrders is Enter of the inputs about orders.
func (e acts) enterOrders(in *market.Input) (a Answer) {
	switch in.Kind {
	case market.InputCancelAll:
		a.Commands = e.CancelAll(in.At)
	case market.InputCancelOthers:
		a.Commands = e.CancelOthers(in.At)
	case market.InputGuard:
		a.Commands = e.Guard(in.At, true)
	case market.InputFinish:
		a.Commands = e.Guard(in.At, false)
	case market.InputCancel:
		a.Commands = e.Cancel(in.At, in.Orders)
	case market.InputCancelHalted:
		a.Commands, a.Left = e.CancelHalted(in.At)
	case market.InputFlatten:
		a.Commands, a.Unsold = e.Flatten(in.At, in.Strategy, in.Reason)
	case market.InputDissolve:
		a.Commands = e.Dissolve(in.At, in.Orders)
	case market.InputDelisted:
		a.Commands = e.Delisted(in.Market)
	case market.InputAdopt:
		order := *in.Order
		a.Own = e.Adopt(in.At, &order)
		a.Commands = e.only(market.Command{Kind: market.CommandPlace, At: in.At, Order: a.Own.Order})
	case market.InputCancelEnded:
		a.Commands = e.only(market.Command{Kind: market.CommandCancel, Order: *in.Order})
	case market.InputReopen:
		a.Commands, a.Err = e.Reopen(in.At, in.Saved)
	case market.InputCancelling:
		for _, id := range in.Orders {
			if o := e.account.Known(id); o != nil {
				e.account.SendCancel(o)
			}
		}
	}
	return a
}

// only returns a command that no strategy asked for.
func (e acts) only(c market.Command) []market.Command {
	e.out = append(e.out[:0], c)
	return e.out
}
