package rest

import (
	"strconv"
	"strings"
)

// Scrubber removes secrets from foreign texts: an answer may repeat the request. It finds secrets
// regardless of case, percent-encoded, escaped as in JSON, or as HTML entities, up to three layers
// deep; of a long secret it finds any half, because the text may have been cut. Scrub before you
// cut. A Scrubber is safe for concurrent use; the zero Scrubber finds nothing.
type Scrubber struct{ secrets []hidden }

// hidden is a secret of a Scrubber.
type hidden struct {
	lower string
	width int // length of the shortest part that is found
}

// The bounds of the shortest part of a secret that is found. A secret shorter than the first is
// found whole.
const (
	minPart = 8
	maxPart = 16
)

// maxScrubbed is how much of a text is searched, in bytes; the rest is dropped.
const maxScrubbed = 256 << 10

// NewScrubber makes a Scrubber of these secrets; empty ones are left out.
func NewScrubber(secrets ...string) *Scrubber {
	s := &Scrubber{secrets: make([]hidden, 0, len(secrets))}
	for _, secret := range secrets {
		if secret != "" {
			s.add(secret)
		}
	}
	return s
}

func (s *Scrubber) add(secret string) {
	width := len(secret)
	if width >= minPart {
		width = min(max(width/2, minPart), maxPart)
	}
	s.secrets = append(s.secrets, hidden{lower: lowerASCII(secret), width: width})
}

// shortText is the longest text that is searched without an index of the secret's parts, in bytes.
const shortText = 1024

// parts returns a test whether a lower-case text is a part of the secret, fast enough for a text of
// some length.
func (h *hidden) parts(length int) (has func(part string) bool) {
	lower, width := h.lower, h.width
	if length <= shortText {
		return func(part string) bool { return strings.Contains(lower, part) }
	}
	parts := make(map[string]struct{}, len(lower)-width+1)
	for at := 0; at+width <= len(lower); at++ {
		parts[lower[at:at+width]] = struct{}{}
	}
	return func(part string) bool {
		_, is := parts[part]
		return is
	}
}

// Text returns a text with "[redacted]" for each secret.
func (s *Scrubber) Text(text string) string {
	text = text[:min(len(text), maxScrubbed)]
	found := s.find(text)
	if found == nil {
		return text
	}
	var clean strings.Builder
	for i := 0; i < len(text); i++ {
		if !found[i] {
			clean.WriteByte(text[i])
		} else if i == 0 || !found[i-1] {
			clean.WriteString(redacted)
		}
	}
	return clean.String()
}

// Finds reports whether a text has a secret, or is too long to be searched.
func (s *Scrubber) Finds(text []byte) bool {
	return len(text) > maxScrubbed || s.find(string(text)) != nil
}

// Error returns an error with the same causes and a scrubbed text.
func (s *Scrubber) Error(err error) error {
	if err == nil {
		return nil
	}
	return &scrubbedError{text: s.Text(err.Error()), cause: err}
}

// scrubbedError is an error with a text of its own.
type scrubbedError struct {
	text  string
	cause error
}

func (e *scrubbedError) Error() string { return e.text }

func (e *scrubbedError) Unwrap() error { return e.cause }

// find marks the bytes of a text that belong to a secret; nil: none does.
func (s *Scrubber) find(text string) (found []bool) {
	if len(s.secrets) == 0 {
		return nil
	}
	mark := func(from, to int) {
		if found == nil {
			found = make([]bool, len(text))
		}
		for i := from; i < to; i++ {
			found[i] = true
		}
	}
	layer := unescaped{text: text}
	for range 4 { // the text itself, and three layers of escapes
		lower := lowerASCII(layer.text)
		for i := range s.secrets {
			secret := &s.secrets[i]
			has := secret.parts(len(lower))
			for at := 0; at+secret.width <= len(lower); at++ {
				if has(lower[at : at+secret.width]) {
					mark(layer.place(at), layer.place(at+secret.width))
				}
			}
		}
		next := layer.unescape()
		if len(next.text) == len(layer.text) {
			break
		}
		layer = next
	}
	return found
}

// unescaped is a text without its escapes, and the original position of each byte; no places: the
// same.
type unescaped struct {
	text   string
	places []int // one more than bytes
}

func (u *unescaped) place(i int) int {
	if u.places == nil {
		return i
	}
	return u.places[i]
}

// unescape removes one layer of escapes.
func (u *unescaped) unescape() unescaped {
	if !strings.ContainsAny(u.text, `%\&`) {
		return *u
	}
	plain := make([]byte, 0, len(u.text))
	places := make([]int, 0, len(u.text)+1)
	for i := 0; i < len(u.text); {
		char, size := escapeAt(u.text[i:])
		plain, places = append(plain, char), append(places, u.place(i))
		i += size
	}
	return unescaped{text: string(plain), places: append(places, u.place(len(u.text)))}
}

// entities are the HTML names of characters in secrets.
var entities = []struct {
	name string
	char byte
}{{"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}, {"sol;", '/'}, {"plus;", '+'},
	{"equals;", '='}}

// escapeAt reads the first character of a text, escaped or not, and its size in bytes.
func escapeAt(text string) (char byte, size int) {
	switch {
	case text[0] == '%' && len(text) > 2:
		return number(text, 1, 3, 3, 16)
	case text[0] == '\\' && len(text) > 1:
		return backslashAt(text)
	case strings.HasPrefix(text, "&#"):
		if end := strings.IndexByte(text[:min(len(text), 10)], ';'); end > 2 {
			if text[2] == 'x' || text[2] == 'X' {
				return number(text, 3, end, end+1, 16)
			}
			return number(text, 2, end, end+1, 10)
		}
	case text[0] == '&':
		for _, e := range entities {
			if strings.HasPrefix(text[1:], e.name) {
				return e.char, 1 + len(e.name)
			}
		}
	}
	return text[0], 1
}

// backslashAt reads an escape of JSON or of Go.
func backslashAt(text string) (char byte, size int) {
	switch {
	case text[1] == 'u' && len(text) > 5:
		return number(text, 2, 6, 6, 16)
	case text[1] == 'x' && len(text) > 3:
		return number(text, 2, 4, 4, 16)
	case strings.IndexByte(`/\"'`, text[1]) >= 0:
		return text[1], 2
	}
	return text[0], 1
}

// number reads the digits of an escape of size bytes; a value beyond a byte is no escape.
func number(text string, from, to, size, base int) (byte, int) {
	if n, err := strconv.ParseUint(text[from:to], base, 8); err == nil {
		return byte(n), size
	}
	return text[0], 1
}

// lowerASCII keeps the length of a text, unlike strings.ToLower. A plus becomes a space, as in a
// query.
func lowerASCII(text string) string {
	if !strings.ContainsFunc(text, func(c rune) bool { return 'A' <= c && c <= 'Z' || c == '+' }) {
		return text
	}
	lower := []byte(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		} else if c == '+' {
			lower[i] = ' '
		}
	}
	return string(lower)
}
