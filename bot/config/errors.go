package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/strategy"
)

// The exit codes of mistakes that only a person can correct: a service manager does not start the
// program again after them.
const (
	ExitUsage  = 64 // a mistake in the arguments
	ExitConfig = 78 // a mistake in the config
)

// UsageError is a mistake in the arguments.
type UsageError struct{ error }

// Unwrap returns the mistake.
func (u UsageError) Unwrap() error { return u.error }

// Usagef returns a UsageError with a text as of fmt.Errorf.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Error is a mistake in the config.
type Error struct{ error }

// Unwrap returns the mistake.
func (c Error) Unwrap() error { return c.error }

// Errorf returns an Error with a text as of fmt.Errorf, for a mistake that is not about one key.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

// KeyError is something wrong with one key of a config.
type KeyError struct {
	path  []string
	where string // file and line, or flag; set once the config's source is asked
	err   error
}

// Error names place, key and what is wrong.
func (e *KeyError) Error() string {
	return e.where + shownPath(e.path) + ": " + e.err.Error()
}

// Flagged reports whether the command line set the key.
func (e *KeyError) Flagged() bool { return strings.HasPrefix(e.where, "--") }

// Unwrap returns what is wrong.
func (e *KeyError) Unwrap() error { return e.err }

// At says that an error is about a key; the key of an error that has one stays.
func At(path []string, err error) error {
	if err == nil || errors.As(err, new(*KeyError)) {
		return err
	}
	return &KeyError{path: path, err: err}
}

// Keyf is an error about a key.
func Keyf(path []string, format string, args ...any) error {
	return At(path, fmt.Errorf(format, args...))
}

// Join appends to a path without touching what others made of the same beginning.
func Join(path []string, more ...string) []string { return slices.Concat(path, more) }

// OneOf says that a word is none of those that a setting may be.
func OneOf(path []string, have string, words ...string) error {
	if slices.Contains(words, have) {
		return nil
	}
	return At(path, fmt.Errorf("%q is not one of %s; the nearest is %q", Clip(have), strings.Join(words, ", "),
		strategy.Nearest(have, words)))
}
