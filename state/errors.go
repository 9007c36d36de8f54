package state

import "errors"

// ErrNoData is wrapped when nothing is stored for a market and interval, or no store is there.
var ErrNoData = errors.New("no candles stored")

// ErrNoState is wrapped when there is no state file, or it does not hold what was asked for.
var ErrNoState = errors.New("not found")

// ErrCorrupt is wrapped when stored bytes cannot be what this program wrote.
var ErrCorrupt = errors.New("corrupt")

// ErrLocked is wrapped when another process holds the store.
var ErrLocked = errors.New("in use by another process")

// ErrNewer is wrapped when a newer program wrote the state file or the candle store.
var ErrNewer = errors.New("written by a newer program")

// ErrDoubtful is wrapped when a commit failed in a way that leaves open whether it is on disk. The store then commits nothing more.
// Open it again: what it then holds is what counts.
var ErrDoubtful = errors.New("a failed commit may be on disk or not")
