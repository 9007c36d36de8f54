//go:build !linux && !darwin && !freebsd

package bot

import (
	"math"
	"os"
)

// roomIn knows nothing of this system's disks: they count as large and open.
func roomIn(string) (free uint64, writable bool) { return math.MaxUint64, true }

// openToOthers knows nothing of this system's modes.
func openToOthers(os.FileInfo) bool { return false }
