// Package stats says how much of a searched result is luck: Sharpe ratios and their errors, the
// bars that a winner of many tries must pass, overfitting, bootstrap and multiple tests. It is
// pure functions over numbers: it reads no file, no clock and no random source but a seed, and
// imports no package of ours. Start at TrackRecord for one series of returns, at Returns for all
// sets of a search, and at Explanations for the sentences that a reader gets.
//
// # Units
//
// A return is a part of the whole (0.01 is 1 %), one for each UTC day. A Sharpe ratio is per
// observation unless a name says annual: mean divided by standard deviation (divisor n−1). Skew
// and kurtosis have the divisor n; the kurtosis of a normal distribution is 3. Autocovariances
// have the divisor n. A p-value from resampling is (1 + resamples at least as good) divided by
// (1 + resamples): ties count against the strategy.
//
// # Known limitation
//
// Sharpe ratios of ranges of different length are not comparable, nor is a variance over them.
//
// # Decisions
//
//   - Pure functions, rows on demand. Returns come as a function that writes one row. Results do
//     not depend on the number of goroutines. Only gonum's mathext is linked; moments have the
//     papers' divisors. Ties within 10⁻¹⁰ count against the strategy. Price: 12 digits, not bits,
//     where a processor fuses.
package stats
