// Package record records the market data of an exchange without trading: tickers, order books,
// trades, candles, rules. It has no key and sends no order. It writes the recording of a bot, with
// a start that names markets and rules. Start at Run; start.go opens, recorder.go records.
//
// # Decisions
//
//   - A bot without strategies. `bot record` writes the recording of one, so all that reads a bot's
//     recording reads it. A start is repeated each day. Price: a few kilobytes a day.
package record
