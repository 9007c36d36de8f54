//go:build unix

package direct

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock locks a file for this process until it is closed.
func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}
