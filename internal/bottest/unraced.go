package bottest

import "testing"

// Unraced skips a test with -short, which is for the race detector: what the test proves is done by
// one goroutine, or its goroutines are those of a test that is raced, and only their data differ.
func Unraced(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short is for the race detector: this is about one goroutine, or its goroutines are raced elsewhere")
	}
}

// Rounds returns how often a test repeats itself with other seeds or moments: raced times with
// -short, else all.
func Rounds(all, raced int) int {
	if testing.Short() {
		return raced
	}
	return all
}
