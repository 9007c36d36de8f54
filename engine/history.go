package engine

import "github.com/tidemark-trading/tidemark/market"

// SeeFrom hides the candles of a series that start before a time from a strategy: they are of a
// longer warm-up of another one. Call it before Start, Restore or Prepare. OnStart is called at the
// earliest of a strategy's times.
func (e *Engine) SeeFrom(id market.StrategyID, m market.ID, interval market.Interval, at market.Time) {
	e.histories.Hide(id, m, interval, at)
}

// See shows each strategy, of the history before the time at, the latest candles of each of its
// series, as many as its warm-up needs. Call it before Start, Restore or Prepare.
func (e *Engine) See(history []market.Candle, at market.Time) { e.histories.See(history, at) }

// StartRest calls OnStart of the strategies that have no candles of a history, at the end of the
// others' history.
func (e *Engine) StartRest(at market.Time) {
	if e.histories.Waiting() > 0 {
		was := e.now
		e.begin(max(at, was))
		e.histories.Start(was)
	}
}
