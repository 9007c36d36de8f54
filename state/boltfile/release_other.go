//go:build !linux

package boltfile

import "go.etcd.io/bbolt"

// writerMap is left to the database: not every system maps more than the file without growing it.
const writerMap = 0

// Releaser does nothing where there is no madvise to rely on.
type Releaser struct{}

// NewReleaser returns a releaser for the pages that a read transaction may read.
func NewReleaser(*bbolt.Tx) Releaser { return Releaser{} }

// Consumed does nothing.
func (*Releaser) Consumed([]byte) {}

// Flush does nothing.
func (*Releaser) Flush() {}

// All does nothing.
func (*Releaser) All() {}
