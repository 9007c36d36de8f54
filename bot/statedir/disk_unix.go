//go:build linux || darwin || freebsd

package statedir

import (
	"os"

	"golang.org/x/sys/unix"
)

// FreeSpace returns the free bytes of a folder's file system, and whether files can be made in the
// folder.
func FreeSpace(folder string) (free uint64, writable bool) {
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return 0, false
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), unix.Access(folder, unix.W_OK|unix.X_OK) == nil
}

// OpenToOthers reports whether a folder's mode lets others look into it.
func OpenToOthers(info os.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
