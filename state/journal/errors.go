package journal

import "errors"

// ErrDoubtful is wrapped when a commit failed in a way that leaves open whether it is on disk. The store then commits nothing more.
// Open it again: what it then holds is what counts.
var ErrDoubtful = errors.New("a failed commit may be on disk or not")
