package candles

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// importFaults has the counts and the first errors of an import's bad rows.
type importFaults struct {
	impossible bool        // a row was an impossible candle
	future     bool        // a row lies in the future
	unfit      bool        // a volume did not fit, or had more decimals than any number
	short      bool        // a row ended before its volume
	date       string      // a time that may begin with the day or the month; empty: none does
	dayFirst   bool        // one of these begins with a number above 12, so with the day
	monthFirst bool        // one has such a number in the second place
	whole      int64       // the largest of those volumes, without decimals
	unaligned  int64       // rows that were no start of a candle
	last       market.Time // the latest of them
	high       int64       // the highest price that did not fit with its decimals, without them; 0: all did

	apart [market.Interval1M + 1]int64 // by interval: rows so far from the row before; few where that is the named one
	other int64                        // rows at another distance
	least market.Duration              // the least of all these distances; 0: there were none
	up    bool                         // a row was later than the row before
	down  bool                         // a row was earlier
}

// note notes the reason of a row that could not be read.
func (f *importFaults) note(err error) {
	if short, is := errors.AsType[*shortRowError](err); is {
		f.short = f.short || short.field == fieldVolume
	}
	if long, is := errors.AsType[*longPriceError](err); is {
		f.high = max(f.high, long.whole)
	}
	order, is := errors.AsType[*dateOrderError](err)
	if !is {
		return
	}
	f.date = cmp.Or(f.date, order.text)
	var first, second int // 0 where there is no number
	_, _ = fmt.Sscanf(strings.NewReplacer(".", " ", "-", " ", "/", " ").Replace(order.text), "%d %d", &first, &second)
	f.dayFirst, f.monthFirst = f.dayFirst || first > 12, f.monthFirst || second > 12
}

// dateHint names the format of dates that begin with the day or the month.
func (f *importFaults) dateHint() string {
	day, month := formats(f.date)
	switch {
	case f.dayFirst && !f.monthFirst:
		return fmt.Sprintf("The times begin with the day. Say so: --time-format %q", day)
	case f.monthFirst && !f.dayFirst:
		return fmt.Sprintf("The times begin with the month. Say so: --time-format %q", month)
	}
	return fmt.Sprintf("Say which: --time-format %q, or --time-format %q", day, month)
}

// misaligned notes a row that is no start of a candle, and says so.
func (c *csvImport) misaligned(start market.Time) error {
	c.faults.last, c.faults.unaligned = start, c.faults.unaligned+1
	return fmt.Errorf("%s is no start of a %s candle", start, c.options.Interval)
}

// space notes how far a row is from the row before.
func (f *importFaults) space(apart market.Duration) {
	const hour = market.Duration(60 * 60 * 1e9)
	f.up, f.down = f.up || apart > 0, f.down || apart < 0
	if apart = max(apart, -apart); apart > 0 && (f.least == 0 || apart < f.least) {
		f.least = apart
	}
	for k := range f.apart {
		k := market.Interval(k)
		if k < market.Interval1m {
			continue
		}
		least, most := k.Fixed(), k.Fixed()
		switch {
		case k == market.Interval1M:
			least, most = 28*24*hour-hour, 31*24*hour+hour
		case k >= market.Interval1d:
			least, most = least-hour, most+hour // a zone's clock is put forward or back
		}
		if apart >= least && apart <= most {
			f.apart[k]++
			return
		}
	}
	f.other++
}

// checkStarts refuses a file whose rows are those of another interval, or begin elsewhere than the
// candles of a store. SkipBad is for single rows.
func (c *csvImport) checkStarts() error {
	f, named := &c.faults, c.options.Interval
	best, noted := named, f.other
	for k := market.Interval1m; k <= market.Interval1M; k++ {
		noted += f.apart[k]
	}
	distances := max(c.report.Rows-1, noted)
	f.apart[named] += distances - noted
	for k := market.Interval1m; k <= market.Interval1M; k++ {
		if f.apart[k] > f.apart[best] {
			best = k
		}
	}
	elsewhere := f.unaligned >= 2 && 3*f.unaligned >= c.report.Rows
	inOrder := !f.up || !f.down // or distances say little
	most := 2*f.apart[best] > distances || inOrder && f.apart[named] == 0 && best.Fixed() <= f.least
	most = most && distances >= fewRows-1
	if best > named { // or candles without trades are left out
		most = most && !c.options.Complete && 20*f.apart[named] < distances
	}
	switch {
	case best != named && (most || elsewhere):
		return &SpacingError{Interval: named, Found: best}
	case elsewhere && f.apart[named] > 0:
		return &OffsetError{Interval: named, Start: f.last}
	}
	return nil
}

// OffsetError refuses candles that begin at other times than those of a store.
type OffsetError struct {
	Interval market.Interval
	Start    market.Time // of the last one
}

// Error says when they should begin, and what reads them.
func (e *OffsetError) Error() string {
	return fmt.Sprintf("the candles begin at other times than those of a store: one begins at %s, where a %s candle "+
		"begins at %s (UTC); --own-clock reads them by the clock of their own zone, and counts each from the "+
		"beginning of its %s", e.Start, e.Interval, e.Interval.Floor(e.Start), e.Interval)
}

// hint says what may mend the bad rows.
func (c *csvImport) hint() string {
	switch {
	case c.faults.date != "":
		return c.faults.dateHint()
	case c.faults.future:
		return "The rows lie in the future: if the unit of the times was guessed wrongly, name it, like " +
			"--time-format ms."
	case c.faults.high > 0:
		return fmt.Sprintf("Prices up to %d do not fit in 64 bits with so many decimals. Round them: --price-digits %d",
			c.faults.high, priceDigits(c.faults.high))
	case c.faults.short && !c.layout.header:
		return "The rows have no volume: --no-volume imports them without."
	case c.faults.impossible && !c.layout.header && len(c.options.Columns) == 0:
		return "The file has no header. If its columns have another order, name them: --columns " +
			"time,low,high,open,close,volume"
	}
	return ""
}

// outside says why a row's time is not taken.
func (c *csvImport) outside() error {
	if start := c.row.start; start >= minCandleTime && start < maxCandleTime {
		switch {
		case start > c.options.Now:
		case c.options.OwnClock || c.options.Interval.Aligned(start):
			return errRunning
		default:
			return c.misaligned(start)
		}
		c.faults.future = true
		return fmt.Errorf("time %s lies in the future", start)
	}
	return fmt.Errorf("time %s lies outside the years 1700 to 2199", c.row.start)
}

// errRunning: the candle has not ended.
var errRunning = errors.New("the candle still runs")

// errVolumeUnfit: a volume needs more decimals than fit beside the others.
var errVolumeUnfit = errors.New("the volume has more decimals than fit")

// unfit notes a volume that does not fit. If volumes are rounded already, the row is bad.
func (c *csvImport) unfit(err error) error {
	if c.options.RoundVolumes {
		return fmt.Errorf("volume with %d decimals: %w", c.options.VolumeDigits, err)
	}
	c.noteUnfit(c.row.values[4] / market.Pow10(c.row.digits[4]))
	return errVolumeUnfit
}

func (c *csvImport) noteUnfit(whole int64) {
	c.faults.unfit, c.faults.whole = true, max(c.faults.whole, whole)
}

// roundLong rounds a volume with more decimals than a number holds. ok: the row goes on.
func (c *csvImport) roundLong() (ok bool) {
	row := &c.row
	if !c.options.RoundVolumes {
		whole, _ := roundVolume(row.longVolume, 0) // slowRow has read it
		c.noteUnfit(whole)
		return false
	}
	value, ok := roundVolume(row.longVolume, c.options.VolumeDigits)
	if !ok {
		c.bad(fmt.Sprintf("volume does not fit with %d decimals", c.options.VolumeDigits))
		return false
	}
	row.values[4], row.digits[4] = value, c.options.VolumeDigits
	c.report.Rounded++
	return true
}

// roundPrices rounds the prices of the row to the nearest with the decimals of the options.
func (c *csvImport) roundPrices() {
	row, digits := &c.row, c.options.PriceDigits
	rounded := row.rounded
	for i := range row.values[:4] {
		if row.digits[i] > digits {
			rounded = true
			unit := market.Pow10(row.digits[i] - digits)
			value, rest := row.values[i]/unit, row.values[i]%unit
			if rest >= unit-rest {
				value++
			}
			row.values[i], row.digits[i] = value, digits
		}
	}
	if row.rounded = false; rounded {
		c.report.RoundedPrices, c.report.RoundDigits = c.report.RoundedPrices+1, digits
	}
}

// priceDigits are the decimals with which prices up to a whole one have at most 10^15 units:
// float64 holds those, and int64 the sums of thousands.
func priceDigits(highest int64) (digits uint8) {
	for digits < market.MaxDigits && highest < 1e15/market.Pow10(digits+1) {
		digits++
	}
	return digits
}

// roundVolume rounds the volume of the row to the nearest with the decimals of the options.
func (c *csvImport) roundVolume() {
	row, digits := &c.row, c.options.VolumeDigits
	unit := market.Pow10(row.digits[4] - digits)
	value, rest := row.values[4]/unit, row.values[4]%unit
	if rest >= unit-rest {
		value++
	}
	if rest != 0 {
		c.report.Rounded++
	}
	row.values[4], row.digits[4] = value, digits
}

// VolumeError refuses volumes with more decimals than fit beside the largest in 64 bits, float
// noise for example.
type VolumeError struct {
	Digits uint8 // the most decimals that fit
}

// Error says how to round them.
func (e *VolumeError) Error() string {
	return fmt.Sprintf("volumes have more decimals than fit beside the largest; round them: --volume-digits %d",
		e.Digits)
}

// volumeError finds the decimals that fit beside the largest volume.
func (c *csvImport) volumeError() error {
	whole := max(c.faults.whole, int64(c.load.maxVolume)/market.Pow10(c.load.volumeDigits))
	digits := uint8(0)
	for digits < market.MaxDigits && whole < math.MaxInt64/market.Pow10(digits+1)-1 {
		digits++
	}
	return &VolumeError{digits}
}

// SpacingError refuses candles of another interval than the one that was named.
type SpacingError struct {
	Interval, Found market.Interval
}

// Error names both.
func (e *SpacingError) Error() string {
	if e.Found < e.Interval {
		return fmt.Sprintf("the rows are %s apart, not %s: did you mean --interval %s? (bot candles resample makes "+
			"longer candles of them)", e.Found, e.Interval, e.Found)
	}
	return fmt.Sprintf("the rows are %s apart, not %s: did you mean --interval %s? (--complete if there were no "+
		"trades between them)", e.Found, e.Interval, e.Found)
}

// fewRows are too few to tell the interval of a file.
const fewRows = 3
