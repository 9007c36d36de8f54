// Package trials counts the backtests of all searches over the same candles: a file beside the
// candle store that only grows. It never runs a backtest and decides nothing: its counts say how
// much luck a search has to beat. Start at At, then Ledger.Append and Ledger.Families.
//
// # The file
//
// The first 16 bytes are a magic text, the version and their checksum. Frames follow: a mark, the
// length and CRC-32C of the payload, the payload, and the length again. A payload is a group of
// tries, a seal or its opening. Numbers are little-endian. An append is one write under a lock and
// is not synced: a power cut may lose the latest groups.
//
// The file trials.log.index is a sorted copy of the keys and series, for Ledger.Standing. It is
// replaced now and then. It can be deleted at any time: it is made again from the ledger.
//
// # Known limitation
//
// Tries of other machines, and those before the file was deleted, are not in it.
//
// # Decisions
//
//   - One file of tries beside the candles. It only grows: a frame is a group of tries and whole by
//     itself; an append is one write under a lock. A hash of the plan is the key, so a default
//     written out is no new try. An index beside it makes a count cheap and is made again whenever
//     it does not fit. Price: 16 bytes a try beside the 28.
package trials
