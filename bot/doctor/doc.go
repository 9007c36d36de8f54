// Package doctor checks everything that a live bot depends on and reports its findings. It sends no
// order and changes nothing. Start at Examine.
//
// # Decisions
//
//   - It rehearses the strategies. A trial over the latest candles with live limits is worth more
//     than a declaration. Price: a strategy that asks for nothing there stays unknown.
package doctor
