package journal

import "errors"

// ErrUnresolved is wrapped when a commit failed and may or may not be on disk. The store then
// commits nothing more. Open it again to learn what it holds.
var ErrUnresolved = errors.New("a failed commit may be on disk or not")

// ErrDisplaced is wrapped when the path of an open store leads to no file or another file, or the
// file was cut off.
var ErrDisplaced = errors.New("the bot's state file was taken away")
