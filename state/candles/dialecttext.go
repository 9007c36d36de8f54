package candles

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// plainNumbers reports whether numbers are written as market.ParseDecimal reads them.
func (l *csvLayout) plainNumbers() bool { return l.decimal == '.' && l.group == 0 && !l.marked }

// errMixedNumbers: numbers of a file are written in two ways.
var errMixedNumbers = errors.New(
	"numbers are written with decimal points and with decimal commas; write them in one way")

// detectNumbers finds the decimal sign and the sign between thousands.
func (l *csvLayout) detectNumbers(sample []headLine, decimal string) error {
	var seen numberStyles
	for _, line := range sample {
		fields := splitLine(nil, line.text, l.separator)
		for which := fieldOpen; which < fieldCount; which++ {
			if at := l.column[which]; at >= 0 && at < len(fields) {
				digits, exponent := unmarked(fields[at])
				l.marked = l.marked || exponent != "" || len(digits) < len(fields[at])
				seen.add(digits)
			}
		}
	}
	switch decimal {
	case "comma":
		seen.comma, seen.point = true, false
	case "point":
		seen.comma, seen.point, seen.commas = false, true, true
	case "":
	default:
		return fmt.Errorf("decimal %q is neither comma nor point", decimal)
	}
	switch {
	case seen.comma && seen.point:
		return errMixedNumbers
	case seen.comma:
		l.decimal, l.group = ',', '.'
	case seen.point && (seen.commas || seen.eitherComma != ""):
		l.group = ','
	case seen.eitherComma != "":
		return fmt.Errorf("%q may be a decimal or a thousand; say which: --decimal comma, or --decimal point",
			seen.eitherComma)
	}
	return nil
}

// numberStyles has the signs of the form in which the numbers of some rows are written.
type numberStyles struct {
	comma, point bool   // the decimal sign that some number must have
	commas       bool   // some number has commas between thousands
	eitherComma  string // a number with a comma that may be either
}

// multiples are the letters behind a number that multiply it.
var multiples = map[byte]string{'K': "e3", 'M': "e6", 'B': "e9"}

// unmarked returns a number without the sign of a currency before it, and without the letter of a
// multiple behind it, which it returns as an exponent: "49.08K" is 49.08 and e3.
func unmarked(text []byte) (digits []byte, exponent string) {
	for _, sign := range []string{"$", "€", "£", "¥"} {
		text = bytes.TrimPrefix(text, []byte(sign))
	}
	if n := len(text); n > 1 && text[n-2] >= '0' && text[n-2] <= '9' {
		if exponent = multiples[text[n-1]]; exponent != "" {
			text = text[:n-1]
		}
	}
	return text, exponent
}

func (s *numberStyles) add(text []byte) {
	if bytes.Trim(text, "0123456789.,+-eE") != nil {
		return
	}
	commas, points := bytes.Count(text, []byte(",")), bytes.Count(text, []byte("."))
	comma, point := bytes.LastIndexByte(text, ','), bytes.LastIndexByte(text, '.')
	switch {
	case commas > 0 && points > 0:
		s.comma, s.point = s.comma || comma > point, s.point || point > comma
		s.commas = s.commas || point > comma
	case commas > 1:
		s.eitherComma, s.point = cmp.Or(s.eitherComma, clipText(text)), true
	case commas == 1 && (len(text)-comma-1 != 3 || comma == 0 || comma > 3 || string(text[:comma]) == "0"):
		s.comma = true
	case commas == 1:
		s.eitherComma = cmp.Or(s.eitherComma, clipText(text))
	case points > 1:
		s.comma = true
	case points == 1 && (len(text)-point-1 != 3 || point > 3 || string(text[:point]) == "0"):
		s.point = true
	}
}

// number returns a number as market.ParseDecimal reads it: without signs between thousands.
func (l *csvLayout) number(text []byte) ([]byte, error) {
	if l.plainNumbers() {
		return text, nil
	}
	digits, exponent := unmarked(text)
	whole, fraction, found := bytes.Cut(digits, []byte{l.decimal})
	groups := [][]byte{whole}
	if l.group != 0 {
		groups = bytes.Split(whole, []byte{l.group})
	}
	for i, group := range groups {
		if i > 0 && len(group) != 3 {
			return nil, fmt.Errorf("%q: thousands have three digits", clipText(text))
		}
	}
	l.scratch = append(l.scratch[:0], bytes.Join(groups, nil)...)
	if found {
		l.scratch = append(append(l.scratch, '.'), fraction...)
	}
	l.scratch = append(l.scratch, exponent...)
	return l.scratch, nil
}

// splitLine cuts a line into fields without surrounding blanks and quotes, and appends them. A
// separator inside quotes is part of its field, and a quote stands there twice.
func splitLine(fields [][]byte, line []byte, separator byte) [][]byte {
	quoted := bytes.IndexByte(line, '"') >= 0
	for more := true; more; {
		var field []byte
		if quoted {
			field, line, more = cutQuoted(line, separator)
		} else {
			field, line, more = bytes.Cut(line, []byte{separator})
		}
		field = bytes.TrimSpace(field)
		if n := len(field); n >= 2 && field[0] == '"' && field[n-1] == '"' {
			field = bytes.ReplaceAll(bytes.TrimSpace(field[1:n-1]), []byte(`""`), []byte(`"`))
		}
		fields = append(fields, field)
	}
	return fields
}

// cutQuoted cuts a line at the first separator that stands outside quotes.
func cutQuoted(line []byte, separator byte) (field, rest []byte, found bool) {
	inside := false
	for i, b := range line {
		switch {
		case b == '"':
			inside = !inside
		case b == separator && !inside:
			return line[:i], line[i+1:], true
		}
	}
	return line, nil, false
}

// nulls are the ways to write that a row has no values.
var nulls = []string{"", "null", "nan", "none", "na", "n/a", "-", "#n/a"}

func isNull(text []byte) bool {
	return len(text) <= 4 && slices.ContainsFunc(nulls, func(null string) bool {
		return strings.EqualFold(string(text), null)
	})
}

// roundVolume rounds a decimal number to the nearest of so many decimals. ok: the text is a number,
// and the result fits.
func roundVolume(text []byte, digits uint8) (value int64, ok bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(text)), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	shift := 0
	if exponent != "" {
		if _, err := fmt.Sscanf(exponent, "%d", &shift); err != nil || shift < -100 || shift > 100 {
			return 0, false
		}
	}
	point := len(whole) + shift
	plain := strings.Repeat("0", max(0, -point)) + whole + fraction
	point = max(point, 0)
	plain += strings.Repeat("0", max(0, point+int(digits)+1-len(plain)))
	value, _, err := market.ParseDecimal("0" + plain[:point+int(digits)])
	if err == nil && plain[point+int(digits)] >= '5' {
		value++
	}
	return value, err == nil && value >= 0 && strings.Trim(plain, "0123456789") == ""
}
