//go:build unix

package ledger

import (
	"os"

	"golang.org/x/sys/unix"
)

// locks says whether lock locks.
const locks = true

// lock waits for the lock of the file: alone to write, together with others to look at its size.
func lock(file *os.File, alone bool) error {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	for {
		if err := unix.Flock(int(file.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

func unlock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_UN) }
