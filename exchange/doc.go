// Package exchange holds the rules that gate and venue share: which orders a market accepts, what
// an order holds and costs, the exchange's error table, the JSON record of an order; and the two
// ports of a live bot, MarketData and Trading. It never sends anything and never decides what to
// trade. Start at CheckPlace for the rules, at Error for refusals, at AppendOrder and ParseOrder
// for the record of an order (package wire has its JSON), at Intent for what Trading sends.
//
// # Decisions
//
//   - Gate and venue share the order checks. CheckPlace and CheckUpdate run in both, over their own
//     facts, so the venue takes at the same instant what the gate lets pass. Between decision and
//     arrival a market may move: then the venue refuses, and the report counts it. The wire record
//     stays written out by hand, for its conditions and its speed.
//   - One reader of candle lists. CandleRange reads every list, for it knows the question and can
//     leave out what was not asked for. A row that cannot be is left out alone; a row of another
//     interval refuses the answer, since the rows that fit are false too.
//   - An error decides an outcome. OutcomeOf reads an error: a refusal in the exchange's JSON and a
//     request that never left (ErrNotSent) did nothing; all else is unknown and is queried. Price:
//     an answer that lost only its last byte is queried too.
package exchange
