package runner

import (
	"context"
	"net/http"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
)

// Options is what a bot has of the process that it runs in. Every field may be nil.
type Options struct {
	Getenv func(string) string // where systemd says how it is told; nil: it is told nothing
	// a context that ends with the next signal to stop; nil: there is none
	Again func() (context.Context, context.CancelFunc)
	// called between two steps of the kill switch and of what books it; nil: not called
	Faults func(point string)

	slept   func() market.Duration          // how far the machine's clock has run ahead of its uptime; nil: as it is
	witness witness                         // hears of what is traded; nil: nobody
	within  func(http.Handler) http.Handler // stands before the exchange of paper mode; nil: nothing
}

// witness hears every command that the gate lets pass, every fill and every order that has ended,
// in their order.
type witness interface {
	engine.Observer
	engine.Approver
}
