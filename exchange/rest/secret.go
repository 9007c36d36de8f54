package rest

import (
	"fmt"
	"io"
	"strings"
)

const redacted = "[redacted]"

// Secret is a text that is never printed: formatting, logging or encoding it gives "[redacted]".
// The zero Secret is none. Its text is behind a pointer, so that printing a struct with a Secret in
// an unexported field shows an address.
type Secret struct{ text *string }

// NewSecret keeps a text without the spaces around it, as at the end of a file. An empty text is no
// secret.
func NewSecret(text string) Secret {
	if text = strings.TrimSpace(text); text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the text, for signing and sending.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is no text.
func (s Secret) IsZero() bool { return s.text == nil }

// String returns "[redacted]", or "" for none.
func (s Secret) String() string {
	if s.text == nil {
		return ""
	}
	return redacted
}

// GoString returns what String does.
func (s Secret) GoString() string { return s.String() }

// Format writes what String returns, whatever the verb.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, s.String()) }

// MarshalText returns what String does.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is NewSecret.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}
