package backtest

import "github.com/tidemark-trading/tidemark/market"

// sessionFacts is what a run is told beside its candles: by a Session, not by a plan.
type sessionFacts struct {
	live  bool  // inputs come as they arrived: a candle event need not have all candles of its instant
	muted bool  // the engine gets by itself the prices that move the venue
	facts Facts // what a record says about orders; nil: nothing
}

// Facts replaces parts of a Session's model of the exchange by what a record knows of real orders.
// Pointers are valid until the call returns. A Session without Facts models everything.
type Facts interface {
	// Sent is called for each command of the engine before the venue gets it.
	Sent(c *market.Command) Fate
	// Restored is called for each open order of a session that is restored, and reports whether
	// reports that enter say what becomes of it.
	Restored(o *market.Order) bool
}

// Fate is what a record knows of a command. The zero Fate knows nothing: the venue decides.
type Fate struct {
	// Arrives is when the command meets the market; 0: after the latency of the venue's settings.
	Arrives market.Time
	// Recorded commands never reach the venue: reports that Session.Enter gets as inputs say what
	// becomes of their orders. Their fills change the venue's balances.
	Recorded bool
}
