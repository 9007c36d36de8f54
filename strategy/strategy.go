// Package strategy is what a strategy author sees: Strategy, the Desk through which a strategy asks
// for orders, its parameters and its Kind. It never talks to an exchange and knows neither engine
// nor gate: an ask is a wish that the gate may refuse. Start at Strategy, then Desk; package
// smacross is the shortest complete example.
package strategy

import "github.com/tidemark-trading/tidemark/market"

// Strategy receives what its market does and asks for orders through its Desk. Every call comes
// from one goroutine at a time. What it is given are copies, its own to keep and to change; an
// OrderBook is a view that can be read until OnBook returns. Embed Base for the calls you do not
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

// The optional abilities of a Strategy. The engine looks for them once, when it takes the strategy
// in.

// OrderHandler hears of every change of an own order: sent (Exec zero), accepted, filled,
// cancelled, refused by the exchange (ExecRejected), of unknown outcome (ExecUnknown). What the
// gate refused is no order; the ask itself returned the refusal.
type OrderHandler interface {
	OnOrder(d *Desk, o market.Order, r market.Report)
}

// FillHandler hears of every fill of an own order, before the OrderHandler hears of the order's new
// state.
type FillHandler interface {
	OnFill(d *Desk, f market.Fill)
}

// TimerHandler hears of the times asked for with Desk.Timer.
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

// Saver keeps what a strategy knows over a restart of a live bot, but for what the candles of its
// warm-up teach it anew. Save is called between callbacks and returns the same bytes for the same
// knowledge; SaveMarkets helps. Load is called once, on a strategy made anew: after OnStart, after
// the warm-up's candles were seen again, before anything else. It takes the place of whatever these
// have led to. An error says what differs from when it was saved, and keeps the bot from starting.
//
// A strategy without it is made anew and sees the candles of its warm-up again: enough where all it
// knows comes from them and from its positions and open orders, which are kept for it.
type Saver interface {
	Save() ([]byte, error)
	Load(data []byte) error
}

// Quieter takes in a candle without its Desk, for speed. Quiet returns true where it has taken the
// candle in and OnCandle would have asked for nothing; OnCandle is not called then. It returns
// false where it has changed nothing, and the candle is given to OnCandle. A backtest calls it
// where nothing else happens at that candle: no order within its reach, no timer. Elsewhere, and
// live, OnCandle gets every candle: both must lead to the same.
type Quieter interface {
	Quiet(c market.Candle) bool
}
