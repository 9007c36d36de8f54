// Package plan turns the sections of a config into one Plan of strategies, limits and allocations.
// A backtest completes the plan with candles (Backtest), a live bot with its exchange (Live). The
// package never prints, trades or opens a state file, and imports no command. Start at Plan.
//
// # Decisions
//
//   - Volumes with the moment from which they were known. bot/universe ranks them, the plan hands
//     the engine members by time.
package plan
