//go:build unix

package boltfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock locks a file until it is closed, and reports whether it could.
func lock(file *os.File) bool { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }
