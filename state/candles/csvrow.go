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

var (
	fieldNames   = [fieldCount]string{"time", "open", "high", "low", "close", "volume"}
	usualColumns = [fieldCount]int{0, 1, 2, 3, 4, 5}
	noColumns    = [fieldCount]int{-1, -1, -1, -1, -1, -1}
)

// headerNames are the known names of columns, in lower case and without the unit of a time.
var headerNames = map[string]int{
	"timestamp": fieldTime, "time": fieldTime, "date": fieldTime, "datetime": fieldTime, "unix": fieldTime,
	"open_time": fieldTime, "start": fieldTime, "ts": fieldTime,
	"open": fieldOpen, "high": fieldHigh, "low": fieldLow, "close": fieldClose, "close/last": fieldClose,
	"volume": fieldVolume, "vol": fieldVolume, "base_volume": fieldVolume,
}

// timeUnits are the units that a header may name.
var timeUnits = map[string]int64{"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}

// timeLayouts are the accepted forms of a time; without a zone it is UTC.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05Z07:00",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02", "2006-01-02T15:04",
	"2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05 UTC", "2006-01-02 03-PM",
	"2006.01.02 15:04:05", "2006.01.02 15:04", "2006.01.02", "2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02",
	"20060102 150405", "20060102 15:04:05", "20060102 15:04", "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00"}

// csvRow is a row whose numbers are values·10^-digits: open, high, low, close, volume.
type csvRow struct {
	start  market.Time
	values [5]int64
	digits [5]uint8

	longVolume []byte // a volume with more decimals than values hold, by slowRow; nil: there is none
	rounded    bool   // prices, by slowRow: they had more decimals than values hold
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

// csvLayout is the arrangement of the columns and the form of times and numbers.
type csvLayout struct {
	separator    byte
	defaultOrder bool            // the columns have their usual order, and times and numbers their plain form
	header       bool            // the file has one
	unit         int64           // nanoseconds of a Unix time's unit; 0: its size tells
	givenUnit    bool            // the user named the unit
	column       [fieldCount]int // -1: there is none
	clock        int             // column of the time of day beside one of the date; -1: there is none
	layouts      []string        // of times, in place of timeLayouts; they come before Unix times
	lastLayout   int             // of the row before
	format       string          // of times, as the user gave it; empty: none was given
	decimal      byte            // '.' or ','
	group        byte            // between thousands; 0: there is none
	ownClock     bool            // see ImportOptions
	prices       uint8           // decimals to which prices are rounded, where
	roundPrices  bool            // the user asked for it
	marked       bool            // some numbers have the sign of a currency, or K for thousands
	fields       [][]byte        // reused, like scratch
	scratch      []byte
}

// columnOf returns the field that a column's name stands for.
func columnOf(field []byte) (which int, known bool) {
	name, _ := headerName(field)
	if which, known = headerNames[name]; known {
		return which, true
	}
	return fieldVolume, false
}

// headerName splits "Timestamp_ms" into "timestamp" and the unit's nanoseconds, in lower case and
// without brackets.
func headerName(field []byte) (string, int64) {
	name := strings.ToLower(string(bytes.Trim(field, "<>#")))
	name = strings.NewReplacer(" ", "_", "(", "", ")", "").Replace(strings.TrimSpace(name))
	if at := strings.LastIndexByte(name, '_'); at > 0 {
		if unit := timeUnits[name[at+1:]]; unit != 0 {
			return name[:at], unit
		}
	}
	return name, 0
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

// errNoValues is a row with a time and without prices: the file says that nothing is known.
var errNoValues = errors.New("the row has no values")

// slowRow reads every form of a row. Its errors are the reasons of bad rows, or errNoValues.
func (l *csvLayout) slowRow(line []byte, row *csvRow) (err error) {
	l.fields = splitLine(l.fields[:0], line, l.separator)
	fields := l.fields
	if l.hasNoValues(fields) {
		return errNoValues
	}
	for which, at := range l.column {
		if at >= len(fields) {
			return &shortRowError{len(fields), which, at + 1}
		}
		if at >= 0 && len(fields[at]) == 0 {
			return fmt.Errorf("%s is empty", fieldNames[which])
		}
	}
	if row.start, err = l.timeOf(fields); err != nil {
		return err
	}
	for i := range row.values {
		row.values[i], row.digits[i] = 0, 0
		at := l.column[fieldOpen+i]
		if at < 0 {
			continue
		}
		text, err := l.number(fields[at])
		if err == nil {
			row.values[i], row.digits[i], err = market.ParseDecimal(text)
		}
		if err != nil && fieldOpen+i == fieldVolume && isLongNumber(text, err) {
			row.longVolume = text
			return nil
		}
		if err != nil && isLongNumber(text, err) {
			if row.values[i], row.rounded = roundVolume(text, l.prices); l.roundPrices && row.rounded {
				row.digits[i] = l.prices
				continue
			}
			whole, _ := roundVolume(text, 0)
			err = &longPriceError{err, whole + 1}
		}
		if err != nil {
			return fmt.Errorf("%s %w", fieldNames[fieldOpen+i], err)
		}
	}
	return nil
}

// longPriceError is a row with a price that 64 bits do not hold with its decimals.
type longPriceError struct {
	error
	whole int64 // the price, rounded up
}

// Unwrap returns the reason.
func (e *longPriceError) Unwrap() error { return e.error }

// shortRowError is a row without the column of a field.
type shortRowError struct{ columns, field, column int }

// Error names the column.
func (e *shortRowError) Error() string {
	columns := "columns"
	if e.columns == 1 {
		columns = "column"
	}
	return fmt.Sprintf("%d %s, %s should be in column %d", e.columns, columns, fieldNames[e.field], e.column)
}

// isLongNumber reports whether a text is a number with more decimals than 64 bits hold.
func isLongNumber(text []byte, err error) bool {
	if !errors.Is(err, market.ErrInexact) && !errors.Is(err, market.ErrOverflow) {
		return false
	}
	_, ok := roundVolume(text, 0)
	return ok
}

// hasNoValues reports whether the four prices of a row are there and say null, nan or nothing.
func (l *csvLayout) hasNoValues(fields [][]byte) bool {
	for which := fieldOpen; which <= fieldClose; which++ {
		if at := l.column[which]; at < 0 || at >= len(fields) || !isNull(fields[at]) {
			return false
		}
	}
	return true
}

// timeOf reads the time of a row.
func (l *csvLayout) timeOf(fields [][]byte) (market.Time, error) {
	text := fields[l.column[fieldTime]]
	if l.clock < 0 {
		return l.parseTime(text)
	}
	if l.clock >= len(fields) {
		return 0, fmt.Errorf("%d columns, the time of day should be in column %d", len(fields), l.clock+1)
	}
	return l.parseTime(bytes.Join([][]byte{text, fields[l.clock]}, []byte(" ")))
}

func (l *csvLayout) parseTime(text []byte) (market.Time, error) {
	if len(l.layouts) > 0 {
		return l.formattedTime(text, l.layouts)
	}
	if stamp, digits, err := market.ParseDecimal(text); err == nil {
		start, ok := l.unixTime(stamp)
		if digits != 0 || !ok {
			return 0, fmt.Errorf("time %q is no whole Unix time in range", clipText(text))
		}
		return start, nil
	}
	return l.formattedTime(text, timeLayouts)
}

// formattedTime reads a time in one of some layouts, that of the row before first.
func (l *csvLayout) formattedTime(text []byte, layouts []string) (market.Time, error) {
	if l.lastLayout < len(layouts) {
		if t, err := time.Parse(layouts[l.lastLayout], string(text)); err == nil {
			return l.timeInRange(t, text)
		}
	}
	for i, layout := range layouts {
		if t, err := time.Parse(layout, string(text)); err == nil {
			l.lastLayout = i
			return l.timeInRange(t, text)
		}
	}
	if hour := bytes.Index(text, []byte("24:00")); hour > 0 && (text[hour-1] == ' ' || text[hour-1] == 'T') {
		midnight := slices.Concat(text[:hour], []byte("00:00"), text[hour+5:])
		if day, err := l.formattedTime(midnight, layouts); err == nil {
			return day + dayLength, nil
		}
	}
	if err := noSuchTime(text); err != nil {
		return 0, err
	}
	shown := clipText(text)
	if len(l.layouts) > 0 {
		return 0, fmt.Errorf("time %q is not like %s", shown, cmp.Or(l.format, l.layouts[0]))
	}
	if err := dateOrder(text); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("time %q is neither a Unix time nor RFC 3339 nor like 2006-01-02 15:04:05; give "+
		"--time-format, like %%d.%%m.%%Y %%H:%%M", shown)
}

// timeInRange is a time as the store has it.
func (l *csvLayout) timeInRange(t time.Time, text []byte) (market.Time, error) {
	if l.ownClock {
		_, ahead := t.Zone()
		t = t.Add(time.Duration(ahead) * time.Second)
	}
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
