//go:build !unix

package boltfile

import "os"

// lock does nothing: files cannot be locked here, and none is known to be left behind.
func lock(*os.File) bool { return false }
