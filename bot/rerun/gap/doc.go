// Package gap says why a live bot earned something else than a backtest of the same time. It runs
// the strategies again and again, each time with more of what the recording knows in the place of
// the model, and names what each kind of record changes. It reads a state folder and writes
// nothing. Start at Run, then at runner.
//
// # Decisions
//
//   - All runs are one session with other facts. A set of facts says what enters from the record
//     and what the model makes; the run with all facts is a replay and equals the books by
//     construction. Price: 15 passes over the recording.
//   - Episodes are cut where both hold the same. What is left of the difference is money paid and
//     got, so the gaps add up without any price. The cause is the first run of the ladder that
//     leaves at most half. Price: a later order of another size is an episode of its own.
package gap
