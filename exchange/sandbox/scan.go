package sandbox

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// form is how a value is written.
type form uint8

// The forms of values.
const (
	formQuery  form = iota + 1 // in a query, where all is text
	formText                   // a JSON string
	formNumber                 // a JSON number
	formFlag                   // true or false
	formOther                  // null, an array or an object
)

// maxDepth is how deep arrays and objects may be nested in a body. No parameter has any; deeper is refused as no JSON.
const maxDepth = 32

// scanner reads the members of one JSON object (RFC 8259) in order: next until it returns false, then fault. The text must be valid
// UTF-8. It allocates only for strings with escapes; names and values are otherwise parts of the text.
type scanner struct {
	text  string
	at    int
	begun bool

	name  string // of the member that next has read
	form  form
	value string // of a string what it stands for, of anything else as written
	fault string // why the text is no JSON object; "": it is, as far as it was read
}

// next reads a member. It returns false after the last, and where the text is no JSON object.
func (s *scanner) next() bool {
	if !s.begun {
		s.begun = true
		if s.space() != '{' {
			return s.fail("it is no JSON object")
		}
		s.at++
		if s.space() == '}' {
			return s.end()
		}
	} else {
		switch s.space() {
		case '}':
			return s.end()
		case ',':
			s.at++
		default:
			return s.fail("it is not valid JSON")
		}
	}
	if s.space() != '"' || !s.string() {
		return s.fail("it is not valid JSON")
	}
	s.name = s.value
	if s.space() != ':' {
		return s.fail("it is not valid JSON")
	}
	s.at++
	return s.read(0) || s.fail("it is not valid JSON")
}

func (s *scanner) fail(fault string) bool {
	if s.fault == "" {
		s.fault = fault
	}
	return false
}

// end leaves the object, after which nothing may follow.
func (s *scanner) end() bool {
	s.at++
	if s.space(); s.at < len(s.text) {
		s.fail("it is not valid JSON")
	}
	return false
}

// space skips white space and returns the byte after it, 0 at the end.
func (s *scanner) space() byte {
	for s.at < len(s.text) {
		switch ch := s.text[s.at]; ch {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return ch
		}
	}
	return 0
}

// read reads a value that may have white space before it.
func (s *scanner) read(depth int) bool {
	ch := s.space()
	start := s.at
	switch {
	case ch == '"':
		return s.string()
	case ch == '{' || ch == '[':
		if depth == maxDepth {
			return s.fail("it is nested too deep")
		}
		if !s.skip(ch, depth+1) {
			return false
		}
		s.form = formOther
	case ch == 't' || ch == 'f' || ch == 'n':
		word := literal(ch)
		if !strings.HasPrefix(s.text[s.at:], word) {
			return false
		}
		s.at += len(word)
		s.form = formFlag
		if ch == 'n' {
			s.form = formOther
		}
	default:
		if !s.number() {
			return false
		}
		s.form = formNumber
	}
	s.value = s.text[start:s.at]
	return true
}

// literal returns the literal that begins with a letter.
func literal(ch byte) string {
	switch ch {
	case 't':
		return "true"
	case 'f':
		return "false"
	}
	return "null"
}

// skip reads an array or object, whose members do not matter.
func (s *scanner) skip(open byte, depth int) bool {
	shut := open + 2 // { and }, [ and ]
	s.at++
	if s.space() == shut {
		s.at++
		return true
	}
	for {
		if open == '{' {
			if s.space() != '"' || !s.string() || s.space() != ':' {
				return false
			}
			s.at++
		}
		if !s.read(depth) {
			return false
		}
		switch s.space() {
		case ',':
			s.at++
		case shut:
			s.at++
			return true
		default:
			return false
		}
	}
}

// number reads a number.
func (s *scanner) number() bool {
	s.accept("-")
	if !s.accept("0") && !s.digits() {
		return false
	}
	if s.accept(".") && !s.digits() {
		return false
	}
	if s.accept("eE") {
		s.accept("+-")
		return s.digits()
	}
	return true
}

// accept takes a byte if it is one of some.
func (s *scanner) accept(some string) bool {
	if s.at < len(s.text) && strings.IndexByte(some, s.text[s.at]) >= 0 {
		s.at++
		return true
	}
	return false
}

// digits takes one digit or more.
func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

// string reads a string into value.
func (s *scanner) string() bool {
	s.at++
	start := s.at
	s.form = formText
	for ; s.at < len(s.text); s.at++ {
		switch ch := s.text[s.at]; {
		case ch == '"':
			s.value = s.text[start:s.at]
			s.at++
			return true
		case ch == '\\':
			return s.escaped(s.text[start:s.at])
		case ch < ' ':
			return false
		}
	}
	return false
}

// escaped reads the rest of a string from its first backslash on.
func (s *scanner) escaped(before string) bool {
	out := []byte(before)
	for s.at < len(s.text) {
		ch := s.text[s.at]
		s.at++
		switch {
		case ch == '"':
			s.value = string(out)
			return true
		case ch < ' ':
			return false
		case ch != '\\':
			out = append(out, ch)
			continue
		}
		r, ok := s.escape()
		if !ok {
			return false
		}
		out = utf8.AppendRune(out, r)
	}
	return false
}

// escape reads what follows a backslash. Half of a surrogate pair stands for U+FFFD, as in encoding/json.
func (s *scanner) escape() (rune, bool) {
	const letters, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if s.accept("u") {
		r, ok := s.hex4()
		if !ok || !utf16.IsSurrogate(r) {
			return r, ok
		}
		after := s.at
		if s.accept(`\`) && s.accept("u") {
			if low, ok := s.hex4(); ok {
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					return both, true
				}
			}
		}
		s.at = after
		return utf8.RuneError, true
	}
	if s.at == len(s.text) {
		return 0, false
	}
	i := strings.IndexByte(letters, s.text[s.at])
	if i < 0 {
		return 0, false
	}
	s.at++
	return rune(meant[i]), true
}

// hex4 reads four hexadecimal digits.
func (s *scanner) hex4() (r rune, ok bool) {
	if len(s.text)-s.at < 4 {
		return 0, false
	}
	for range 4 {
		ch := s.text[s.at]
		switch {
		case ch >= '0' && ch <= '9':
			r = r<<4 | rune(ch-'0')
		case ch|' ' >= 'a' && ch|' ' <= 'f':
			r = r<<4 | rune(ch|' '-'a'+10)
		default:
			return 0, false
		}
		s.at++
	}
	return r, true
}
