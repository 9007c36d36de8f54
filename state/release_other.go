//go:build !linux

package state

import "go.etcd.io/bbolt"

// pageReleaser does nothing where there is no madvise to rely on.
type pageReleaser struct{}

func newPageReleaser(*bbolt.DB) pageReleaser { return pageReleaser{} }

func (*pageReleaser) consumed([]byte) {}

func (*pageReleaser) flush() {}
