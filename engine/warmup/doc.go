// Package warmup says which of the candles before trading each strategy sees, as much as its own
// warm-up needs, and when it may begin to trade in a market. Start at Histories.See and Wait.Count.
//
// # Decisions
//
//   - Warm-up is per market and interval. Each interval has a warm-up in its own candles, each
//     market waits for its own. Strategies are called in it, for indicators live in callbacks; the
//     gate refuses their asks. Price: markets whose candles begin together begin each with its own
//     candle.
package warmup
