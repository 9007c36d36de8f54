// Package canary lets another program, or this one with another config, decide in shadow what a
// live bot decides: a child process that gets the bot's records over a pipe and replays them. It
// never sends an order and never holds up the bot. Start at Start, then at Play, which is the
// child's side.
//
// # Decisions
//
//   - A replay in a child process. Another program may crash or hang, so it has a process of its
//     own; the loop only copies blocks. A slow child loses frames beyond 16 MB and goes on from the
//     next snapshot. Price: an answer is up to a block late.
package canary
