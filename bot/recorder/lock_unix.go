//go:build unix

package recorder

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFolder locks a folder for this process, until the file that it returns is closed.
func lockFolder(dir string) (*os.File, error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.New("another bot record writes into it")
		}
		return nil, err
	}
	return file, nil
}
