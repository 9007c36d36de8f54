// Package recording keeps what enters the engine of a bot in compressed segments beside its state
// file: market events, the exchange's answers, timers, acts of people, and of each start what it
// began with. It is never synced and may lose its end; its reader reports the missing records.
// Start at Record, then at Writer.Write and Reader.Next.
//
// # Decisions
//
//   - It may lose its end. Segments are compressed and never synced, the oldest dropped first.
//     Records have numbers that the journal's causes name; each commit stores the next number, so a
//     power cut shows what it took. Price: nine bytes a commit (`go test ./state/journal -run '^$'
//     -bench BlobInACommit`).
//   - One stream in the order of the loop. Reports and fills too, though the journal has them: a
//     replay reads one file in a row. KindTurn names the journal entries of a commit; a start is
//     whole in itself. Price: reports are stored twice.
//   - Differences, in streams. Books and tickers are written as differences from the latest one,
//     each kind of number in a stream of its own, compressed beside the loop. Price: a whole book a
//     market in each block.
package recording
