//go:build !linux && !darwin && !freebsd

package statedir

import (
	"math"
	"os"
)

// FreeSpace has no system call on this system: the disk counts as large and writable.
func FreeSpace(string) (free uint64, writable bool) { return math.MaxUint64, true }

// OpenToOthers is false: this system has no such modes.
func OpenToOthers(os.FileInfo) bool { return false }
