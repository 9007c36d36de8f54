package research

import "os"

// Lock locks the file of a search for this process, until the file is closed. The error wraps
// ErrBusy if another process has locked it.
func Lock(file *os.File) error { return lockFile(file) }
