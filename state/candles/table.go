package candles

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// Table is a CSV with columns that others know, in the dialects of an import: gzip, UTF-16,
// separators, quotes, lines above the header, forms of times.
type Table struct {
	Header    []string // names in lower case, blanks as _, without the unit of a time
	Separator byte
	Zone      *time.Location // of times that name none; nil: UTC

	in     *bufio.Reader
	layout csvLayout
	units  []int64 // by column: nanoseconds of the unit in its name; 0: it has none
	names  []string
	line   int64
	fields [][]byte
}

// OpenTable reads up to the header: the first line of several fields.
func OpenTable(r io.Reader) (*Table, error) {
	in, err := plainText(r)
	if err != nil {
		return nil, err
	}
	head, err := in.Peek(maxLine)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if err := foreign(head); err != nil {
		return nil, err
	}
	t := &Table{in: in}
	for _, line := range linesOf(head) {
		if t.Separator = separatorOf(line.text); bytes.IndexByte(line.text, t.Separator) < 0 {
			continue // a title
		}
		fields := splitLine(nil, line.text, t.Separator)
		if beginsRow(fields) {
			return nil, fmt.Errorf("line %d: it has no header; write the names of its columns above %q", line.from+1,
				clipText(line.text))
		}
		for _, field := range fields {
			name, unit := headerName(field)
			t.Header, t.units, t.names = append(t.Header, name), append(t.units, unit), append(t.names, string(field))
		}
		t.line = int64(line.from + 1)
		_, err := in.Discard(min(line.at+len(line.text)+1, len(head)))
		if err == nil && len(head) > line.at+len(line.text) && head[line.at+len(line.text)] == '\r' {
			_, err = in.Discard(1)
		}
		return t, err
	}
	return nil, errors.New("it has no header with the names of two columns or more")
}

// TableOf returns a table of columns with some names that has no lines.
func TableOf(names []string) *Table {
	t := &Table{Separator: ','}
	for _, text := range names {
		name, unit := headerName([]byte(text))
		t.Header, t.units, t.names = append(t.Header, name), append(t.units, unit), append(t.names, text)
	}
	return t
}

// Split returns the fields of a line that stands elsewhere. They are valid until the next call.
func (t *Table) Split(line []byte) [][]byte {
	t.fields = splitLine(t.fields[:0], line, t.Separator)
	return t.fields
}

// Name is the name of a column as the file writes it.
func (t *Table) Name(column int) string { return t.names[column] }

// Next returns the fields of the next line that is not blank, and its number, from 1; io.EOF at the
// end. The fields are valid until the next call.
func (t *Table) Next() (fields [][]byte, line int64, err error) {
	for {
		text, err := t.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = fmt.Errorf("longer than %d bytes", maxLine)
		}
		if err != nil && (len(text) == 0 || !errors.Is(err, io.EOF)) {
			return nil, t.line + 1, err
		}
		if t.line++; len(bytes.TrimSpace(text)) > 0 {
			t.fields = splitLine(t.fields[:0], bytes.TrimRight(text, "\r\n"), t.Separator)
			return t.fields, t.line, nil
		}
	}
}

// Time reads a time of a column. A day without a time of day begins at at and ends at end; any
// other time is both.
func (t *Table) Time(column int, text []byte) (at, end market.Time, err error) {
	zone := t.Zone
	if zone == nil {
		zone = time.UTC
	}
	if day, is := dayOf(text); is {
		y, m, d := day.Date()
		return market.Time(market.Midnight(y, m, d, zone).UnixNano()),
			market.Time(market.Midnight(y, m, d+1, zone).UnixNano()), nil
	}
	t.layout.unit = t.units[column]
	if at, err = t.layout.parseTime(text); err != nil {
		short, _, _ := strings.Cut(err.Error(), "; give --")
		return 0, 0, errors.New(short)
	}
	if _, _, number := market.ParseDecimal(text); number != nil && zone != time.UTC && !namesZone(text) {
		if at, err = inZone(at, zone); err != nil {
			return 0, 0, fmt.Errorf("time %q: %w", clipText(text), err)
		}
	}
	return at, at, nil
}

// dayOf reads a day of this century or the last without a time of day.
func dayOf(text []byte) (day time.Time, is bool) {
	if !isDate(text) {
		return day, false
	}
	for _, layout := range dayLayouts {
		if day, err := time.Parse(layout, string(text)); err == nil && day.Year() >= 1900 && day.Year() < 2100 {
			return day, true
		}
	}
	return day, false
}

// namesZone reports whether a time ends with a zone: Z, UTC, or an offset behind a time of day.
func namesZone(text []byte) bool {
	clock := bytes.IndexByte(text, ':')
	return clock >= 0 && (bytes.HasSuffix(text, []byte("Z")) || bytes.HasSuffix(text, []byte("UTC")) ||
		bytes.ContainsAny(text[clock:], "+-"))
}

// inZone is the moment at which clocks of a zone show what a time in UTC says. It refuses an hour
// that clocks skip, and one that they show twice.
func inZone(shown market.Time, zone *time.Location) (market.Time, error) {
	wall := shown.Std()
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(),
		zone)
	shows := func(t time.Time) bool {
		_, ahead := t.Zone()
		return t.Add(time.Duration(ahead) * time.Second).Equal(wall)
	}
	if !shows(t) {
		return 0, fmt.Errorf("clocks in %s skip this hour; write times in UTC", zone)
	}
	start, end := t.ZoneBounds()
	for _, beside := range [...]time.Time{start.Add(-1), end} {
		_, ahead := beside.Zone()
		if other := wall.Add(-time.Duration(ahead) * time.Second).In(zone); !other.Equal(t) && shows(other) {
			return 0, fmt.Errorf("clocks in %s show this hour twice; write times in UTC", zone)
		}
	}
	return market.Time(t.UnixNano()), nil
}

// IsNull reports whether a field says that there is no value.
func IsNull(text []byte) bool { return isNull(text) }
