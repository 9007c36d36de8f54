package research

import "errors"

// ErrBusy means that another process is working on the sweep's file.
var ErrBusy = errors.New("another sweep is writing to this file; wait for its end, or write elsewhere")

// ErrOneSet means that there is nothing to choose from.
var ErrOneSet = errors.New("there is only one set: a search needs at least two")

// ErrNoSets means that a constraint refuses every set.
var ErrNoSets = errors.New("nothing is left: the parameters' own rules refuse every set")

// ErrUndefined means that the objective has no value in any set.
var ErrUndefined = errors.New("the objective has no value in any set")
