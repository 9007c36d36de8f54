//go:build !unix

package osfile

import "os"

// Locks says whether this system has such locks.
const Locks = false

func tryLock(*os.File) error { return nil }

func lock(*os.File, bool) error { return nil }

func unlock(*os.File) error { return nil }
