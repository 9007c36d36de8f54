// Package sandbox is the exchange of the specification over HTTP: the venue of exchange/sim behind
// net/http, with accounts, keys, signatures, weight budgets, public data and faults on demand. It
// never reaches another machine and starts no goroutine: what is due happens at the next request,
// in the order in which it was due. Start at New, then at table.go, which lists every endpoint with
// its parameters, weight and permission; package door is the HTTP side, package fault has the
// faults; docs/exchange.md says what is specified, what is inferred and what is a setting.
//
// Ordering invariant: one request at a time is at the venue, and before it everything that the
// exchange's clock has made due: price movements, cancel-on-disconnect timers, settlements,
// transfers. The same requests at the same times on a manual clock give the same answers.
package sandbox
