// Package assumptions measures, from the orders of a live bot, what a backtest assumes of an
// exchange: half spread, slippage, latency, and the chance that a touch fills a resting order. It
// writes them as a [backtest] section for the next backtest. It never trades and never runs one.
// Start at Measure.
//
// # Decisions
//
//   - Measured latency. On candles an order arrives at the next third of the candle, so less than a
//     sixth is written as a comment. Price: market orders then pay the price of the open.
package assumptions
