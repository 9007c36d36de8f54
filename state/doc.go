// Package state holds the Account: orders, positions and balances, folded from events. It decides
// nothing, never talks to an exchange and never touches a disk: the stores are packages below it
// (journal, candles, recording). Start at Account.Apply.
//
// # Decisions
//
//   - Fills travel with their report. A report carries the fills that led to it, so balance, hold
//     and position change in one step. Fills alone (KindFill) exist for fees that are settled
//     later.
//   - A position follows the order of its fills. An exchange reports fees seconds late, and fills
//     of two orders out of order; cost and profit depend on that order. The account keeps the
//     position before the first fill that can still change and the fills since (recent.go), and
//     computes anew. Live, two minutes; a backtest keeps nothing. A quote without its fee is
//     rounded against us. Price: a larger saved account.
//   - Balances by strategy. A strategy with an allocation has its own balance, all others share
//     one; the account is the sum. The simulated venue knows only the sum.
//   - Open orders in lists and heaps. One linked list for each strategy in each market; counters
//     and the sum of open buys belong to it. Best own bid and ask stand in heaps that drop old
//     entries when they reach the top. Nothing of it is saved. Price: an order that is opened again
//     walks past the newer ones of its list.
//   - Equity: only what changed is valued again. The account keeps the value of each base asset and
//     sums by quote asset. A new price or balance marks its market; the next question values the
//     marked ones. So limits cost the same on two markets and on two hundred. Price: each price
//     writes one flag.
//   - Holds by market and side. AssetExposure looks at the markets of one asset and at no order.
//     Price: each change of a hold adds twice, also without such a limit.
//   - Saved orders are parts of their own. A save writes the orders that changed, the same cost
//     among 50 open ones and among 20,000 (`go test -run '^$' -bench SaveAmongResting ./engine`).
//     As one text the cost grew with the open orders. Price: a part that is gone is saved as nil,
//     and the state file has to remove it.
package state
