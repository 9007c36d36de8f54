// Package door lets signals from outside come to a live bot: by HTTP, as new lines of a file, and
// by the standard input. It reads what comes, proves who sent it, and gives it to the bot's ear. It
// never trades, never waits for an order, and never logs a secret. Start at Server, then at Lines.
//
// # Decisions
//
//   - A secret path, or a signature. TradingView can set a URL and a text and nothing else; its
//     secret stands in the path. A model signs by Standard Webhooks.
//   - A right secret always passes. All users of TradingView share four addresses: ten wrong
//     secrets close an address for wrong ones alone, or a stranger there could close it for the
//     owner. Price: a closed address still costs the comparison.
//   - An answer waits for the disk and for nothing else. After 200 the signal is in the journal;
//     after 503 or a silence the sender sends again, and its id counts once.
//   - A file has a place, and no id of its own. The place is on disk after the signal; a kill
//     between the two repeats rows whose hash is their id. A file that was written again goes on
//     behind the newest time heard. Price: rows of an earlier time are left out there.
package door
