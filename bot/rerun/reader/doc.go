// Package reader reads the recordings of bots and of bot record as one row of records: over the
// starts of many processes, each with the markets of its start, and with every part that is missing
// named. It also writes them as CSV and JSON lines. It never changes a recording. Start at Items,
// then at Walk.
//
// # Decisions
//
//   - One reader for replay, canary, bot gap, the order log, simulation and export. What is missing
//     between two records is one item before the second of them, so every reader of a recording
//     meets the same losses at the same places. Price: a loss is told when the record after it is
//     there.
//   - Damage is a loss. Records that cannot be read, because the start before them is lost, are
//     left out to the end of their block. A replay alone ends there where it knows the start: then
//     the block itself is wrong.
package reader
