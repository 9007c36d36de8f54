package bot

import (
	"runtime"
	"runtime/debug"
)

// The runtime collects garbage when the heap has grown by searchPercent of what is alive. Ballast
// counts as alive, so the least garbage between two collections is about 6 MB: a search keeps
// little, and would collect a hundred times a second otherwise.
const (
	searchPercent = 50
	searchBallast = 12 << 20
)

// paceCollector sets how often the Go runtime collects garbage during a search, unless the
// environment does. It takes addresses that are never touched: the system backs them with no
// memory. restore ends it.
func paceCollector(getenv func(string) string) (restore func()) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	ballast := make([]byte, searchBallast)
	before := debug.SetGCPercent(searchPercent)
	return func() {
		debug.SetGCPercent(before)
		runtime.KeepAlive(ballast)
	}
}
