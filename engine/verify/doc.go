// Package verify decides what an answer of the exchange may say about an own order: it checks the
// answer against the sent terms, the booked fills, the market's rules and the known prices. It
// never calls the exchange and changes only fields of the answer that are missing or do not apply.
// Start at Check.Record.
//
// # Decisions
//
//   - Each answer is checked against its order. An answer that breaks a rule counts as none, and
//     the outcome stays unresolved. Price: an order about which an exchange gives only false
//     answers waits for a person.
package verify
