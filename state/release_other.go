//go:build !linux

package state

import "go.etcd.io/bbolt"

// writerMap is left to the database: not every system maps more than the file without growing it.
const writerMap = 0

// pageReleaser does nothing where there is no madvise to rely on.
type pageReleaser struct{}

func newPageReleaser(*bbolt.Tx) pageReleaser { return pageReleaser{} }

func (*pageReleaser) consumed([]byte) {}

func (*pageReleaser) flush() {}

func (*pageReleaser) all() {}
