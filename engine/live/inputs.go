package live

import (
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
)

// Recorder keeps what enters the engine, in the order in which it enters. Only the goroutine that
// owns the engine calls it; arguments are valid until the call returns.
type Recorder interface {
	// Input is called before the engine carries an input out.
	Input(in *market.Input)
	// Withheld is called for a command of the latest inputs that never becomes an intent: it fits
	// into no request, or a stop came before trading began.
	Withheld(c *market.Command)
	// Begun is called when the commands of Config.Start are asked for.
	Begun()
}

// Inputs is the only way into the engine of a live bot. Beside it, loop and runner only read engine
// and account; TestOnlyInputsLeadIntoTheEngine holds them to that.
type Inputs struct {
	Engine   *engine.Engine
	Recorder Recorder // nil: nothing is kept
}

// Enter records an input, then the engine carries it out.
func (d *Inputs) Enter(in *market.Input) engine.Answer {
	if d.Recorder != nil {
		d.Recorder.Input(in)
	}
	return d.Engine.Enter(in)
}

// input enters an input at the loop's time, and queues the commands that follow.
func (l *Loop) input(in *market.Input) engine.Answer {
	in.At = l.engineTime()
	a := l.door.Enter(in)
	l.queueCommands(a.Commands)
	return a
}

// halt halts a strategy; 0: all strategies.
func (l *Loop) halt(s market.StrategyID, reason string) {
	l.input(&market.Input{Kind: market.InputHalt, Strategy: s, Reason: reason})
}

// withhold notes a command that never becomes an intent.
func (l *Loop) withhold(c *market.Command) {
	if l.Recorder != nil {
		l.Recorder.Withheld(c)
	}
}
