package state

import (
	"fmt"
	"hash/crc32"
	"runtime"
	"runtime/debug"
	"time"
)

// lockWait is how long an open waits for another process.
const lockWait = time.Second

// growStep is how much a file grows beyond the bytes that a commit needs.
const growStep = 1 << 20

// bucketLevels is how deep buckets may lie in a file: the depth of the candle store, the deepest one. Each store then says itself that a
// file is not its own.
const bucketLevels = 2

// Each file has a bucket of this name, and in it its format under this key.
var (
	bucketMeta = []byte("meta")
	keyFormat  = []byte("format")
)

// castagnoli is the table of the checksums in the files.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mapAtOpen is how much address space a writer takes at once: growing the mapping in mid-transaction copies what is written.
func mapAtOpen(readOnly bool) int {
	if readOnly {
		return 0
	}
	return writerMap
}

// catchCorrupt, deferred, turns the panic of the database layer over a page it cannot read into an error, and so a read
// outside the file that such a page led to: that is what debug.SetPanicOnFault is for, whose old setting comes as faults.
func catchCorrupt(path string, err *error, faults bool) {
	debug.SetPanicOnFault(faults)
	switch caught := recover().(type) {
	case nil:
	case runtime.Error:
		*err = fmt.Errorf("%s: %w: a page of the file cannot be read (%w)", path, ErrCorrupt, caught)
	default:
		*err = fmt.Errorf("%s: %w: %v", path, ErrCorrupt, caught)
	}
}
