package bolt

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// CatchCorrupt, deferred, turns a panic of bbolt on a damaged page into an error, and also a read
// outside of the mapping: the caller turns such faults into panics with debug.SetPanicOnFault and
// passes its previous setting as faults.
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
