// Package strategy is the interface for strategy authors: Strategy, the Desk through which a
// strategy asks for orders, its parameters and its Kind. It never talks to an exchange and knows
// neither engine nor gate; the gate may refuse an ask. Start at Strategy, then Desk; package
// smacross is the shortest complete example.
package strategy

import "github.com/tidemark-trading/tidemark/market"

// Strategy receives the data of its markets and asks for orders through its Desk. All calls come
// from one goroutine at a time. The arguments are copies, which the strategy may keep and change;
// an OrderBook is a view that can be read until OnBook returns. Embed Base for the calls you do not
// need.
//
// A strategy reads no clock (Desk.Now), no random source and no file while it runs: the same events
// must give the same asks, or a backtest says nothing about the live run.
type Strategy interface {
	OnTicker(d *Desk, t market.Ticker)
	OnBook(d *Desk, b OrderBook)
	OnCandle(d *Desk, c market.Candle)
}

// Base answers every call of Strategy by doing nothing.
type Base struct{}

// OnTicker does nothing.
func (Base) OnTicker(*Desk, market.Ticker) {}

// OnBook does nothing.
func (Base) OnBook(*Desk, OrderBook) {}

// OnCandle does nothing.
func (Base) OnCandle(*Desk, market.Candle) {}

// The optional abilities of a Strategy. The engine looks for them once, at the start.

// OrderHandler gets every change of an own order: sent (Exec zero), accepted, filled, cancelled,
// refused by the exchange (ExecRejected), of unknown outcome (ExecUnknown). A refusal of the gate
// is not among them; the ask itself returned it.
type OrderHandler interface {
	OnOrder(d *Desk, o market.Order, r market.Report)
}

// FillHandler gets every fill of an own order, before the OrderHandler gets the order's new state.
type FillHandler interface {
	OnFill(d *Desk, f market.Fill)
}

// TimerHandler is called at the times asked for with Desk.Timer.
type TimerHandler interface {
	OnTimer(d *Desk, name int64)
}

// Starter is called once before the first event. It may read the Desk; asks are refused until the
// warm-up is over.
type Starter interface {
	OnStart(d *Desk)
}

// Stopper is called once after the last event of a run that ends in good order.
type Stopper interface {
	OnStop(d *Desk)
}

// Saver keeps a strategy's state over a restart of a live bot, apart from the state that the
// candles of its warm-up build again. Save is called between callbacks and returns the same bytes
// for the same state; an embedded PerMarket has both. Load is called once, on a new strategy: after
// OnStart and the candles of the warm-up, before any other call. It replaces the state that these
// have led to. An error keeps the bot from starting: say in it what differs from the time of the
// Save.
//
// A strategy without Saver starts anew with the candles of its warm-up. That is enough where its
// state comes from these candles alone, and from its positions and open orders, which the bot
// keeps.
type Saver interface {
	Save() ([]byte, error)
	Load(data []byte) error
}

// Noter has something to tell about a run when it has ended, a sentence each: a backtest's report
// and result.json have it. A walk-forward's have not: each of its windows makes the strategy anew.
type Noter interface {
	Notes() []string
}

// Watcher is a Noter that tells more, in notes and tags, where it is asked before the first event,
// at the price of time for each candle. A live bot, a single backtest and the rehearsal of bot
// doctor ask; a search and the checks do not.
type Watcher interface {
	Noter
	Watch()
}

// Skipper uses candles without the Desk, for speed. Skip gets closed candles in a row, of one
// market and interval, and returns how many of the first it has used: those for which OnCandle
// would have asked for nothing. It stops before a candle that needs OnCandle, or that it does not
// want; the other candles of the slice come next, one by one or to Skip again. A backtest calls it
// where nothing else happens: no order in the candles' range, no timer, no warm-up. Otherwise, and
// live, OnCandle gets every candle: both ways must lead to the same state. The slice is the
// engine's: read it, change nothing and keep nothing of it. A candle must be used without a look at
// those after it; strategytest.CheckSkip and bot backtest --check-lookahead hold Skip against
// OnCandle.
type Skipper interface {
	Skip(series []market.Candle) (used int)
}
