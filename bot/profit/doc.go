// Package profit answers what a bot has earned: round trips, profit by period or by strategy, and
// equity curves. It reads the bookings and the curves of a state file and nothing else, so it asks
// neither an engine nor an exchange, and a running bot answers from a goroutine of its own. Start
// at Trades, Profit and Equity; every reader takes a Source and a Query.
//
// # Decisions
//
//   - Folded when asked. All bookings are read for each question and folded by the account's own
//     function: a late fee would change sums far back, and sums would be a second truth. Price: an
//     answer grows with the bot's age (`go test ./bot/profit -run '^$' -bench Books`).
package profit
