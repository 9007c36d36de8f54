//go:build race

package sandbox

// raced is whether the race detector runs: sync.Pool then throws things away by chance.
const raced = true
