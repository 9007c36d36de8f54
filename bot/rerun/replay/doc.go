// Package replay plays again what entered the engine of a bot, through the same strategies, and
// compares every command with the journal. It never asks an exchange and writes nothing. Start at
// Run.
//
// # Decisions
//
//   - Compared by turns, from starts and snapshots. The engine is made as the runner makes it, and
//     each command is held against the journal. Starts and daily snapshots are points of exact
//     memory. Price: after a loss nothing is checked until the next midnight; memory beyond the
//     warm-up of a strategy without Save is in no snapshot.
package replay
