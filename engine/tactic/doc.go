// Package tactic spreads a buy or a sell over several orders: MakerFirst and TWAP. Engine.Step
// calls Set. Start at Set.Begin and Set.Run; end.go counts fills and ends tactics, watch.go says
// what the path of a backtest's candles stops for, saved.go saves them.
//
// # Decisions
//
//   - Tactics count, they do not set aside. MakerFirst and TWAP are state machines beside the
//     brackets; their orders are plain orders. A tactic counts fills and all that its orders could
//     still trade, so no lost answer lets it trade more than its size. All its orders buy for the
//     bracket of the first. In a backtest it acts inside the path; with one, all timers ring inside
//     it. Price: money that the strategy spends meanwhile makes the rest smaller.
package tactic
