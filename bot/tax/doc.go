// Package tax sorts an account's history into lots: what was bought or came, at which cost, and
// which lots each sale used up by FIFO, LIFO and average cost. It is evidence for an adviser and
// knows no law: it never decides what is taxed. Lots are pooled over the account, whatever strategy
// or person traded. Start at Report; History and Trades read what an exchange has, and Comparison
// joins both.
//
// # Decisions
//
//   - The history counts, trades confirm it. The history adds up to the balances, the list of
//     trades has price and fee. Both are paired by number, figures, sum or minute; each case
//     without a pair is counted. Price: a row that differs in amount and time in both counts twice,
//     which its notes show.
package tax
