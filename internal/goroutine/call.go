package goroutine

import (
	"fmt"
	"runtime/debug"
)

// Call calls f on a new goroutine and waits for it. It returns false when f ended its goroutine
// (runtime.Goexit). A panic in f goes on in the caller, with the stack of its origin.
func Call(f func()) (returned bool) {
	var reason any
	var stack []byte
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if reason = recover(); reason != nil {
				stack = debug.Stack()
			}
		}()
		f()
		returned = true
	}()
	<-done
	if reason != nil {
		panic(fmt.Sprintf("%v\n\n%s", reason, stack))
	}
	return returned
}
