// Package sandbox is the exchange of the specification over HTTP: the venue of exchange/sim behind
// net/http, with accounts, keys, signatures, weight budgets, public data and faults on demand. It
// never reaches another machine and starts no goroutine: due events happen at the next request, in
// their order. Start at New, then at table.go, which lists every endpoint with its parameters,
// weight and permission; bank has the money that no trade moves, streams the events for sockets.
// Package api is the HTTP side, package fault has the faults; docs/exchange.md lists what is
// specified, inferred and set.
//
// Ordering invariant: one request at a time is at the venue. Before it, everything happens that the
// exchange's clock has made due: price movements, cancel-on-disconnect timers, settlements,
// transfers. The same requests at the same times on a manual clock give the same answers.
//
// # Decisions
//
//   - One lock. One request at a time is at the venue, after all that is due; signatures, budgets
//     and decoding happen outside. The same requests at the same times get the same answers. Price:
//     a listing of a thousand trades makes others wait.
//   - Long lists are copied under the lock, written without it. A slow reader holds neither lock
//     nor text. Price: memory for the copied rows while they are sent.
//   - One text of a book for all readers. Two answers with one nonce differ in time alone; fewer
//     levels are a prefix. Price: a change that does not touch the nonce would be told late.
//   - A lazy clock. Due events happen with the next request. A test controls the time, and a
//     restart catches up by the same code. Price: the first request after a long silence does that
//     work.
//   - One table of endpoints. A row has method, path, parameters, weight, permission, answer;
//     routing, checks, openapi.json and the docs' test read it. Price: a parameter of a new kind
//     needs a kind in decode.go.
//   - Settled late is only display. A fill moves money at once; until its fee is settled the record
//     is shown without it. Price: a client cannot see a balance that lacks the fee.
//   - A ballast paces the collector. 128 MB of addresses without memory, and 40 percent: 50 MB
//     between two collections of a small exchange. A finalizer and GOMEMLIMIT were tried. Price:
//     tools count the 128 MB as heap.
package sandbox
