//go:build unix

package osfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Locks says whether this system has such locks.
const Locks = true

func tryLock(file *os.File) error {
	err := flock(file, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}

func lock(file *os.File, alone bool) error {
	if alone {
		return flock(file, unix.LOCK_EX)
	}
	return flock(file, unix.LOCK_SH)
}

func unlock(file *os.File) error { return flock(file, unix.LOCK_UN) }

// flock calls again after a signal.
func flock(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
