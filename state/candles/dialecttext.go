package candles

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// dayLayouts are the accepted forms of a day, the year first.
var dayLayouts = []string{"2006-01-02", "2006.01.02", "2006/01/02", "20060102"}

// detectDates chooses the forms of times that depend on the file: a date beside a time of day, and
// days of eight digits, which would be Unix times of 1970.
func (l *csvLayout) detectDates(row []byte) {
	if len(l.layouts) > 0 || l.givenUnit || l.column[fieldTime] < 0 {
		return
	}
	fields := splitLine(nil, row, l.separator)
	at := l.column[fieldTime]
	switch {
	case l.clock >= 0:
		for _, day := range dayLayouts {
			for _, clock := range []string{"15:04", "15:04:05", "150405", "1504"} {
				l.layouts = append(l.layouts, day+" "+clock)
			}
		}
	case at < len(fields) && len(fields[at]) == 8:
		if day, err := time.Parse("20060102", string(fields[at])); err == nil && day.Year() >= 1900 &&
			day.Year() < 2100 {
			l.layouts = []string{"20060102"}
		}
	}
}

// setTimes reads the format of times that the user gave: that of strftime, or a unit of Unix times.
func (l *csvLayout) setTimes(format string) error {
	if format == "" {
		return nil
	}
	if unit := timeUnits[format]; unit != 0 {
		l.unit, l.givenUnit = unit, true
		return nil
	}
	layouts, err := timeLayoutsOf(format)
	l.layouts = layouts
	return err
}

// timeCodes are the codes of strftime in Go's layout.
var timeCodes = map[byte]string{'Y': "2006", 'y': "06", 'm': "1", 'd': "2", 'e': "2", 'H': "15", 'I': "3", 'M': "4",
	'S': "5", 'p': "PM", 'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday", 'j': "002", 'z': "Z0700",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", '%': "%"}

// timeLayoutsOf translates a format of strftime, like %d/%m/%Y %H:%M, to layouts of package time.
func timeLayoutsOf(format string) ([]string, error) {
	layout, codes := "", 0
	for i := 0; i < len(format); i++ {
		b := format[i]
		if b != '%' {
			if b >= '0' && b <= '9' || b >= 'A' && b <= 'Y' && b != 'T' || b >= 'a' && b <= 'z' || b > '~' {
				return nil, fmt.Errorf("time format %q: want codes like %%d/%%m/%%Y %%H:%%M and signs between them, "+
					"or a "+
					"unit of Unix times: s, ms, us or ns", format)
			}
			layout += string(b)
			continue
		}
		if i++; i < len(format) && format[i] == '-' {
			i++
		}
		if i == len(format) {
			return nil, fmt.Errorf("time format %q ends within a code", format)
		}
		code, known := timeCodes[format[i]]
		switch {
		case format[i] == 'f' && (strings.HasSuffix(layout, "5.") || strings.HasSuffix(layout, "5,")):
			code = "999999999"
		case !known:
			return nil, fmt.Errorf("time format %q: there is no %%%c; the codes are %%Y %%m %%d %%H %%M %%S %%f %%I "+
				"%%p "+
				"%%b %%B %%y %%z", format, format[i])
		case strings.HasSuffix(layout, "_") && code == "2":
			code = "02" // "_2" is a code of its own
		}
		layout, codes = layout+code, codes+1
	}
	if codes == 0 {
		return nil, fmt.Errorf("time format %q has no code like %%Y", format)
	}
	if before, after, zone := strings.Cut(layout, "Z0700"); zone {
		return []string{layout, before + "Z07:00" + after}, nil
	}
	return []string{layout}, nil
}

// plainNumbers reports whether numbers are written as market.ParseDecimal reads them.
func (l *csvLayout) plainNumbers() bool { return l.decimal == '.' && l.group == 0 }

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
				seen.add(fields[at])
			}
		}
	}
	switch decimal {
	case "comma":
		seen.comma, seen.point = true, false
	case "point":
		seen.comma, seen.point = false, true
	case "":
	default:
		return fmt.Errorf("decimal %q is neither comma nor point", decimal)
	}
	switch {
	case seen.comma && seen.point:
		return errMixedNumbers
	case seen.comma:
		l.decimal, l.group = ',', '.'
	case seen.point && seen.eitherComma != "":
		l.group = ','
	case seen.eitherComma != "":
		return fmt.Errorf("%q may be a decimal or a thousand; say which: --decimal comma, or --decimal point",
			seen.eitherComma)
	}
	return nil
}

// numberStyles is what the numbers of some rows say about their form.
type numberStyles struct {
	comma, point bool   // the decimal sign that some number must have
	eitherComma  string // a number with a comma that may be either
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
	whole, fraction, found := bytes.Cut(text, []byte{l.decimal})
	groups := bytes.Split(whole, []byte{l.group})
	for i, group := range groups {
		if i > 0 && len(group) != 3 {
			return nil, fmt.Errorf("%q: thousands have three digits", clipText(text))
		}
	}
	l.scratch = append(l.scratch[:0], bytes.Join(groups, nil)...)
	if found {
		l.scratch = append(append(l.scratch, '.'), fraction...)
	}
	return l.scratch, nil
}

// splitLine cuts a line into fields without surrounding blanks and quotes, and appends them. A
// separator inside quotes is part of its field.
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
			field = bytes.TrimSpace(field[1 : n-1])
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
