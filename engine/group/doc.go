// Package group gathers the candles of an instant for strategies with OnCandles. Engine.Step calls
// Set. Start at Set.Add.
//
// # Decisions
//
//   - Groups of candles: the engine waits, the driver does not. OnCandles needs all candles of an
//     instant. A backtest knows when they are whole (engine.Config.WholeGroups); live, a Set waits
//     until the group is whole, a later instant comes, or strategy.GroupGrace ends. The newest
//     group is saved. Price: a strategy with OnCandles has no rows of quiet candles.
package group
