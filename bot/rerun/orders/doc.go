// Package orders reads what became of each order of a live bot, from the journal and the
// recording of its state folder: when it was decided, sent, answered and accepted, what the market
// showed then, how long it rested, which candles reached it, its fills and its end. What the record
// lacks is named and never filled in. From the orders it measures what a backtest assumes of an
// exchange, and writes that as a [backtest] section. It asks no exchange and runs no backtest.
// Start at Read and MeasureAssumptions.
//
// # Decisions
//
//   - One walk over journal and recording. Decisions and arrivals are sorted points in time; memory
//     is that of the orders. A candle is judged as a whole, also after a fill in it. Price: a
//     candle a minute late is not used.
//   - Measured latency. On candles an order arrives at the next third of the candle, so less than a
//     sixth is written as a comment. Price: market orders then pay the price of the open.
package orders
