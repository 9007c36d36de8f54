package rest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
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

// space skips white space and returns the byte behind it, 0 at the end.
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

// integer reads a whole number that may be quoted; null counts as 0.
func (s *scanner) integer(field string) int64 {
	token := s.token()
	if token == nil || s.err != nil {
		return 0
	}
	var n int64
	for i := 0; ; i++ {
		switch {
		case i == len(token) && 0 < i && i < 19: // 18 digits fit always
			return n
		case i < len(token) && i < 19 && token[i]-'0' <= 9:
			n = n*10 + int64(token[i]-'0')
			continue
		}
		break
	}
	n, err := strconv.ParseInt(string(token), 10, 64)
	if err != nil {
		s.fail(field, err)
	}
	return n
}

// fixed reads a decimal that may be quoted and is not negative, in units of 10^-digits.
func (s *scanner) fixed(field string, digits uint8) int64 {
	if s.err != nil {
		return 0
	}
	if s.space() == '"' {
		if n, next := quoted(s.data, s.at, digits); next > 0 {
			s.at = next
			return n
		}
	}
	token := s.token()
	if token == nil {
		s.fail(field, fmt.Errorf("it is null: %w", errMalformed))
		return 0
	}
	n, err := unsigned(token, digits)
	if err != nil {
		s.fail(field, err)
	}
	return n
}

// unsigned reads a decimal that is not negative, in units of 10^-digits.
func unsigned(token []byte, digits uint8) (int64, error) {
	n, err := market.ParseFixed(token, digits)
	if err == nil && n < 0 {
		err = fmt.Errorf("%s is negative", market.FormatFixed(n, digits))
	}
	return n, err
}

// quoted reads a plain decimal in quotes that fits easily, in units of 10^-digits, and returns where it ends; 0 where it is anything
// else, which market.ParseFixed reads.
func quoted(data []byte, at int, digits uint8) (value int64, next int) {
	const easy = 18 // decimal digits that any uint64 holds, the scaling included
	var n uint64
	i := at + 1
	for ; i < len(data) && data[i]-'0' <= 9; i++ {
		n = n*10 + uint64(data[i]-'0')
	}
	length, fraction := i-at-1, 0
	if length == 0 {
		return 0, 0
	}
	if i < len(data) && data[i] == '.' {
		i++
		point := i
		for ; i < len(data) && data[i]-'0' <= 9; i++ {
			n = n*10 + uint64(data[i]-'0')
		}
		fraction = i - point
		length += fraction
	}
	scale := int(digits) - fraction
	if i == len(data) || data[i] != '"' || scale < 0 || length+scale > easy {
		return 0, 0
	}
	return int64(n) * market.Pow10(uint8(scale)), i + 1
}

// id reads a UUID.
func (s *scanner) id(field string) uuid.UUID {
	token := s.token()
	if s.err != nil {
		return uuid.Nil
	}
	id, err := uuid.ParseBytes(token)
	if err != nil {
		s.fail(field, err)
	}
	return id
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

// expect reads a text that must be want.
func (s *scanner) expect(field, want string) {
	if token := s.token(); s.err == nil && string(token) != want {
		s.fail(field, fmt.Errorf("%q, not %q: %w", clip(token), want, ErrMismatch))
	}
}

// missing says that a field is not there without which an answer means nothing.
func missing(field string) error { return fmt.Errorf("%s is missing: %w", field, errMalformed) }

// clip keeps foreign text short in an error.
func clip(text []byte) []byte { return text[:min(len(text), 40)] }

// millis reads Unix milliseconds.
func (s *scanner) millis(field string) market.Time {
	t, err := market.TimeOfMillis(s.integer(field))
	if err != nil {
		s.fail(field, err)
	}
	return t
}

// nanos reads Unix nanoseconds.
func (s *scanner) nanos(field string) market.Time {
	n := s.integer(field)
	if n < 0 || n == math.MaxInt64 {
		s.fail(field, fmt.Errorf("%d: %w", n, market.ErrOverflow))
	}
	return market.Time(n)
}
