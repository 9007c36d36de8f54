// Package orders reads what became of each order of a live bot, from the journal and the
// recording of its state folder: when it was decided, sent, answered and accepted, what the market
// showed then, how long it rested, which candles reached it, its fills and its end. What the record
// lacks is named and never filled in. It writes nothing and asks no exchange. Start at Read.
//
// # Decisions
//
//   - One walk over journal and recording. Decisions and arrivals are sorted points in time; memory
//     is that of the orders. A candle is judged as a whole, also after a fill in it. Price: a
//     candle a minute late is not used.
package orders
