// Package walkforward is the walk-forward: parameters are chosen on a part of the data, trade the
// part that follows, and so on; the traded parts, stitched together, are one run that no choice has
// seen. It never reads a config and never prints. Start at New.
//
// # Decisions
//
//   - One sweep chooses, one run trades. Winners of all windows come from the daily returns of one
//     sweep. The test days are one run that changes parameters as a restart does (Plan.Borders).
//     Figures that do not follow from daily returns need a search a window. Price: a set's training
//     begins with whatever position it had; a border costs a save, a restore, a warm-up.
package walkforward
