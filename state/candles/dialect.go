package candles

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/market"
)

const (
	headLines   = 40 // lines that the dialect of a file is read from
	aboveTable  = 10 // lines that may stand above the header
	moreHeaders = 3  // lines that may belong to a header
)

// headLine is a line at the start of a file that is not blank.
type headLine struct {
	text []byte
	from int // lines above it, blank ones too
	at   int // bytes above it
}

// linesOf cuts the first lines out of the start of a file.
func linesOf(head []byte) (lines []headLine) {
	at := 0
	for number := 0; at < len(head) && len(lines) < headLines; number++ {
		text, _, _ := bytes.Cut(head[at:], []byte("\n"))
		if len(bytes.TrimSpace(text)) > 0 {
			lines = append(lines, headLine{bytes.TrimSuffix(text, []byte("\r")), number, at})
		}
		at += len(text) + 1
	}
	return lines
}

// detect derives the layout from the start of a file: separator, columns, form of times and
// numbers. It returns the lines, and their bytes, that stand above the first row.
func (l *csvLayout) detect(head []byte, o *ImportOptions) (lines, size int, err error) {
	if err := foreign(head); err != nil {
		return 0, 0, err
	}
	*l = csvLayout{separator: ',', column: usualColumns, clock: -1, decimal: '.', fields: l.fields}
	list := linesOf(head)
	if err := l.setTimes(o.TimeFormat); err != nil || len(list) == 0 {
		return 0, 0, err
	}
	first, err := l.findColumns(list, o)
	if err != nil {
		return 0, 0, err
	}
	if o.NoVolume {
		l.column[fieldVolume] = -1
	}
	if first == len(list) {
		last := list[first-1]
		return last.from + 1, min(last.at+len(last.text)+1, len(head)), nil
	}
	sample := list[first:]
	l.separator = separatorOf(sample[0].text)
	if !l.header && len(o.Columns) == 0 {
		l.joinClock(sample[0].text)
	}
	l.detectDates(sample[0].text)
	if err := l.detectNumbers(sample, o.Decimal); err != nil {
		return 0, 0, err
	}
	l.defaultOrder = l.column == usualColumns && l.clock < 0 && l.plainNumbers() && len(l.layouts) == 0 &&
		o.Swap == nil
	return sample[0].from, sample[0].at, nil
}

// findColumns finds the columns and returns the index of the first line below the header.
func (l *csvLayout) findColumns(lines []headLine, o *ImportOptions) (first int, err error) {
	if len(o.Columns) > 0 {
		if err := l.nameColumns(o.Columns); err != nil {
			return 0, err
		}
		if names := l.missing(o); len(names) > 0 {
			return 0, fmt.Errorf("columns: no column for %s", strings.Join(names, ", "))
		}
		return max(0, slices.IndexFunc(lines, func(line headLine) bool { return l.isRow(line.text) })), nil
	}
	at := findHeader(lines)
	if at < 0 {
		first = l.skipTitle(lines)
		return first, strangeHeader(lines[first:])
	}
	l.header = true
	return l.readHeader(lines, at, o)
}

// findHeader returns the index of the header, -1: there is none. Three known names make a header
// below other lines; one does in the first line.
func findHeader(lines []headLine) int {
	for i, line := range lines[:min(len(lines), aboveTable)] {
		known, fields := 0, splitLine(nil, line.text, separatorOf(line.text))
		for _, field := range fields {
			if _, is := columnOf(field); is {
				known++
			}
		}
		if known >= 3 {
			return i
		}
		if known == 0 && beginsRow(fields) {
			break
		}
	}
	for _, field := range splitLine(nil, lines[0].text, separatorOf(lines[0].text)) {
		if _, is := columnOf(field); is {
			return 0
		}
	}
	return -1
}

// strangeHeader refuses a file whose first line is a header without any known name: a word in each
// column of a candle, above a row.
func strangeHeader(lines []headLine) error {
	if len(lines) < 2 {
		return nil
	}
	fields := splitLine(nil, lines[0].text, separatorOf(lines[0].text))
	if len(fields) < fieldVolume || !beginsRow(splitLine(nil, lines[1].text, separatorOf(lines[1].text))) {
		return nil
	}
	for _, field := range fields[:fieldVolume] {
		if letter, _ := utf8.DecodeRune(field); !unicode.IsLetter(letter) || isNull(field) {
			return nil
		}
	}
	return fmt.Errorf("line %d: the header %q has none of the names time, open, high, low, close, volume; give them "+
		"in the order of its columns, with - for one to ignore: --columns time,open,high,low,close,volume",
		lines[0].from+1, clipText(lines[0].text))
}

// skipTitle returns the index of the first row of a file without a header: lines of one field above
// it, like an address, are no rows.
func (l *csvLayout) skipTitle(lines []headLine) int {
	for i, line := range lines[:min(len(lines), aboveTable)] {
		fields := splitLine(nil, line.text, separatorOf(line.text))
		if len(fields) > 1 {
			if i > 0 && !beginsRow(fields) {
				return 0
			}
			return i
		}
	}
	return 0
}

// beginsRow reports whether fields may be those of a row: a time or a number, then more.
func beginsRow(fields [][]byte) bool {
	if len(fields) < 2 {
		return false
	}
	if _, _, err := market.ParseDecimal(fields[0]); err == nil {
		return true
	}
	_, err := (&csvLayout{}).parseTime(fields[0])
	return err == nil || len(fields[0]) > 0 && fields[0][0] >= '0' && fields[0][0] <= '9'
}

// isRow reports whether a line has prices in the columns that were named.
func (l *csvLayout) isRow(line []byte) bool {
	fields := splitLine(nil, line, separatorOf(line))
	for which := fieldOpen; which <= fieldClose; which++ {
		at := l.column[which]
		if at >= len(fields) {
			return false
		}
		digits, _ := unmarked(fields[at])
		if len(digits) == 0 || bytes.IndexByte([]byte("0123456789.,+-"), digits[0]) < 0 {
			return false
		}
	}
	return true
}

// separatorOf is the separator of a line: the first that it has of tab, semicolon, bar and comma.
func separatorOf(line []byte) byte {
	for _, other := range []byte("\t;|") {
		if bytes.IndexByte(line, other) >= 0 {
			return other
		}
	}
	return ','
}

// nameColumns takes the order of the columns from a list of names; "-" is a column to ignore.
func (l *csvLayout) nameColumns(names []string) error {
	l.column = noColumns
	for at, name := range names {
		which, known := columnOf([]byte(name))
		switch {
		case name == "-":
		case strings.EqualFold(name, "clock"):
			l.clock = at
		case !known:
			return fmt.Errorf("columns: %q is none of time, clock, open, high, low, close, volume; write - for a "+
				"column to ignore", name)
		case l.column[which] >= 0:
			return fmt.Errorf("columns: %s is named twice", fieldNames[which])
		default:
			l.column[which] = at
		}
	}
	return nil
}

// missing lists the columns that were not found.
func (l *csvLayout) missing(o *ImportOptions) (names []string) {
	for which, at := range l.column {
		if at < 0 && (which != fieldVolume || !o.NoVolume) {
			names = append(names, fieldNames[which])
		}
	}
	return names
}

// readHeader takes the columns from the header in lines[at] and returns the index of the first line
// below it. A header that names no time may go on in the next lines.
func (l *csvLayout) readHeader(lines []headLine, at int, o *ImportOptions) (int, error) {
	line := lines[at].text
	l.separator = separatorOf(line)
	l.column = noColumns
	fields := splitLine(nil, line, l.separator)
	if err := l.assign(fields, line, o); err != nil {
		return 0, err
	}
	first := at + 1
	for i := first; l.column[fieldTime] < 0 && i < min(len(lines), at+1+moreHeaders); i++ {
		for column, field := range splitLine(nil, lines[i].text, l.separator) {
			if which, known := columnOf(field); known && which == fieldTime {
				l.column[fieldTime], first = column, i+1
				break
			}
		}
	}
	if l.column[fieldTime] < 0 && len(fields[0]) == 0 {
		l.column[fieldTime] = 0
	}
	if l.column[fieldTime] < 0 && first < len(lines) {
		l.column[fieldTime] = l.findTime(fields, lines[first].text)
	}
	if names := l.missing(o); len(names) > 0 {
		return 0, fmt.Errorf("line %d: header %q names no column for %s%s", lines[at].from+1, clipText(line),
			strings.Join(names, ", "), missingMend(names))
	}
	if first < len(lines) {
		l.findClock(fields, lines[first].text)
	}
	return first, nil
}

func missingMend(names []string) string {
	if len(names) == 1 && names[0] == fieldNames[fieldVolume] {
		return "; --no-volume imports it without one, --columns names the columns"
	}
	return "; name the columns in their order: --columns time,open,high,low,close,volume"
}

// assign finds the columns in the fields of a header.
func (l *csvLayout) assign(fields [][]byte, line []byte, o *ImportOptions) error {
	base, _, _ := market.SplitName(o.Market)
	if o.Swap != nil {
		base, _, _ = market.SplitName(o.Swap.Market)
	}
	for at, field := range fields {
		which, known := columnOf(field)
		switch {
		case !known, which == fieldVolume && slices.ContainsFunc(fields, volumeOf(base)):
		case l.column[which] < 0:
			l.column[which] = at
			if which == fieldTime && l.unit == 0 {
				_, l.unit = headerName(field)
			}
		case which != fieldTime:
			return fmt.Errorf("header %q names %s twice; export one market, or name the columns: --columns "+
				"time,open,high,low,close,volume", clipText(line), fieldNames[which])
		}
	}
	if at := slices.IndexFunc(fields, volumeOf(base)); at >= 0 {
		l.column[fieldVolume] = at
	}
	return nil
}

// volumeOf matches the name of a column with the volume in units of an asset: "Volume BTC",
// "volume_(btc)".
func volumeOf(asset string) func(field []byte) bool {
	want := "volume_" + strings.ToLower(asset)
	return func(field []byte) bool {
		name, _ := headerName(field)
		return name == want
	}
}

// findClock finds a column with the time of day beside one with the date, by the first row.
func (l *csvLayout) findClock(names [][]byte, row []byte) {
	fields := splitLine(nil, row, l.separator)
	date := l.column[fieldTime]
	if date >= len(fields) || !isDate(fields[date]) {
		return
	}
	for at, name := range names {
		if which, known := columnOf(name); known && which == fieldTime && at != date && at < len(fields) &&
			isClock(fields[at]) {
			l.clock = at
			return
		}
	}
}

// joinClock moves the columns of a file without a header whose second column is the time of day.
func (l *csvLayout) joinClock(row []byte) {
	fields := splitLine(nil, row, l.separator)
	if len(fields) < fieldCount || !isDate(fields[0]) || bytes.IndexByte(fields[1], ':') < 0 || !isClock(fields[1]) {
		return
	}
	l.clock = 1
	for which := fieldOpen; which < fieldCount; which++ {
		if l.column[which] >= 0 {
			l.column[which]++
		}
	}
}

// isDate reports whether a text is a day without a time of day.
func isDate(text []byte) bool {
	digits := 0
	for _, b := range text {
		switch {
		case b >= '0' && b <= '9':
			digits++
		case b != '.' && b != '-' && b != '/':
			return false
		}
	}
	return digits == 8 && len(text) <= 10
}

// isClock reports whether a text is a time of day: 09:30, 09:30:00, 0930 or 093000.
func isClock(text []byte) bool {
	colons := bytes.Count(text, []byte(":"))
	plain := bytes.ReplaceAll(text, []byte(":"), nil)
	return len(plain) >= 3 && len(plain) <= 6 && (colons > 0 || len(plain)%2 == 0) &&
		bytes.Trim(plain, "0123456789") == nil
}

// foreign names a file that is no CSV.
func foreign(head []byte) error {
	for _, kind := range foreignKinds {
		if bytes.HasPrefix(head, []byte(kind.magic)) {
			return fmt.Errorf("it is %s, not CSV; %s", kind.name, kind.mend)
		}
	}
	start := bytes.ToLower(bytes.TrimSpace(head[:min(len(head), 1000)]))
	for _, tag := range []string{"<!", "<html", "<?xml", "<head", "<body"} {
		if bytes.HasPrefix(start, []byte(tag)) {
			return errors.New("it is a page for a browser (HTML or XML), not CSV; download the file itself: such a " +
				"page " +
				"often says why it was not sent")
		}
	}
	if bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("[")) {
		return errors.New("it is JSON, not CSV; make rows of it, for a list of lists with: jq -r '.[] | @csv' FILE")
	}
	return nil
}

// foreignKinds are files that people have beside CSV, by their first bytes.
var foreignKinds = []struct{ magic, name, mend string }{
	{"PK\x03\x04", "a zip", "give its path, not its content, or unpack it: unzip -p FILE"},
	{"PAR1", "Parquet", "write it as CSV first"},
	{"SQLite format 3", "a database of SQLite", "write its table as CSV first"},
	{"\x28\xb5\x2f\xfd", "packed by zstd", "unpack it: zstd -dc FILE | bot candles import … -"},
	{"BZh", "packed by bzip2", "unpack it: bzip2 -dc FILE | bot candles import … -"},
	{"\xfd7zXZ", "packed by xz", "unpack it: xz -dc FILE | bot candles import … -"},
	{"7z\xbc\xaf", "packed by 7-Zip", "unpack it first"},
	{"\xd0\xcf\x11\xe0", "an old Excel file", "save the sheet as CSV"},
	{"%PDF", "PDF", "look for the same data as CSV"},
}
