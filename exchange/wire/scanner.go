package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is the allowed nesting of a skipped value, as in encoding/json.
const maxDepth = 10000

// ErrMalformed is wrapped when the text is not the expected JSON, for example cut off.
var ErrMalformed = errors.New("malformed answer")

// ErrDeep is wrapped beside ErrMalformed when a skipped value is nested deeper than the scanner's
// limit.
var ErrDeep = errors.New("nested too deep")

// Scanner reads one JSON value (RFC 8259) from front to back. It keeps the first error; later reads
// return zeros. It allocates only for strings with escapes, and for errors.
//
// Names and tokens are parts of the data, without quotes and escapes; half of a surrogate pair
// becomes U+FFFD. Bytes above ASCII are not checked: a caller who needs valid UTF-8 checks the
// data. Numbers must have the form of RFC 8259 and are never converted here. If a name occurs
// twice, the caller gets both members.
type Scanner struct {
	data  []byte
	at    int
	limit int    // of nesting
	fresh bool   // an object or array was just opened
	name  []byte // of the present member
	err   error
}

// NewScanner returns a scanner at the first byte of data, which must not change while names and
// tokens are in use.
func NewScanner(data []byte) Scanner { return Scanner{data: data, limit: maxDepth} }

// Limit sets the allowed nesting of a skipped value; the default is 10000.
func (s *Scanner) Limit(depth int) { s.limit = depth }

// Object enters an object.
func (s *Scanner) Object() { s.enter('{') }

// Array enters an array.
func (s *Scanner) Array() { s.enter('[') }

func (s *Scanner) enter(bracket byte) {
	if s.err == nil && s.Peek() == bracket {
		s.at++
		s.fresh = true
		return
	}
	s.malformed()
}

// Member moves to the next member of the object and returns false at its end. The caller reads the
// value next.
func (s *Scanner) Member() bool {
	if !s.more('}') {
		return false
	}
	if s.Peek() != '"' {
		s.malformed()
		return false
	}
	s.name = s.text()
	if s.Peek() != ':' {
		s.malformed()
		return false
	}
	s.at++
	return s.err == nil
}

// Name returns the name of the present member. It is valid until the next Member.
func (s *Scanner) Name() []byte { return s.name }

// Element moves to the next element of the array and returns false at its end. The caller reads the
// element next.
func (s *Scanner) Element() bool { return s.more(']') }

func (s *Scanner) more(shut byte) bool {
	if s.err != nil {
		return false
	}
	ch := s.Peek()
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

// Leave skips the rest of the array.
func (s *Scanner) Leave() {
	for s.Element() {
		s.Discard()
	}
}

// Err returns the first error so far.
func (s *Scanner) Err() error { return s.err }

// End returns the first error; text after the value is an error too.
func (s *Scanner) End() error {
	if s.err == nil && (s.Peek() != 0 || s.at < len(s.data)) {
		s.malformed()
	}
	return s.err
}

// Peek skips white space and returns the next byte, the first one of the next value; 0 at the end
// of the data.
func (s *Scanner) Peek() byte {
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

func (s *Scanner) malformed() {
	if s.err == nil {
		s.err = fmt.Errorf("%w at byte %d of %d", ErrMalformed, s.at, len(s.data))
	}
}

// Fail stores err with the name of the field. The first error stays.
func (s *Scanner) Fail(field string, err error) {
	if s.err == nil {
		s.err = fmt.Errorf("%s: %w", field, err)
	}
}

// Token reads a string, number, true, false or null. It returns a string without quotes and
// escapes, any other token unchanged, and nil for null. The token is valid as long as the data.
func (s *Scanner) Token() []byte {
	if s.err != nil {
		return nil
	}
	ch := s.Peek()
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

// Text reads any value as a part of whole, which must be the data as a string: a string without
// quotes and escapes, any other value unchanged. It allocates only for a string with escapes.
func (s *Scanner) Text(whole string) string {
	if s.Peek() != '"' {
		start := s.at
		s.Discard()
		return whole[start:s.at]
	}
	start := s.at + 1
	token := s.Token()
	if len(token) > 0 && &token[0] == &s.data[start] {
		return whole[start : start+len(token)]
	}
	return string(token)
}

// Raw reads any value and returns its bytes.
func (s *Scanner) Raw() []byte {
	s.Peek()
	start := s.at
	s.Discard()
	return s.data[start:s.at]
}

// Discard skips any value.
func (s *Scanner) Discard() { s.discard(0) }

func (s *Scanner) discard(depth int) {
	if s.err != nil {
		return
	}
	ch := s.Peek()
	if ch != '{' && ch != '[' {
		s.Token()
		return
	}
	if depth == s.limit {
		s.err = fmt.Errorf("%w at byte %d of %d: %w", ErrMalformed, s.at, len(s.data), ErrDeep)
		return
	}
	if ch == '{' {
		for s.Object(); s.Member(); {
			s.discard(depth + 1)
		}
		return
	}
	for s.Array(); s.Element(); {
		s.discard(depth + 1)
	}
}

// text reads the string that begins here, eight bytes at once.
func (s *Scanner) text() []byte {
	start := s.at + 1
	i := start
	for ; len(s.data)-i >= 8; i += 8 {
		if found := special(binary.LittleEndian.Uint64(s.data[i:])); found != 0 {
			i += bits.TrailingZeros64(found) / 8
			break
		}
	}
	for ; i < len(s.data); i++ {
		switch ch := s.data[i]; {
		case ch == '"':
			s.at = i + 1
			return s.data[start:i]
		case ch == '\\':
			return s.escaped(start, i)
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

// special marks the bytes of a word that need care in a string: quotes, backslashes and control
// characters. The marks are right up to the first such byte.
func special(word uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := word^('"'*ones), word^('\\'*ones)
	return ((quote-ones)&^quote | (slash-ones)&^slash | (word-' '*ones)&^word) & tops
}

// escaped reads a string whose first backslash is at i. An error is at the string's first quote.
func (s *Scanner) escaped(start, i int) []byte {
	out := append([]byte(nil), s.data[start:i]...)
	s.at = i
	for s.at < len(s.data) {
		ch := s.data[s.at]
		s.at++
		if ch == '"' {
			return out
		}
		if ch < ' ' {
			break
		}
		if ch != '\\' {
			out = append(out, ch)
			continue
		}
		r, ok := s.escape()
		if !ok {
			break
		}
		out = utf8.AppendRune(out, r)
	}
	s.at = start - 1
	s.malformed()
	return nil
}

// escape reads the characters after a backslash. Half of a surrogate pair becomes U+FFFD, as in
// encoding/json.
func (s *Scanner) escape() (rune, bool) {
	const letters, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if s.accept('u', 'u') {
		r, ok := s.hex4()
		if !ok || !utf16.IsSurrogate(r) {
			return r, ok
		}
		after := s.at
		if s.accept('\\', '\\') && s.accept('u', 'u') {
			if low, ok := s.hex4(); ok {
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					return both, true
				}
			}
		}
		s.at = after
		return utf8.RuneError, true
	}
	for i := range len(letters) {
		if s.accept(letters[i], letters[i]) {
			return rune(meant[i]), true
		}
	}
	return 0, false
}

// hex4 reads four hexadecimal digits.
func (s *Scanner) hex4() (r rune, ok bool) {
	if len(s.data)-s.at < 4 {
		return 0, false
	}
	for range 4 {
		ch := s.data[s.at]
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

func (s *Scanner) literal(word string) {
	if len(s.data)-s.at < len(word) || string(s.data[s.at:s.at+len(word)]) != word {
		s.malformed()
		return
	}
	s.at += len(word)
}

func (s *Scanner) number() {
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

// IsNumber reports whether a text has the form of a number (RFC 8259).
func IsNumber(text string) bool {
	s := Scanner{data: []byte(text)}
	s.number()
	return s.err == nil && s.at == len(text)
}

// accept takes one of two bytes if it is next.
func (s *Scanner) accept(a, b byte) bool {
	if s.at < len(s.data) && (s.data[s.at] == a || s.data[s.at] == b) {
		s.at++
		return true
	}
	return false
}

func (s *Scanner) digits() bool {
	start := s.at
	for s.at < len(s.data) && s.data[s.at]-'0' <= 9 {
		s.at++
	}
	return s.at > start
}
