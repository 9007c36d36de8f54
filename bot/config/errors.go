package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/strategy"
)

// The exit codes of mistakes that only the user can correct: a service manager does not restart the
// program after them.
const (
	ExitUsage  = 64 // a mistake in the arguments
	ExitConfig = 78 // a mistake in the config
)

// UsageError is a mistake in the arguments.
type UsageError struct{ error }

// Unwrap returns the mistake.
func (u UsageError) Unwrap() error { return u.error }

// Usagef returns a UsageError; format and args are those of fmt.Errorf.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Error is a mistake in the config.
type Error struct{ error }

// Unwrap returns the mistake.
func (c Error) Unwrap() error { return c.error }

// Errorf returns an Error for a mistake that is not about one key; format and args are those of
// fmt.Errorf.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

// KeyError is a mistake in one key of a config.
type KeyError struct {
	path  []string
	where string // file and line, or flag; set by Source.Place
	err   error
}

// Error names the place, the key and the mistake.
func (e *KeyError) Error() string {
	key := shownPath(e.path) + ": "
	if strings.HasSuffix(e.where, " "+key) { // the flag has named the key
		key = ""
	}
	return e.where + key + e.err.Error()
}

// Named is the error with another name for the key's place: "parameter fast" of a call.
func (e *KeyError) Named(name string) error { return fmt.Errorf("%s: %w", name, e.err) }

// Path is the key.
func (e *KeyError) Path() []string { return slices.Clone(e.path) }

// Flagged reports whether the command line set the key.
func (e *KeyError) Flagged() bool { return strings.HasPrefix(e.where, "--") }

// Unwrap returns the mistake.
func (e *KeyError) Unwrap() error { return e.err }

// At makes an error a KeyError about a key. A KeyError keeps its own key.
func At(path []string, err error) error {
	if err == nil || errors.As(err, new(*KeyError)) {
		return err
	}
	return &KeyError{path: path, err: err}
}

// Keyf returns a KeyError; format and args are those of fmt.Errorf.
func Keyf(path []string, format string, args ...any) error {
	return At(path, fmt.Errorf(format, args...))
}

// Join returns a new path: path with more behind it.
func Join(path []string, more ...string) []string { return slices.Concat(path, more) }

// OneOf returns nil if have is one of words, else a KeyError that names the nearest word.
func OneOf(path []string, have string, words ...string) error {
	if slices.Contains(words, have) {
		return nil
	}
	return Keyf(path, "%q is not one of %s; the nearest is %q", Clip(have), strings.Join(words, ", "),
		strategy.Nearest(have, words))
}
