package state

import (
	"cmp"
	"errors"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

// walkThrough reads every page of the state file that anything leads to, and returns an error that wraps ErrCorrupt where one cannot be read.
// It is called before the file is opened for writing: then bbolt looks for the free pages in a goroutine of
// its own, where a damaged page ends the process and nobody is told which file it was.
func walkThrough(path string) (err error) {
	defer catchCorrupt(path, &err, debug.SetPanicOnFault(true))
	var file *os.File
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, ReadOnly: true, OpenFile: func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}})
	if err != nil {
		return openBotError(path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := cmp.Or(notCutOff(db, path), checkTree(file, path, db, 1)); err != nil {
		return err
	}
	return db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error { return walkBucket(b) })
	})
}

// walkBucket comes by every key of a bucket and of those in it.
func walkBucket(b *bbolt.Bucket) error {
	return b.ForEach(func(key, value []byte) error {
		if value != nil {
			return nil
		}
		return walkBucket(b.Bucket(key))
	})
}
