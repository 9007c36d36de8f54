package boltfile

import "errors"

// ErrCorrupt is wrapped when stored bytes cannot be what this program wrote.
var ErrCorrupt = errors.New("corrupt")

// ErrLocked is wrapped when another process holds the file.
var ErrLocked = errors.New("in use by another process")

// ErrNewer is wrapped when a newer program wrote the file.
var ErrNewer = errors.New("written by a newer program")

// ErrNotFound is wrapped when there is no file, or it does not hold the row that was asked for.
var ErrNotFound = errors.New("not found")
