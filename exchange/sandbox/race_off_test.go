//go:build !race

package sandbox

// raced is whether the race detector runs: sync.Pool then drops things by chance, and memory counts
// twice.
const raced = false
