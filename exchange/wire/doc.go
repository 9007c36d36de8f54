// Package wire reads and writes the JSON between client and exchange: one scanner for answers and
// for the bodies of requests, one writer for both, and exact decimals, never floats. It never sends
// anything, and it never decides the meaning of a member or which members are allowed. Read Scanner
// next, then Writer.
//
// # Decisions
//
//   - One scanner and one writer, by hand. Levels, candles, tickers and trades are decoded without
//     allocation; the sandbox's bodies pass the same scanner. Fuzzed against encoding/json, which
//     reads all that is rare. Price: a scanner of our own.
package wire
