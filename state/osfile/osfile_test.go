package osfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALockEndsWithItsFile(t *testing.T) {
	if !Locks {
		t.Skip("this system has no locks on files")
	}
	path := filepath.Join(t.TempDir(), "file")
	open := func() *os.File {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		return file
	}
	first, second := open(), open()
	defer second.Close()
	require.NoError(t, TryLock(first))
	require.ErrorIs(t, TryLock(second), ErrHeld)
	require.NoError(t, Unlock(first))
	require.NoError(t, TryLock(second))
	require.ErrorIs(t, TryLock(first), ErrHeld)
	require.NoError(t, Unlock(second))

	require.NoError(t, Lock(first, false))
	require.NoError(t, Lock(second, false), "readers share a lock")
	require.NoError(t, Unlock(second))
	require.ErrorIs(t, TryLock(second), ErrHeld, "a writer waits for readers")
	require.NoError(t, first.Close())
	require.NoError(t, Lock(second, true), "a lock ends with its file")
}

func TestAFolderIsLockedUntilItsFileIsClosed(t *testing.T) {
	if !Locks {
		t.Skip("this system has no locks on folders")
	}
	dir := t.TempDir()
	first, err := LockFolder(dir)
	require.NoError(t, err)
	_, err = LockFolder(dir)
	require.ErrorIs(t, err, ErrHeld)
	require.NoError(t, first.Close())
	second, err := LockFolder(dir)
	require.NoError(t, err)
	require.NoError(t, second.Close())
	_, err = LockFolder(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
