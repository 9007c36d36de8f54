package goroutine

import (
	"fmt"
	"runtime/debug"
)

// Call calls f on a goroutine of its own and waits for it. It returns false where f did not return
// because it ended its goroutine (runtime.Goexit). A panic in f goes on in the caller, with the
// stack of where it happened.
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
