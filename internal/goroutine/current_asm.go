//go:build amd64 || arm64

package goroutine

// current returns the address of the runtime's record of this goroutine.
func current() uintptr
