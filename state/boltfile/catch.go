package boltfile

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// CatchCorrupt, deferred, turns a panic of bbolt over a page that it cannot read into an error. So
// it does with a read outside of the file that such a page led to: debug.SetPanicOnFault makes that
// a panic, and its setting of before comes as faults.
func CatchCorrupt(path string, err *error, faults bool) {
	debug.SetPanicOnFault(faults)
	switch caught := recover().(type) {
	case nil:
	case runtime.Error:
		*err = fmt.Errorf("%s: %w: a page of the file cannot be read (%w)", path, ErrCorrupt, caught)
	default:
		*err = fmt.Errorf("%s: %w: %v", path, ErrCorrupt, caught)
	}
}
