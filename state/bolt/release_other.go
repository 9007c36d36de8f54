//go:build !linux

package bolt

import "go.etcd.io/bbolt"

// writerMap is 0, the default of bbolt: not every system maps more than the file without growing
// it.
const writerMap = 0

// Releaser does nothing on systems without a reliable madvise.
type Releaser struct{}

// NewReleaser returns a releaser for the pages that a read transaction may read.
func NewReleaser(*bbolt.Tx) Releaser { return Releaser{} }

// Consumed does nothing.
func (*Releaser) Consumed([]byte) {}

// Flush does nothing.
func (*Releaser) Flush() {}

// All does nothing.
func (*Releaser) All() {}
