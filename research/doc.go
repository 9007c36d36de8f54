// Package research searches the parameters of strategies over stored candles, and says what the
// best set that it found is worth. It never reads a config, prints, or trades: a Job brings a
// function that makes the plan of a set. Start at Sweep.
//
// # Decisions
//
//   - A file of groups, always the same bytes. Sets run in groups; finished groups are appended in
//     their order, each one checksummed frame, on disk before the next. So cores and kills change
//     no byte. The first frame names what the file belongs to; the objective is not in it. Price: a
//     worker that is ahead waits, a kill loses groups that are done but not written.
//   - A set is one number. Every dimension is a list, every method chooses numbers; CMA-ES and
//     Sobol work in the unit cube. CMA-ES is ours: gonum's version links mat, has a goroutine, and
//     scales its steps otherwise than the paper. Returns are float32: a Sharpe ratio moves by less
//     than 10⁻⁶.
//   - A Runner is the border. A sweep gives groups and takes rows in any order; a pool of
//     goroutines or other machines run them. research knows neither config nor network.
package research
