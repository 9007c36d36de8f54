package live

import (
	"sync"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// base has the fields that all parts of the loop share.
type base struct {
	*Config
	*clock
	*workers
	door    *Inputs
	queries *queryQueue
	channel *channel
	loop    core
}

// core has the methods of the loop that its parts may call.
type core interface {
	// step folds an event and queues the strategies' commands.
	step(ev *market.Event)
	// input enters an input at the loop's time, and queues the commands that follow.
	input(in *market.Input) engine.Answer
	// halt halts a strategy; 0: all strategies.
	halt(s market.StrategyID, reason string)
	// queryOf returns the query of an order, a new one where there is none.
	queryOf(id market.OrderID) *query
	// receive handles every answer about an order.
	receive(q *query, r *reply)
	// follow keeps the query of an order as long as the order expects something.
	follow(id market.OrderID)
	// quiet reports whether nothing is in flight that could explain a difference.
	quiet() bool
}

// clock is the loop's time: the exchange's, as of the latest stamp.
type clock struct {
	trading exchange.Trading
	now     market.Time
	began   market.Time // when the run began
	resumed market.Time // the engine's time by then
}

// stamp moves the loop's time to the exchange's. It never goes back.
func (c *clock) stamp() market.Time {
	c.now = max(c.now, c.trading.Now())
	return c.now
}

// engineTime is the time of the next step. The engine's time never goes back: where the last run's
// clock was ahead, it goes on at half the pace until the exchange's has caught up, so that timers
// still fire.
func (c *clock) engineTime() market.Time {
	c.stamp()
	return max(c.now, c.resumed+(c.now-c.began)/2)
}

// workers put questions to the exchange. The loop runs what they hand back.
type workers struct {
	group   sync.WaitGroup
	replies chan func()
}

// ask puts a question in a worker. What it returns runs in the loop's goroutine.
func (w *workers) ask(question func() (answered func())) {
	w.group.Go(func() { w.replies <- question() })
}
