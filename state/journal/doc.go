// Package journal is the state file of a bot, bot.db: the journal (a hash chain of every decision,
// request and answer) and the tables that the bot reads at its start. One turn of the live loop is
// one Batch, and one Batch is one synced transaction. It never decides anything. Start at
// Store.Commit; Entry lists the records of the journal.
//
// # Decisions
//
//   - One commit a turn. Entries, order rows, fills, cursors and snapshots of a turn are one synced
//     transaction. All of an order stands under its number; client order ids stand in sorted lists.
//     Price: opening reads every page once.
//   - A hash chain, tables with checksums. Each entry's hash covers the one before; checkpoints
//     bound what a start checks. bbolt's own check panics where nothing recovers it.
//   - Segments. 256 entries become one zstd row, since they repeat each other (`go test
//     ./bot/runner -run FileOfABusyBot -busy 2h -v` has the file's growth). Segments of 512 saved
//     little more and lose more to one damaged page. Price: two places for an entry, and one commit
//     of 256 computes longer.
//   - The journal can be cut. Prune writes a new file that begins after a checkpoint; Trim removes
//     256 entries a time in a running bot, in bounded steps. Every story is whole or gone. Price:
//     two kinds of checkpoints; for a second `bot explain` may miss an order.
//   - Bookings are never pruned. Fills, late fees and transfers are copied into a table of their
//     own, below 60 bytes a row (`go test ./state/journal -run SixtyBytes -v`), so what a bot has
//     earned is known for good. Price: each fill is stored a third time.
//   - Curves are thinned to quarters of an hour. A day begins at a quarter of an hour of UTC in
//     every time zone. Price: a day older than three years is the UTC day.
//   - Touched pages are given back. Every 64 commits, by madvise; otherwise the whole file would
//     count as the bot's memory. Price: some microseconds of faults.
package journal
