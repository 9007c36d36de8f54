// Package poll polls an exchange's public data and makes a stream of market events of it: tickers,
// order books, closed candles, status and rules of markets. It never trades and never interprets an
// event. Start at Feed.Run; candles.go delivers each closed candle in order, exactly once.
//
// # Decisions
//
//   - The order before completeness. An absent candle is asked for at growing distances; it comes
//     late before a newer candle and not at all behind one, for indicators and saved cursors know
//     one direction. Books begin after the first price. Price: a hole, named in the log.
package poll
