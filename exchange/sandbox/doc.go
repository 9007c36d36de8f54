// Package sandbox is the exchange of the specification over HTTP: the venue of exchange/sim behind
// net/http, with accounts, keys, signatures, weight budgets, public data and faults on demand. It
// never reaches another machine and starts no goroutine: due events happen at the next request, in
// their order. Start at New, then at table.go, which lists every endpoint with
// its parameters, weight and permission; package door is the HTTP side, package fault has the
// faults; docs/exchange.md lists what is specified, inferred and set.
//
// Ordering invariant: one request at a time is at the venue. Before it, everything happens that the
// exchange's clock has made due: price movements, cancel-on-disconnect timers, settlements,
// transfers. The same requests at the same times on a manual clock give the same answers.
package sandbox
