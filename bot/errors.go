package bot

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/strategy"
)

// The exit codes of mistakes that only a person can correct: a service manager does not start the program again after them.
const (
	exitUsage  = 64 // a mistake in the arguments
	exitConfig = 78 // a mistake in the config
)

// usageError is a mistake in the arguments.
type usageError struct{ error }

// Unwrap returns the mistake.
func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// configError is a mistake in the config.
type configError struct{ error }

// Unwrap returns the mistake.
func (c configError) Unwrap() error { return c.error }

func configf(format string, args ...any) error { return configError{fmt.Errorf(format, args...)} }

// keyError is something wrong with one key of a config.
type keyError struct {
	path  []string
	where string // file and line, or flag; set once the config's source is asked
	err   error
}

// Error names place, key and what is wrong.
func (e *keyError) Error() string {
	return e.where + shownPath(e.path) + ": " + e.err.Error()
}

// flagged reports whether the command line set the key.
func (e *keyError) flagged() bool { return strings.HasPrefix(e.where, "--") }

// Unwrap returns what is wrong.
func (e *keyError) Unwrap() error { return e.err }

// at says that an error is about a key; the key of an error that has one stays.
func at(path []string, err error) error {
	if err == nil || errors.As(err, new(*keyError)) {
		return err
	}
	return &keyError{path: path, err: err}
}

// keyf is an error about a key.
func keyf(path []string, format string, args ...any) error {
	return at(path, fmt.Errorf(format, args...))
}

// join appends to a path without touching what others made of the same beginning.
func join(path []string, more ...string) []string { return slices.Concat(path, more) }

// oneOf says that a word is none of those that a setting may be.
func oneOf(path []string, have string, words ...string) error {
	if slices.Contains(words, have) {
		return nil
	}
	return at(path, fmt.Errorf("%q is not one of %s; the nearest is %q", clip(have), strings.Join(words, ", "), strategy.Nearest(have, words)))
}
