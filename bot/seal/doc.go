// Package seal owns what a bot promises at its go-live and whether it keeps it: the sealed
// document, the daily verdict, and the signed export that others check offline. It never trades,
// and an alarm halts nothing. Start at Document for the promise, at Keeper for a running bot, and
// at StatusOf for the answer.
//
// # Decisions
//
//   - The journal is the record. A daily verdict is journalled; the evidence is a pure function of
//     the verdicts. An alarm halts nothing. Price: a seal covers all strategies of a bot, and a day
//     at whose end the bot is off is missed.
package seal
