// Package risk decides which orders may leave the process: it rounds, checks rule by rule, and
// refuses with a reason. It never talks to a venue and never changes an order's meaning. Start at
// Gate.Check; limits.go lists the rules.
//
// # Decisions
//
//   - A person lifts the drawdown limit. max_drawdown latches, over restarts too. Gate.Resume lifts
//     it and counts anew from the equity of that moment. Price: resuming one strategy lifts it for
//     the whole account.
//   - Opposite orders are refused, never crossed. One look at the open orders of the other
//     strategies of the market. Crossing inside the bot was tried and removed: engine, journal,
//     replay, gap and result knew two kinds of fills, to save the fee of a rare step. Price: where
//     opposite orders are allowed, both pay fee and spread.
//   - The volatility target makes buys smaller. The estimate must see all strategies in every mode,
//     so it stands in the gate: one series of the account's returns at its present values, no
//     matrix. Saved are closes, a part of its own. The greatest buy is an integer, rounded down;
//     products are converted one by one, so no processor fuses them. Price: some microseconds a
//     buy, and no rows of quiet candles.
package risk
