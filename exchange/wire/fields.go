package wire

import (
	"fmt"
	"math"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Integer reads a whole number that may be quoted; null counts as 0. An error names the field.
func (s *Scanner) Integer(field string) int64 {
	token := s.Token()
	if token == nil || s.err != nil {
		return 0
	}
	var n int64
	for i := 0; ; i++ {
		switch {
		case i == len(token) && 0 < i && i < 19: // 18 digits always fit
			return n
		case i < len(token) && i < 19 && token[i]-'0' <= 9:
			n = n*10 + int64(token[i]-'0')
			continue
		}
		break
	}
	n, err := strconv.ParseInt(string(token), 10, 64)
	if err != nil {
		s.Fail(field, err)
	}
	return n
}

// Fixed reads a decimal that may be quoted and is not negative, in units of 10^-digits; null is an
// error. An error names the field.
func (s *Scanner) Fixed(field string, digits uint8) int64 {
	if s.err != nil {
		return 0
	}
	if s.Peek() == '"' {
		if n, next := quoted(s.data, s.at, digits); next > 0 {
			s.at = next
			return n
		}
	}
	token := s.Token()
	if token == nil {
		s.Fail(field, fmt.Errorf("it is null: %w", ErrMalformed))
		return 0
	}
	n, err := ParseUnsigned(token, digits)
	if err != nil {
		s.Fail(field, err)
	}
	return n
}

// ParseUnsigned reads a token as a decimal that is not negative, in units of 10^-digits. Its errors
// are those of market.ParseFixed, and one for a negative number.
func ParseUnsigned(token []byte, digits uint8) (int64, error) {
	if n, end := plain(token, 0, digits); end == len(token) && end > 0 {
		return n, nil
	}
	n, err := market.ParseFixed(token, digits)
	if err == nil && n < 0 {
		err = fmt.Errorf("%s is negative", market.FormatFixed(n, digits))
	}
	return n, err
}

// ID reads a UUID. An error names the field.
func (s *Scanner) ID(field string) uuid.UUID {
	token := s.Token()
	if s.err != nil {
		return uuid.Nil
	}
	id, err := uuid.ParseBytes(token)
	if err != nil {
		s.Fail(field, err)
	}
	return id
}

// Millis reads Unix milliseconds; null counts as 0. An error names the field.
func (s *Scanner) Millis(field string) market.Time {
	t, err := market.TimeOfMillis(s.Integer(field))
	if err != nil {
		s.Fail(field, err)
	}
	return t
}

// Nanos reads Unix nanoseconds, which are not negative; null counts as 0. An error names the field.
func (s *Scanner) Nanos(field string) market.Time {
	n := s.Integer(field)
	if n < 0 || n == math.MaxInt64 {
		s.Fail(field, fmt.Errorf("%d: %w", n, market.ErrOverflow))
	}
	return market.Time(n)
}
