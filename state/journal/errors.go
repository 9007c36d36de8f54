package journal

import "errors"

// ErrUnresolved is wrapped when a commit failed in a way that leaves open whether it is on disk. The
// store then commits nothing more. Open it again: what it then holds is what counts.
var ErrUnresolved = errors.New("a failed commit may be on disk or not")

// ErrDisplaced is wrapped when the file that a store has open is no longer the one of its name, or
// no longer whole.
var ErrDisplaced = errors.New("the bot's state file was taken away")
