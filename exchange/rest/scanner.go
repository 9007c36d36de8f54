package rest

import (
	"encoding/json"
	"fmt"
)

// deepest is how deep what is skipped may be nested, as in encoding/json.
const deepest = 10000

// scanner reads JSON (RFC 8259) from front to back and keeps the first error, after which it reads nothing more. It allocates only
// for strings with escapes, and for errors.
type scanner struct {
	data  []byte
	at    int
	fresh bool   // an object or array has just been opened
	name  []byte // of the member that member has found; valid until the next
	err   error
}

// open enters an object, array an array.
func (s *scanner) open() { s.enter('{') }

func (s *scanner) array() { s.enter('[') }

func (s *scanner) enter(bracket byte) {
	if s.err == nil && s.space() == bracket {
		s.at++
		s.fresh = true
		return
	}
	s.malformed()
}

// member goes to the next member of the object, whose value is to be read then; false at its end.
func (s *scanner) member() bool {
	if !s.more('}') {
		return false
	}
	if s.space() != '"' {
		s.malformed()
		return false
	}
	s.name = s.text()
	if s.space() != ':' {
		s.malformed()
		return false
	}
	s.at++
	return s.err == nil
}

// element goes to the next element of the array, which is to be read then; false at its end.
func (s *scanner) element() bool { return s.more(']') }

func (s *scanner) more(shut byte) bool {
	if s.err != nil {
		return false
	}
	ch := s.space()
	fresh := s.fresh
	s.fresh = false
	switch {
	case ch == shut:
		s.at++
		return false
	case fresh:
		return true
	case ch == ',':
		s.at++
		return true
	}
	s.malformed()
	return false
}

// leave skips what is left of the array.
func (s *scanner) leave() {
	for s.element() {
		s.skip()
	}
}

// end returns the first error, or what follows the value.
func (s *scanner) end() error {
	if s.err == nil && (s.space() != 0 || s.at < len(s.data)) {
		s.malformed()
	}
	return s.err
}

// space skips white space and returns the byte after it, 0 at the end.
func (s *scanner) space() byte {
	for s.at < len(s.data) {
		switch ch := s.data[s.at]; ch {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return ch
		}
	}
	return 0
}

func (s *scanner) malformed() {
	if s.err == nil {
		s.err = fmt.Errorf("%w at byte %d of %d", errMalformed, s.at, len(s.data))
	}
}

// fail keeps the first error and names the field.
func (s *scanner) fail(field string, err error) {
	if s.err == nil {
		s.err = fmt.Errorf("%s: %w", field, err)
	}
}

// token reads a string, number, true, false or null and returns what a string stands for or how it is written, nil for null. It is
// valid as long as the data.
func (s *scanner) token() []byte {
	if s.err != nil {
		return nil
	}
	ch := s.space()
	start := s.at
	switch ch {
	case '"':
		return s.text()
	case 'n':
		s.literal("null")
		return nil
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	default:
		s.number()
	}
	return s.data[start:s.at]
}

// skip reads a value that does not matter.
func (s *scanner) skip() { s.pass(0) }

func (s *scanner) pass(depth int) {
	if s.err != nil {
		return
	}
	ch := s.space()
	if ch != '{' && ch != '[' {
		s.token()
		return
	}
	if depth == deepest {
		s.malformed()
		return
	}
	if ch == '{' {
		for s.open(); s.member(); {
			s.pass(depth + 1)
		}
		return
	}
	for s.array(); s.element(); {
		s.pass(depth + 1)
	}
}

// text reads a string, which begins here.
func (s *scanner) text() []byte {
	start := s.at + 1
	for i := start; i < len(s.data); i++ {
		switch ch := s.data[i]; {
		case ch == '"':
			s.at = i + 1
			return s.data[start:i]
		case ch == '\\':
			return s.escaped(start - 1)
		case ch < ' ':
			s.at = i
			s.malformed()
			return nil
		}
	}
	s.at = len(s.data)
	s.malformed()
	return nil
}

// escaped reads a string with escapes from its first quote on.
func (s *scanner) escaped(start int) []byte {
	for i := start + 1; i < len(s.data); i++ {
		switch s.data[i] {
		case '\\':
			i++
		case '"':
			var text string
			if json.Unmarshal(s.data[start:i+1], &text) != nil {
				s.malformed()
				return nil
			}
			s.at = i + 1
			return []byte(text)
		}
	}
	s.malformed()
	return nil
}

func (s *scanner) literal(word string) {
	if len(s.data)-s.at < len(word) || string(s.data[s.at:s.at+len(word)]) != word {
		s.malformed()
		return
	}
	s.at += len(word)
}

func (s *scanner) number() {
	s.accept('-', '-')
	if !s.accept('0', '0') && !s.digits() {
		s.malformed()
		return
	}
	if s.accept('.', '.') && !s.digits() {
		s.malformed()
		return
	}
	if s.accept('e', 'E') {
		s.accept('+', '-')
		if !s.digits() {
			s.malformed()
		}
	}
}

// accept takes one of two bytes if it is next.
func (s *scanner) accept(a, b byte) bool {
	if s.at < len(s.data) && (s.data[s.at] == a || s.data[s.at] == b) {
		s.at++
		return true
	}
	return false
}

func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.data) && s.data[s.at]-'0' <= 9 {
		s.at++
	}
	return s.at > start
}
