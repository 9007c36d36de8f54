//go:build unix

package backtest

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFolder locks a folder for this process, until the file that it returns is closed.
func lockFolder(dir string) (*os.File, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = folder.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errFolderBusy
		}
		return nil, err
	}
	return folder, nil
}
