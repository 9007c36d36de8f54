package sandbox

import (
	"runtime"
	"runtime/debug"
)

// The runtime collects garbage when the heap has grown by collectorPercent of what was alive.
// Ballast counts as alive. So the least garbage between two collections is about 50 MB, and next to
// half a gigabyte of orders it is what 50 percent without ballast would be.
//
// The ballast is in pieces: the runtime clears the whole of an object where a part of it lies in
// memory that was used before. Only pieces that lie there are backed with memory.
const (
	collectorPercent = 40
	ballastBytes     = 128 << 20
	ballastPiece     = 1 << 20
)

// PaceCollector sets how often the Go runtime of this process collects garbage, for a process that
// serves an exchange and does little else: rarely while the exchange is small, so that requests do
// not wait for collections, and in time where a million orders should fit in a gigabyte. It takes
// 128 MB of addresses that are never touched, which the system backs with no memory. restore ends
// it.
func PaceCollector() (restore func()) {
	ballast := make([][]byte, ballastBytes/ballastPiece)
	for i := range ballast {
		ballast[i] = make([]byte, ballastPiece)
	}
	before := debug.SetGCPercent(collectorPercent)
	return func() {
		debug.SetGCPercent(before)
		runtime.KeepAlive(ballast)
	}
}
