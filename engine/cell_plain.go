//go:build !race

package engine

import "sync/atomic"

// cell is a number that one goroutine writes and others read.
type cell int64

// set is a plain store of an aligned word: an atomic one waits for the processor's store buffer,
// which is more than a quiet candle costs.
func (c *cell) set(n int64) { *c = cell(n) }

// get reads it from any goroutine.
func (c *cell) get() int64 { return atomic.LoadInt64((*int64)(c)) }
