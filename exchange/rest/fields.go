package rest

import (
	"fmt"
	"math"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

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
