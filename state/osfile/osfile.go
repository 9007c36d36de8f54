// Package osfile locks files and folders between processes, and replaces files whole. A lock ends
// with the file that holds it: when the file is closed, or when its process dies.
//
// Decision: one package holds each call of flock. Price: where a system has no such locks, Locks is
// false, each lock succeeds, and two processes can disturb each other.
package osfile

import (
	"errors"
	"os"
)

// ErrHeld means that another holder has the lock.
var ErrHeld = errors.New("it is locked elsewhere")

// TryLock locks a file until it is closed. The error is ErrHeld where another holder has the lock.
func TryLock(file *os.File) error { return tryLock(file) }

// Lock waits for the lock of a file: alone to write, together with others to read.
func Lock(file *os.File, alone bool) error { return lock(file, alone) }

// Unlock ends the lock of a file that stays open.
func Unlock(file *os.File) error { return unlock(file) }

// LockFolder locks a folder until the returned file is closed. The error is ErrHeld where another
// holder has the lock. The file is nil where Locks is false.
func LockFolder(dir string) (*os.File, error) {
	if !Locks {
		return nil, nil
	}
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := TryLock(folder); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return folder, nil
}
