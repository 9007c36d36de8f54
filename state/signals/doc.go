// Package signals reads signals from outside, in the shapes that people have: files, and what a
// live bot gets. Start at Read and at Sender.
//
// # Decisions
//
//   - Nothing is known before it could be. A row is known at its known_at, else at its time and a
//     delay; a day without a time of day at its end. Times that are all starts of candles are
//     refused until stamped says which end of a candle they are. Price: a file of true moments on
//     the full hour needs the word too.
//   - A file is read whole or not at all. The first bad cell refuses it, with line and column.
//   - Revisions stay. A later known_at of one time is a row of its own; without a known_at the
//     order of two such rows is unknown, so they are refused.
//   - Spot markets have no short positions: a short is flat, and counted.
package signals
