// Package filetest is for tests of files: golden files that an older program wrote, the texts
// expected of them, and what a power cut leaves of a bbolt file. It is never linked into the bot,
// and knows nothing of records. Start at Golden and Cut.
//
// bbolt commits in two steps: it writes the new pages, to places that the last commit does not use,
// and syncs; then it writes one of the two head pages, and syncs again. When the power fails, the
// disk has all synced bytes, and any part of the later ones, down to sectors of 512 bytes. A test
// of package journal compares this order with recorded system calls.
//
// # Decisions
//
//   - Power cuts are played from synced bytes. `kill -9` keeps the page cache. Tests make from the
//     file before and after a commit what a disk may hold between. Price: the tests imitate bbolt's
//     way of writing.
package filetest
