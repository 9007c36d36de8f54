package candles

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
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
	l.layouts, l.format = layouts, format
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

// findTime returns the column of the time where the header has no known name for it, by the first
// row: one with a date, or else the first column with a Unix time. A column whose name says time or
// date is taken too: its rows then say what is wrong with them. -1: there is none.
func (l *csvLayout) findTime(names [][]byte, row []byte) int {
	fields := splitLine(nil, row, l.separator)
	for at := range min(len(names), len(fields)) {
		name := strings.ToLower(string(names[at]))
		if _, known := columnOf(names[at]); known || strings.Contains(name, "close") || strings.Contains(name, "end") {
			continue
		}
		_, _, noNumber := market.ParseDecimal(fields[at])
		start, err := l.parseTime(fields[at])
		switch {
		case strings.Contains(name, "time"), strings.HasPrefix(name, "dat"):
			return at
		case err == nil && (noNumber != nil || at == 0 && start >= minUnixStart):
			return at
		}
	}
	return -1
}

// minUnixStart is the start of 2000: a number that would be an earlier Unix time is not taken for
// one without a name.
const minUnixStart market.Time = 946_684_800e9

// dateOrderError is a date whose day may come before or after its month.
type dateOrderError struct{ text string }

// Error shows the date. The hint of the import has the formats.
func (e *dateOrderError) Error() string {
	return fmt.Sprintf("time %q may begin with the day or the month", e.text)
}

// dateOrder returns a dateOrderError if a time begins with a number, another, and the year.
func dateOrder(text []byte) error {
	if day, _, _ := bytes.Cut(text, []byte(" ")); isDate(day) || bytes.Count(day, []byte("/")) == 2 {
		return &dateOrderError{clipText(text)}
	}
	return nil
}

// yearFirst is a time that begins with the year, and what stands behind the time of day; zoneName
// is the name or the abbreviation of a zone.
const (
	yearFirst = `^(\d{4})[-./](\d\d?)[-./](\d\d?)(?:[ T](\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?)? *(.*)$`
	zoneName  = `^[A-Z][A-Za-z_]+(/[A-Za-z_+-]+)*$`
)

// noSuchTime says what is wrong with a time that begins with the year; nil: it is none, or nothing
// is known.
func noSuchTime(text []byte) error {
	m := regexp.MustCompile(yearFirst).FindSubmatch(text)
	if m == nil {
		return nil
	}
	var n [6]int
	for i := range n {
		n[i], _ = strconv.Atoi(string(m[i+1]))
	}
	shown, month := clipText(text), time.Month(n[1])
	switch {
	case n[1] < 1 || n[1] > 12:
		return fmt.Errorf("time %q: there is no month %d", shown, n[1])
	case n[2] < 1 || time.Date(n[0], month, n[2], 0, 0, 0, 0, time.UTC).Month() != month:
		return fmt.Errorf("time %q: there is no %d %s %d", shown, n[2], month, n[0])
	case n[3] > 23 || n[4] > 59 || n[5] > 59:
		return fmt.Errorf("time %q: there is no time of day %s", shown, text[bytes.IndexAny(text, " T")+1:])
	case regexp.MustCompile(zoneName).Match(m[7]):
		return fmt.Errorf("time %q: the zone has a name, %s; a time has an offset like -05:00 behind it, or nothing "+
			"for UTC", shown, m[7])
	}
	return nil
}

// formats are the formats for --time-format that fit the text of a dateOrderError: the day first,
// and the month first. The clock is written as the text has it.
func formats(text string) (dayFirst, monthFirst string) {
	codes := []string{"%d", "%m", "%Y", "%H", "%M", "%S", "%f"}
	var out strings.Builder
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		switch {
		case end == i:
			end++
			out.WriteString(text[i:end])
		case len(codes) == 0:
			out.WriteString(text[i:end])
		default:
			code := codes[0]
			if code == "%Y" && end-i == 2 {
				code = "%y"
			}
			out.WriteString(code)
			codes = codes[1:]
		}
		i = end
	}
	dayFirst = out.String()
	for _, half := range []string{"AM", "PM", "am", "pm"} {
		if before, found := strings.CutSuffix(dayFirst, half); found {
			dayFirst = strings.Replace(before, "%H", "%I", 1) + "%p"
		}
	}
	return dayFirst, strings.NewReplacer("%d", "%m", "%m", "%d").Replace(dayFirst)
}
