//go:build !race

package engine

import "sync/atomic"

// cell is a number that one goroutine writes and others read.
type cell int64

// set is a plain store of an aligned word: an atomic store waits for the processor's store buffer,
// which costs more than a quiet candle.
func (c *cell) set(n int64) { *c = cell(n) }

// get may be called from any goroutine.
func (c *cell) get() int64 { return atomic.LoadInt64((*int64)(c)) }
