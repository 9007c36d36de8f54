package runner

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/canary"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/signals"
)

// Options are the parts of its process that a bot uses. Every field may be nil.
type Options struct {
	Getenv func(string) string // systemd's variables; nil: no notifications
	// Again returns a context that ends with the next signal to stop.
	Again func() (context.Context, context.CancelFunc)
	// Pulse is the time between two log lines that say how the bot stands and what it waits for; 0:
	// there are none.
	Pulse time.Duration
	// Canary is a child that decides in shadow; nil: there is none. The bot ends it.
	Canary *canary.Process
	// CanaryCommands is how many of its commands must be equal before it is promoted.
	CanaryCommands int
	// Reread reads the config again, for a reload, and checks it; nil: there is none to read.
	Reread func() (*plan.Live, error)
	// SetLevel makes a word of bot.log the level of the log; nil: it stays. Any goroutine may call
	// it.
	SetLevel func(level string)
	// Hangup gets a signal that asks for a reload; nil: there is no such signal.
	Hangup <-chan os.Signal
	// Ear is called once, before trading begins, with the part of the bot that hears signals; nil:
	// nothing is called.
	Ear func(signals.Ear)
	// Faults is called between two steps of the kill switch, of its booking, and of a reload.
	Faults func(point string)

	slept     func() market.Duration          // replaces runner.slept
	observer  observer                        // of the trading
	wrapPaper func(http.Handler) http.Handler // wraps the exchange of paper mode
}

// fault reports a point to a test.
func (o *Options) fault(point string) {
	if o.Faults != nil {
		o.Faults(point)
	}
}

// observer is called with every command that the gate lets pass, every fill and every order that
// has ended, in their order.
type observer interface {
	engine.Observer
	engine.Approver
}
