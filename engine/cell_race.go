//go:build race

package engine

import "sync/atomic"

// cell is a number that one goroutine writes and others read.
type cell int64

// set stores atomically, so that the race detector accepts the plain store of cell_plain.go.
func (c *cell) set(n int64) { atomic.StoreInt64((*int64)(c), n) }

// get may be called from any goroutine.
func (c *cell) get() int64 { return atomic.LoadInt64((*int64)(c)) }
