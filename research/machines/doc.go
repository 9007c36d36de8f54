// Package machines is what machines that search together agree on: which program a worker must be,
// what it is sent, and the interface of the connection between them. It opens no connection:
// package research/machines/farm does. Start at Farm.
//
// # Decisions
//
//   - A worker plans on its own and compares. Code, strategies, processor, hash of settings, hashes
//     of series: each difference is a refusal in words, since rows of another program would be
//     wrong in silence. Price: all intervals of a sweep's markets travel.
package machines
