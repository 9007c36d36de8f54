// Package bolt opens bbolt files whole or not at all: it makes them, locks them, checks their
// structure on raw bytes before bbolt follows it, turns damage into errors and releases pages that
// were read. It does not know the meaning of keys and values. Start at Open.
//
// bbolt trusts its file: on a damaged page it panics, even in a goroutine of its own, reads beyond
// its mapping, or loops. After check none of that can happen: each page is reached once, every
// element lies in its page where bbolt writes it, keys rise within pages and across them, inline
// buckets fill their value, and no page in use is in the list of free pages.
//
// # Decisions
//
//   - Every page is checked before bbolt follows it. bbolt trusts its file: a damaged page made it
//     panic in a goroutine of its own, or walk in circles. Open reads the structure as raw bytes
//     first, and every walk wants keys to rise. A candle store is checked in parts (Lazy,
//     CheckKeys). Price: an opening reads every page that holds keys (`go test ./state/journal -run
//     '^$' -bench Open`).
//   - A new file begins whole. It is made under another name and renamed when synced, so an empty
//     or shortened file is never taken for a new one. Price: a file is opened twice.
package bolt
