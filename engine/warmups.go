package engine

import (
	"github.com/tidemark-trading/tidemark/engine/warmup"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Warming reports whether a strategy may not trade in any of its markets yet.
func (e *Engine) Warming(id market.StrategyID) bool { return e.slots[id-1].wait.All() }

// InWarmUp reports whether a strategy's asks in a market are refused because of its warm-up.
func (e *Engine) InWarmUp(id market.StrategyID, m market.ID) bool {
	return e.replaying || e.slots[id-1].wait.Cold(m)
}

// Began lists the markets of a strategy in their order, with the ends of their warm-ups.
func (e *Engine) Began(id market.StrategyID) []warmup.Began { return e.slots[id-1].wait.Began() }

// Lacking lists the markets of a strategy in which candles are missing, in words: "BTC-EUR needs 12
// more 1d candles".
func (e *Engine) Lacking(id market.StrategyID) []string { return e.slots[id-1].wait.Lacking() }

// Hides reports whether a candle lies before the history of a strategy.
func (e core) Hides(id market.StrategyID, c *market.Candle) bool { return e.slots[id-1].past.Hides(c) }

// Past reports whether a restart shows candles again; they are useless to a strategy without a
// warm-up.
func (e core) Past(id market.StrategyID) (replaying, useless bool) {
	return e.replaying, !e.slots[id-1].wait.Warms()
}

// CallCandles calls OnCandles of a strategy.
func (e core) CallCandles(id market.StrategyID, g strategy.Group) {
	e.args.group = g
	e.guard(&e.slots[id-1], CallCandles)
}
