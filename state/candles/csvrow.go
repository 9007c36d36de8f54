package candles

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// The columns of a candle in CSV, in their usual order.
const (
	fieldTime = iota
	fieldOpen
	fieldHigh
	fieldLow
	fieldClose
	fieldVolume
	fieldCount
)

var fieldNames = [fieldCount]string{"time", "open", "high", "low", "close", "volume"}

// headerNames are the known names of columns, in lower case and without the unit of a time.
var headerNames = map[string]int{
	"timestamp": fieldTime, "time": fieldTime, "date": fieldTime, "datetime": fieldTime, "unix": fieldTime,
	"open_time": fieldTime, "start": fieldTime, "ts": fieldTime,
	"open": fieldOpen, "high": fieldHigh, "low": fieldLow, "close": fieldClose,
	"volume": fieldVolume, "vol": fieldVolume, "base_volume": fieldVolume,
}

// timeUnits are the units that a header may name.
var timeUnits = map[string]int64{"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}

// timeLayouts are the accepted forms of a time; without a zone it is UTC.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05Z07:00",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02"}

// csvRow is a row whose numbers are values·10^-digits: open, high, low, close, volume.
type csvRow struct {
	start  market.Time
	values [5]int64
	digits [5]uint8
}

// dropZeros reduces the decimals of the row to those that it needs.
func (r *csvRow) dropZeros() {
	for i := range r.values {
		for r.digits[i] > 0 && r.values[i]%10 == 0 {
			r.values[i] /= 10
			r.digits[i]--
		}
	}
}

// csvLayout is the arrangement of the columns.
type csvLayout struct {
	separator    byte
	defaultOrder bool  // the columns have their usual order
	unit         int64 // nanoseconds of a Unix time's unit; 0: its size tells
	column       [fieldCount]int
	fields       [][]byte // reused
}

// detect derives the layout from the first line and reports whether that line is a header.
func (l *csvLayout) detect(line []byte) (header bool, err error) {
	l.separator = ','
	for _, other := range []byte("\t;") {
		if bytes.IndexByte(line, other) >= 0 {
			l.separator = other
			break
		}
	}
	l.column, l.defaultOrder = [fieldCount]int{0, 1, 2, 3, 4, 5}, true
	found := [fieldCount]int{-1, -1, -1, -1, -1, -1}
	for at, field := range l.split(line) {
		name, unit := headerName(field)
		which, known := headerNames[name]
		if !known {
			continue
		}
		header = true
		if found[which] >= 0 && which != fieldTime {
			return false, fmt.Errorf("header %q names %s twice", clipText(line), fieldNames[which])
		}
		if found[which] < 0 {
			found[which] = at
			if which == fieldTime {
				l.unit = unit
			}
		}
	}
	if !header {
		return false, nil
	}
	l.defaultOrder = found == l.column
	l.column = found
	return true, missingColumns(line, found)
}

func missingColumns(line []byte, found [fieldCount]int) error {
	var missing []string
	for which, at := range found {
		if at < 0 {
			missing = append(missing, fieldNames[which])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("header %q names no column for %s", clipText(line), strings.Join(missing, ", "))
}

// headerName splits "Timestamp_ms" into "timestamp" and the unit's nanoseconds.
func headerName(field []byte) (string, int64) {
	name := strings.ReplaceAll(strings.ToLower(string(field)), " ", "_")
	if at := strings.LastIndexByte(name, '_'); at > 0 {
		if unit := timeUnits[name[at+1:]]; unit != 0 {
			return name[:at], unit
		}
	}
	return name, 0
}

// split cuts a line into fields without surrounding blanks and quotes.
func (l *csvLayout) split(line []byte) [][]byte {
	l.fields = l.fields[:0]
	for more := true; more; {
		var field []byte
		field, line, more = bytes.Cut(line, []byte{l.separator})
		field = bytes.TrimSpace(field)
		if n := len(field); n >= 2 && field[0] == '"' && field[n-1] == '"' {
			field = bytes.TrimSpace(field[1 : n-1])
		}
		l.fields = append(l.fields, field)
	}
	return l.fields
}

// fastRow reads a row of plain numbers in the usual order, and reports whether the line is one.
func (l *csvLayout) fastRow(line []byte, row *csvRow) bool {
	if !l.defaultOrder {
		return false
	}
	stamp, digits, at := scanNumber(line, 0)
	if at == 0 || digits != 0 || at >= len(line) || line[at] != l.separator {
		return false
	}
	for i := range row.values {
		from := at + 1
		row.values[i], row.digits[i], at = scanNumber(line, from)
		if at == from || at < len(line) && line[at] != l.separator || at == len(line) && i < 4 {
			return false
		}
	}
	start, ok := l.unixTime(stamp)
	row.start = start
	return ok
}

// scanNumber reads digits with an optional fraction from line[at:], at most 18 of them. If there is
// no such number, it returns end = at.
func scanNumber(line []byte, at int) (value int64, digits uint8, end int) {
	i := at
	for ; i < len(line); i++ {
		digit := line[i] - '0'
		if digit > 9 {
			break
		}
		value = value*10 + int64(digit)
	}
	if i == at || i-at > market.MaxDigits {
		return 0, 0, at
	}
	if i == len(line) || line[i] != '.' {
		return value, 0, i
	}
	point := i
	for i++; i < len(line); i++ {
		digit := line[i] - '0'
		if digit > 9 {
			break
		}
		value = value*10 + int64(digit)
	}
	if i-at > market.MaxDigits+1 || i == point+1 {
		return 0, 0, at
	}
	return value, uint8(i - point - 1), i
}

// slowRow reads every form of a row. Its errors are the reasons of bad rows.
func (l *csvLayout) slowRow(line []byte, row *csvRow) (err error) {
	fields := l.split(line)
	for which, at := range l.column {
		if at >= len(fields) {
			return fmt.Errorf("%d columns, %s should be in column %d", len(fields), fieldNames[which], at+1)
		}
		if len(fields[at]) == 0 {
			return fmt.Errorf("%s is empty", fieldNames[which])
		}
	}
	if row.start, err = l.parseTime(fields[l.column[fieldTime]]); err != nil {
		return err
	}
	for i := range row.values {
		row.values[i], row.digits[i], err = market.ParseDecimal(fields[l.column[fieldOpen+i]])
		if err != nil {
			return fmt.Errorf("%s %w", fieldNames[fieldOpen+i], err)
		}
	}
	return nil
}

func (l *csvLayout) parseTime(text []byte) (market.Time, error) {
	if stamp, digits, err := market.ParseDecimal(text); err == nil {
		start, ok := l.unixTime(stamp)
		if digits != 0 || !ok {
			return 0, fmt.Errorf("time %q is no whole Unix time in range", clipText(text))
		}
		return start, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, string(text)); err == nil {
			return timeInRange(t, text)
		}
	}
	return 0, fmt.Errorf("time %q is neither a Unix time nor RFC 3339 nor like 2006-01-02 15:04:05", clipText(text))
}

func timeInRange(t time.Time, text []byte) (market.Time, error) {
	at, err := market.TimeOf(t)
	if err != nil {
		return 0, fmt.Errorf("time %q: %w", clipText(text), err)
	}
	return at, nil
}

// unixTime reads a Unix time. Without a unit in the header, its size tells the unit: seconds end at
// 10^11 (the year 5138), milliseconds begin there (March 1973), and so on by factors of a thousand.
func (l *csvLayout) unixTime(stamp int64) (market.Time, bool) {
	unit := l.unit
	if unit == 0 {
		unit = unitOf(max(stamp, -stamp))
	}
	high := int64(maxCandleTime)
	switch unit { // divisions by constants
	case 1e9:
		high /= 1e9
	case 1e6:
		high /= 1e6
	case 1e3:
		high /= 1e3
	}
	if stamp > high || stamp < -high-high/5 {
		return 0, false
	}
	return market.Time(stamp * unit), true
}

func unitOf(size int64) int64 {
	switch {
	case size < 1e11:
		return 1e9
	case size < 1e14:
		return 1e6
	case size < 1e17:
		return 1e3
	}
	return 1
}

// clipText shortens foreign text for an error.
func clipText(text []byte) string {
	if len(text) > maxRowText {
		return string(text[:maxRowText]) + "…"
	}
	return string(text)
}
