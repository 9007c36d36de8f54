// Package placebo tests a whole search on surrogates of its candles, which have nothing to find:
// they keep the size of every move and the drift, and draw the directions by coin. The winner of
// the data is ranked among the winners of the surrogates. It never chooses a set, prints, or reads
// a config. Start at Run; Data makes the surrogates, turn.go those that turn signals in time.
//
// # Decisions
//
//   - Coins for directions, factors for sums. A surrogate keeps every move at its place and mirrors
//     it about the drift where a hash of seed, number and time says so. Blocks with one sign were
//     tried: they keep the products of neighbours that a search looks for. The statistic is the
//     winner's Sharpe ratio in excess of a hold. Price: one long trend counts as an edge.
//   - Signals turn in a circle. All come later by one time, those beyond the end come in at the
//     beginning, and what holds moves along, so each turn is as likely as the data where times say
//     nothing. Price: a slow signal has few turns that differ.
package placebo
