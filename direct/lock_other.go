//go:build !unix

package direct

import "os"

// lock does nothing: files cannot be locked here.
func lock(*os.File) error { return nil }
