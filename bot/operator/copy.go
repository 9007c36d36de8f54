package operator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// copyPrefix begins the name of a copy for a reader. The number of its process follows, then .db.
const copyPrefix = ".copy-"

// OpenCopy opens a copy of the state file in a folder, as of the last commit. The running bot
// writes the copy. Where none runs, this process does, or with beside the error wraps ErrNoBot. So
// nothing holds the state file while the copy is read. The copy has no name any more when OpenCopy
// returns. If ctx ends it meanwhile, a copy may stay: the next one removes it.
func OpenCopy(ctx context.Context, dir string, beside bool) (*journal.Store, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = removeCopies(dir)
	}
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, copyPrefix+strconv.Itoa(os.Getpid())+".db")
	if err = Backup(ctx, dir, file, true); errors.Is(err, ErrNoBot) && !beside {
		err = copyStopped(ctx, dir, file)
	}
	if err != nil {
		return nil, err
	}
	store, err := journal.ReadUntil(ctx, file)
	_ = os.Remove(file) // where an open file cannot be removed, the next copy does it
	return store, err
}

// copyStopped writes a copy of the state file of a stopped bot.
func copyStopped(ctx context.Context, dir, file string) error {
	store, err := journal.ReadUntil(ctx, filepath.Join(dir, statedir.StateFile))
	if err != nil {
		return err
	}
	return errors.Join(store.Backup(file), store.Close())
}

// removeCopies removes the copies of processes that have ended, and those of this one.
func removeCopies(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // reading the state file says so
	}
	for _, entry := range entries {
		if pid, is := copier(entry.Name()); is && (pid == os.Getpid() || !lives(pid)) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// copier is the process for which a copy is, or was being, written.
func copier(name string) (pid int, is bool) {
	number, is := strings.CutPrefix(name, copyPrefix)
	if !is {
		number, is = strings.CutPrefix(name, "."+copyPrefix) // it is not whole yet
	}
	number, _, _ = strings.Cut(number, ".")
	pid, err := strconv.Atoi(number)
	return pid, is && err == nil
}

// lives reports whether there is a process with this number.
func lives(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer process.Release()
	err = process.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
