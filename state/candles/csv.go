package candles

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// ImportOptions describe a CSV file and the treatment of its rows.
type ImportOptions struct {
	WriteOptions
	Complete bool              // the file has each candle with a trade between its first and last
	SkipBad  bool              // skip and count bad rows; otherwise one bad row refuses the whole file
	Progress func(bytes int64) // unless nil, called with the bytes read, about every megabyte and at the end

	// Columns are the columns in their order, in place of a header: time, clock (the time of day
	// beside a date), open, high, low, close, volume, and "-" for one to ignore.
	Columns []string
	// TimeFormat is the form of times with the codes of strftime, like "%d/%m/%Y %H:%M", or the
	// unit of Unix times: s, ms, us or ns. Empty: ImportCSV finds it.
	TimeFormat string
	Decimal    string // decimal sign: comma or point; empty: found in the first rows
	NoVolume   bool   // the file has no volumes: they are 0
	// RoundVolumes rounds volumes to VolumeDigits. Otherwise they are rounded, to the decimals that
	// fit beside the largest, only where they would not fit.
	RoundVolumes bool
	// RoundPrices rounds prices to PriceDigits. Otherwise a price that does not fit makes its row
	// bad, and the error names the decimals that fit.
	RoundPrices bool
	Swap        *Swap       // the file has the market's earlier asset; nil: it has the present one
	Now         market.Time // rows that start later are bad, a candle that still runs is left out; 0: neither
	// OwnClock reads times by the clock of their own zone, and counts a candle from the start of
	// its interval: a day of New York becomes that day of UTC.
	OwnClock bool
}

// ImportReport counts what an import did. Rows = Bad + Duplicates + Added + Unchanged + Kept +
// Ended + Replaced.
type ImportReport struct {
	WriteReport
	Rows          int64 // lines with data: neither blank nor header
	Duplicates    int64 // equal to an earlier row, and dropped
	Unordered     int64 // earlier than the row above; accepted
	Bad           int64 // rows skipped under SkipBad
	BadRows       []BadRow
	Empty         int64       // lines with a time and null for the prices; skipped, and not in Rows
	Above         int64       // lines above the tables: headers and titles
	Rounded       int64       // volumes that were rounded
	RoundedPrices int64       // rows whose prices were rounded
	RoundDigits   uint8       // decimals to which they were rounded
	FineDigits    uint8       // decimals that prices should have where they are Fine
	Fine          bool        // prices have more units than float64 and sums of many candles hold
	Missing       int64       // candles missing between First and Last; 0 if the file is complete
	Files         int         // with rows
	Running       int64       // rows of a candle that has not ended; skipped, and not in Rows
	After         int64       // rows at or after the end of a Swap; skipped, and not in Rows
	First         market.Time // start of the earliest candle of the file
	Last          market.Time // start of the latest
	Bytes         int64
}

// BadRow is a row that cannot be stored. A report lists the first five.
type BadRow struct {
	File   string // empty: the only one
	Line   int64  // from 1
	Text   string // clipped
	Reason string
}

// BadRowsError refuses a file because of its bad rows.
type BadRowsError struct {
	Total int64
	Rows  []BadRow // the first five
	Hint  string   // what may mend them all; empty: nothing is known
}

// Place is the file and line of the row.
func (r *BadRow) Place() string {
	if r.File == "" {
		return fmt.Sprintf("line %d", r.Line)
	}
	return fmt.Sprintf("%s line %d", r.File, r.Line)
}

// Error lists the rows.
func (e *BadRowsError) Error() string {
	var text strings.Builder
	rows := "rows"
	if e.Total == 1 {
		rows = "row"
	}
	fmt.Fprintf(&text, "%d bad %s, nothing imported (--skip-bad leaves such rows out):", e.Total, rows)
	for i := range e.Rows {
		fmt.Fprintf(&text, "\n  %s: %s: %q", e.Rows[i].Place(), e.Rows[i].Reason, e.Rows[i].Text)
	}
	if more := e.Total - int64(len(e.Rows)); more > 0 {
		fmt.Fprintf(&text, "\n  and %d more", more)
	}
	if e.Hint != "" {
		text.WriteString("\n" + e.Hint)
	}
	return text.String()
}

const (
	maxBadRows  = 5
	maxLine     = 1 << 18
	maxRowText  = 80
	progressGap = 1 << 20
)

// ImportCSV reads candles from CSV, gzip of it too, and stores them in one transaction: after any
// error nothing has changed. Nothing but the first lines decides about the form of the file.
//
// A header names the columns: timestamp, time, date or unix with an optional _s, _ms, _us or _ns;
// open, high, low, close, volume; in any order, others are ignored. A volume named after the base
// of the market comes before others; a first column without a name is the time. Lines above the
// header are skipped. Without a header the columns are time, open, high, low, close, volume;
// further columns are ignored. Times are Unix s, ms, µs or ns (their size tells the unit), RFC
// 3339, "2006-01-02 15:04:05" or a date, the year first, UTC unless they name a zone; the time of
// day may have a column of its own. The separator is comma, semicolon, tab or bar. A byte order
// mark, UTF-16, CRLF, blank lines and quotes are allowed, and decimal commas and signs between
// thousands where they can be told apart.
//
// A row equal to an earlier one is dropped and counted, as is a row with null for its prices.
// Unordered rows are sorted and counted. A row is bad if it cannot be read, is an impossible candle
// (market.Candle.Check), does not start on the interval, starts after Now, needs more decimals than
// fit beside the others, or has the start of an earlier row and other values. Bad rows give a
// *BadRowsError, or under SkipBad are counted and skipped; a file with bad rows never counts as
// complete. A file whose candles lie further apart than the interval gives a *SpacingError, unless
// it is complete. Volumes that need more decimals than fit give a *VolumeError; ImportFiles rounds
// them.
func (s *Store) ImportCSV(r io.Reader, o ImportOptions) (ImportReport, error) {
	return s.importFiles([]File{Stream(r)}, o)
}

// ImportFiles imports files as ImportCSV does one, all in one transaction. If volumes need more
// decimals than fit beside the largest, it reads the files again and rounds them.
func (s *Store) ImportFiles(files []File, o ImportOptions) (ImportReport, error) {
	report, err := s.importFiles(files, o)
	if volume, is := errors.AsType[*VolumeError](err); is && !files[0].once {
		o.RoundVolumes, o.VolumeDigits = true, volume.Digits
		return s.importFiles(files, o)
	}
	return report, err
}

func (s *Store) importFiles(files []File, o ImportOptions) (ImportReport, error) {
	err := o.check()
	if err == nil && o.Swap != nil {
		err = o.Swap.check()
	}
	if err != nil {
		return ImportReport{}, fmt.Errorf("import: %w", err)
	}
	o.Goes = o.Now != 0
	c := s.newImport(&o)
	err = errors.Join(c.run(s, files), c.load.close())
	if err != nil {
		err = fmt.Errorf("import: %w", err)
	}
	return c.report, err
}

// ParseCSV reads candles as ImportCSV does, and stores nothing: it returns them in order, in the
// decimals of the report. All of them are in memory.
func ParseCSV(r io.Reader, o ImportOptions) (list []market.Candle, report ImportReport, err error) {
	if err := o.check(); err != nil {
		return nil, report, err
	}
	c := (&Store{maxSpool: math.MaxInt}).newImport(&o)
	if err := c.readFiles([]File{Stream(r)}); err != nil {
		return nil, c.report, err
	}
	if _, err := c.finish(); err != nil {
		return nil, c.report, err
	}
	c.report.PriceDigits, c.report.VolumeDigits = c.load.neededDigits(o.PriceDigits, o.VolumeDigits)
	for _, number := range sortedKeys(c.load.spool.chunks) {
		list, err = decodeChunk(list, o.Interval, number, c.load.spool.chunks[number].packed, c.report.PriceDigits,
			c.report.VolumeDigits)
		if err != nil {
			return nil, c.report, err
		}
	}
	return list, c.report, nil
}

// newImport begins an import.
func (s *Store) newImport(o *ImportOptions) *csvImport {
	c := &csvImport{options: o, step: market.Time(o.Interval.Fixed())}
	c.previous = minCandleTime - c.step - 1 // no row follows it
	if c.end = maxCandleTime; o.Now != 0 && o.Now < c.end {
		c.end = o.Interval.Floor(o.Now) // of the candle that runs
	}
	c.load = s.newLoader(o.Interval, c.conflict)
	c.candle.Interval = o.Interval
	return c
}

// csvImport is one run of ImportCSV up to the commit.
type csvImport struct {
	options      *ImportOptions
	report       ImportReport
	load         *loader
	layout       csvLayout
	files        []startOf   // of the lines of each file
	end          market.Time // rows that start then or later are bad
	line         int64       // of all files
	text         []byte      // of the current line
	row          csvRow
	digits       [5]uint8    // of a row with the loader's decimals
	previous     market.Time // start of the last candle
	start        market.Time // of the last row; 0: there was none
	index        int64       // of that start
	step         market.Time // to the next start; 0: it varies
	candle       market.Candle
	lastProgress int64 // bytes at the last call of Progress
	faults       importFaults
}

func (c *csvImport) run(s *Store, files []File) error {
	if err := c.readFiles(files); err != nil {
		return err
	}
	complete, err := c.finish()
	if err != nil {
		return err
	}
	c.report.WriteReport, err = s.commit(c.options.WriteOptions, c.load, complete)
	return err
}

func (c *csvImport) readAll(in *bufio.Reader) error {
	if err := c.readHead(in); err != nil {
		return err
	}
	for {
		if err := c.readQuick(in); err != nil {
			return err
		}
		line, err := in.ReadSlice('\n')
		c.line++
		c.report.Bytes += int64(len(line))
		if errors.Is(err, bufio.ErrBufferFull) {
			if err = c.skipLine(in, line); err == nil {
				continue
			}
			line = nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", c.line-c.files[len(c.files)-1].line, err)
		}
		if addErr := c.addLine(line); addErr != nil {
			return addErr
		}
		c.progress(err != nil)
		if err != nil {
			return nil
		}
	}
}

// readQuick reads the rows at the start of the buffer, up to one that quickRow does not take.
func (c *csvImport) readQuick(in *bufio.Reader) error {
	buffer, _ := in.Peek(in.Buffered())
	rest := buffer
	for {
		size := c.layout.quickRow(rest, &c.row)
		if size == 0 {
			break
		}
		c.text, rest = bytes.TrimSuffix(rest[:size-1], []byte("\r")), rest[size:]
		c.line++
		c.report.Rows++
		if err := c.addCandle(); err != nil {
			return err
		}
	}
	c.report.Bytes += int64(len(buffer) - len(rest))
	c.progress(false)
	_, err := in.Discard(len(buffer) - len(rest))
	return err
}

// skipLine reads to the end of a line that is too long for a row.
func (c *csvImport) skipLine(in *bufio.Reader, start []byte) (err error) {
	c.text = start
	c.report.Rows++
	c.bad(fmt.Sprintf("longer than %d bytes", maxLine))
	for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		var more []byte
		more, err = in.ReadSlice('\n')
		c.report.Bytes += int64(len(more))
	}
	return err
}

func (c *csvImport) progress(end bool) {
	if c.options.Progress == nil || !end && c.report.Bytes-c.lastProgress < progressGap {
		return
	}
	c.lastProgress = c.report.Bytes
	c.options.Progress(c.report.Bytes)
}

func (c *csvImport) addLine(line []byte) error {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) == 0 || line[0] <= ' ' && len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	c.text = line
	return c.addRow(line)
}

func (c *csvImport) addRow(line []byte) error {
	c.report.Rows++
	if !c.layout.fastRow(line, &c.row) {
		c.row.longVolume, c.row.rounded = nil, false
		err := c.layout.slowRow(line, &c.row)
		switch {
		case errors.Is(err, errNoValues):
			c.report.Rows--
			c.report.Empty++
			return nil
		case err != nil:
			c.faults.note(err)
			c.bad(err.Error())
			return nil
		case c.row.longVolume != nil && !c.roundLong():
			return nil
		}
		if !c.swap() {
			return nil
		}
	}
	return c.addCandle()
}

// addCandle adds the current row.
func (c *csvImport) addCandle() error {
	index, err := c.makeCandle()
	switch {
	case errors.Is(err, errRunning):
		c.report.Rows--
		c.report.Running++
		return nil
	case errors.Is(err, errVolumeUnfit):
		return nil
	case err != nil:
		c.bad(err.Error())
		return nil
	}
	if c.candle.Start < c.previous {
		c.report.Unordered++
	}
	c.previous, c.index = c.candle.Start, index
	return c.load.add(&c.candle, index, c.line)
}

// makeCandle makes the candle of the current row and returns the index of its start.
func (c *csvImport) makeCandle() (int64, error) {
	row, k := &c.row, &c.candle
	if apart := row.start - c.start; apart != c.step && c.start != 0 {
		c.faults.space(market.Duration(apart))
	}
	c.start = row.start
	if row.start < minCandleTime || row.start >= c.end {
		return 0, c.outside()
	}
	if k.Start = row.start; c.options.OwnClock {
		k.Start = k.Interval.Floor(k.Start)
	}
	index := c.index + 1
	if k.Start != c.previous+c.step || c.step == 0 {
		index = k.Interval.Index(k.Start)
		if k.Interval.StartOf(index) != k.Start {
			return 0, c.misaligned(k.Start)
		}
	}
	if err := c.rescale(); err != nil {
		return 0, err
	}
	v := &row.values
	k.Open, k.High, k.Low, k.Close = market.Price(v[0]), market.Price(v[1]), market.Price(v[2]), market.Price(v[3])
	k.Volume = market.Volume(v[4])
	if k.Low <= 0 || k.High < max(k.Open, k.Close) || k.Low > min(k.Open, k.Close) || k.Volume < 0 {
		return 0, c.impossible()
	}
	return index, nil
}

// impossible says why the candle is impossible, with plain decimals.
func (c *csvImport) impossible() error {
	k := &c.candle
	c.faults.impossible = true
	text := func(p market.Price) string { return market.FormatFixed(int64(p), c.load.priceDigits) }
	switch {
	case k.Low <= 0:
		return fmt.Errorf("low %s is not positive", text(k.Low))
	case k.High < k.Low:
		return fmt.Errorf("high %s is below low %s", text(k.High), text(k.Low))
	case k.Open < k.Low || k.Open > k.High:
		return fmt.Errorf("open %s lies outside low %s and high %s", text(k.Open), text(k.Low), text(k.High))
	case k.Close < k.Low || k.Close > k.High:
		return fmt.Errorf("close %s lies outside low %s and high %s", text(k.Close), text(k.Low), text(k.High))
	}
	return fmt.Errorf("volume %s is negative", market.FormatFixed(int64(k.Volume), c.load.volumeDigits))
}

// rescale converts the row's numbers to the loader's decimals, after it has raised these to what
// the row needs. It returns errVolumeUnfit if the volume alone does not fit.
func (c *csvImport) rescale() error {
	row := &c.row
	if c.options.RoundPrices {
		c.roundPrices()
	}
	if row.digits == c.digits {
		return nil
	}
	if c.options.RoundVolumes && row.digits[4] > c.options.VolumeDigits && row.values[4] > 0 {
		c.roundVolume()
	}
	price := max(row.digits[0], row.digits[1], row.digits[2], row.digits[3])
	if price > c.load.priceDigits || row.digits[4] > c.load.volumeDigits {
		row.dropZeros()
		price = max(row.digits[0], row.digits[1], row.digits[2], row.digits[3], c.load.priceDigits)
		if err := c.load.raise(price, c.load.volumeDigits); err != nil {
			c.faults.high = max(c.faults.high, int64(c.load.maxPrice)/market.Pow10(c.load.priceDigits))
			return fmt.Errorf("more decimals than fit beside earlier rows: %w", err)
		}
		if err := c.load.raise(price, max(row.digits[4], c.load.volumeDigits)); err != nil {
			return c.unfit(err)
		}
		price, volume := c.load.priceDigits, c.load.volumeDigits
		c.digits = [5]uint8{price, price, price, price, volume}
	}
	for i := range row.values {
		digits := c.load.priceDigits
		if i == 4 {
			digits = c.load.volumeDigits
		}
		if row.digits[i] == digits {
			continue
		}
		value, err := market.Rescale(row.values[i], row.digits[i], digits)
		if err != nil && i == 4 {
			return c.unfit(err)
		}
		if err != nil {
			c.faults.high = max(c.faults.high, row.values[i]/market.Pow10(row.digits[i]))
			return err
		}
		row.values[i] = value
	}
	return nil
}

// bad counts the current line as a bad row.
func (c *csvImport) bad(reason string) {
	c.badRow(c.line, string(c.text[:min(len(c.text), 4*maxRowText)]), reason)
}

func (c *csvImport) badRow(line int64, text, reason string) {
	c.report.Bad++
	if len(c.report.BadRows) == maxBadRows {
		return
	}
	if len(text) > maxRowText {
		text = text[:maxRowText] + "…"
	}
	file, line := c.place(line)
	c.report.BadRows = append(c.report.BadRows, BadRow{file, line, text, reason})
}

// conflict is called by the loader. The text of a row that waited in the loader is gone, so it is
// written again.
func (c *csvImport) conflict(k *market.Candle, line int64) {
	text := string(c.text)
	if line != c.line {
		text = string(appendCSVRow(nil, k, c.load.priceDigits, c.load.volumeDigits))
	}
	c.badRow(line, text, fmt.Sprintf("an earlier row starts at %s too and has other values", k.Start))
}

// finish ends the reading and returns the complete ranges.
func (c *csvImport) finish() ([]Range, error) {
	c.text = nil
	c.line++
	if err := c.load.finish(); err != nil {
		return nil, err
	}
	c.report.Duplicates = c.load.duplicates
	if err := c.checkStarts(); err != nil {
		return nil, err
	}
	switch {
	case c.report.Bad > 0 && !c.options.SkipBad:
		return nil, &BadRowsError{c.report.Bad, c.report.BadRows, c.hint()}
	case c.report.Bad > 0 && c.options.Complete:
		return nil, fmt.Errorf("complete was claimed, and %d rows are bad: import without the claim, or repair them",
			c.report.Bad)
	case len(c.load.spool.chunks) == 0 && c.report.Running > 0:
		return nil, fmt.Errorf("its only candle still runs: %w", ErrNoData)
	case len(c.load.spool.chunks) == 0:
		return nil, fmt.Errorf("no rows with candles are in it: %w", ErrNoData)
	case c.faults.unfit:
		return nil, c.volumeError()
	}
	if high := int64(c.load.maxPrice); high > 1<<53 {
		c.report.Fine, c.report.FineDigits = true, priceDigits(high/market.Pow10(c.load.priceDigits))
	}
	first, last := c.load.span()
	c.report.First, c.report.Last = first, last
	if !c.options.Complete {
		k := c.options.Interval
		c.report.Missing = k.Index(last) - k.Index(first) + 1 - (c.report.Rows - c.report.Bad - c.report.Duplicates)
		return nil, nil
	}
	return []Range{{first, c.options.Interval.End(last)}}, nil
}
