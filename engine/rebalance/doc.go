// Package rebalance trades a portfolio: the sells at once, the buys when the sells have ended.
// Engine.Step calls Set. Start at Set.Begin and Set.Follow; plan.go works out the orders.
//
// # Decisions
//
//   - Rebalancing keeps the buys. On a spot exchange buys need the money of sells. The engine keeps
//     the buys as amounts until the last sell has ended and its fills are booked, then sends them
//     as orders over money, which never cost more than there is. A sell that fails takes from the
//     buys, not from the cash that the weights leave. A plan that needs base of other own sells is
//     refused whole. In a backtest the buys act where the paths of all markets stand. Price: a buy
//     spends its money also where the price is better than the worst assumed.
package rebalance
