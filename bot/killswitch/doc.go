// Package killswitch is the kill switch that needs no loop: it cancels a bot's open orders and
// sells what its strategies hold, straight at the exchange, for a bot that hangs or cannot start.
// It never sends a request before its log has it on disk, and never sends a sale twice. Start at
// Switch; Log is its record, Holdings is what the bot leaves for it.
//
// # Decisions
//
//   - It stands beside the loop. `bot cancel-all --direct` works when the loop hangs and bot.db
//     cannot be read: it shares neither. Intents go to a log of text lines; the engine adopts a
//     sale as an order without an answer, so a query books it once. Price: a second way to send,
//     and sales that no gate has checked.
package killswitch
