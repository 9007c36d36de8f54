package boltfile

import (
	"fmt"
	"hash/crc32"
	"runtime"
	"runtime/debug"
	"time"
)

// LockWait is how long an open waits for another process.
const LockWait = time.Second

// GrowStep is how much a file grows beyond the bytes that a commit needs.
const GrowStep = 1 << 20

// BucketLevels is how deep buckets may lie in a file: the depth of the candle store, the deepest one. Each store then says itself that a
// file is not its own.
const BucketLevels = 2

// Each file has a bucket of this name, and in it its format under this key.
var (
	BucketMeta = []byte("meta")
	KeyFormat  = []byte("format")
)

// Castagnoli is the table of the checksums in the files.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MapAtOpen is how much address space a writer takes at once: growing the mapping in mid-transaction copies what is written.
func MapAtOpen(readOnly bool) int {
	if readOnly {
		return 0
	}
	return WriterMap
}

// CatchCorrupt, deferred, turns the panic of the database layer over a page it cannot read into an error, and so a read
// outside the file that such a page led to: that is what debug.SetPanicOnFault is for, whose old setting comes as faults.
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
