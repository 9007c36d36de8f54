// Package server serves the simulated exchange over HTTP. It makes a sandbox of a config, listens,
// logs requests, and prints addresses and keys for a client. It never matches an order: package
// sandbox does. Start at Plan, then at Server.
//
// # Decisions
//
//   - Deadlines without timers. net/http sets six timers a request. Connections note their
//     deadlines and a sweep each second closes overdue ones. Price: a slow client is cut off up to
//     a second late.
package server
