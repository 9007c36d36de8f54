//go:build !amd64 && !arm64

package goroutine

import (
	"bytes"
	"runtime"
	"strconv"
)

// current reads the number of this goroutine from the first line of its stack: "goroutine 7
// [running]:".
func current() uintptr {
	var buffer [64]byte
	line := bytes.TrimPrefix(buffer[:runtime.Stack(buffer[:], false)], []byte("goroutine "))
	number, _ := strconv.ParseUint(string(line[:max(0, bytes.IndexByte(line, ' '))]), 10, 64)
	return uintptr(number)
}
