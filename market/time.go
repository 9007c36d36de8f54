package market

import (
	"fmt"
	"math"
	"time"
)

// Time is a moment in nanoseconds since 1970-01-01 UTC, from 1678 to 2262. TimeOfMillis checks a
// time that comes from outside.
type Time int64

// Duration is a span in nanoseconds.
type Duration = time.Duration

// MaxMillis is the largest timestamp the exchange accepts (specification 4.3); Time ends earlier,
// in 2262.
const MaxMillis = 8640000000000000

const maxTimeMillis = math.MaxInt64 / int64(time.Millisecond)

// TimeOfMillis converts Unix milliseconds. It wraps ErrOverflow outside what Time can hold.
func TimeOfMillis(ms int64) (Time, error) {
	if ms > maxTimeMillis || ms < -maxTimeMillis {
		return 0, fmt.Errorf("time %d ms: %w", ms, ErrOverflow)
	}
	return Time(ms * int64(time.Millisecond)), nil
}

// TimeOf converts t. It wraps ErrOverflow outside the years 1700 to 2200.
func TimeOf(t time.Time) (Time, error) {
	if t.Year() < 1700 || t.Year() > 2200 {
		return 0, fmt.Errorf("time %s: %w", t.Format(time.RFC3339), ErrOverflow)
	}
	return Time(t.UnixNano()), nil
}

// Millis returns t in Unix milliseconds, rounded down.
func (t Time) Millis() int64 {
	return int64(FloorTo(t, Time(time.Millisecond))) / int64(time.Millisecond)
}

// Add returns t+d.
func (t Time) Add(d Duration) Time { return t + Time(d) }

// Sub returns t-u.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// Day returns the number of UTC days between 1970-01-01 and t, rounded down. A day of this project
// is a UTC day.
func (t Time) Day() int64 { return int64(FloorTo(t, Time(day))) / int64(day) }

// Weekday returns the day of the week of t's UTC day.
func (t Time) Weekday() time.Weekday {
	return time.Weekday(t.Day() + 4 - FloorTo(t.Day()+4, 7)) // 1970-01-01 was a Thursday
}

// Midnight returns when a day begins in a time zone: mostly at 0:00. Where clocks skip 0:00, as in
// Santiago and Havana in spring, the day begins later; where 0:00 comes twice, with the first one.
// Month and day may lie outside their ranges, as for time.Date.
func Midnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	wanted := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	start, end := t.ZoneBounds()
	if t.Hour() != 0 || t.Minute() != 0 { // skipped: t is some time around the change of the clocks
		if t.Day() != wanted.Day() {
			return end
		}
		return start
	}
	if before := start.Add(-1); !start.IsZero() && before.Day() == wanted.Day() && before.Month() == wanted.Month() &&
		before.Year() == wanted.Year() {
		_, offset := before.Zone()
		return wanted.Add(-time.Duration(offset) * time.Second).In(zone)
	}
	return t
}

// Std returns t as a time.Time in UTC.
func (t Time) Std() time.Time { return time.Unix(0, int64(t)).UTC() }

// String returns t in RFC 3339 with as many decimals of a second as it needs.
func (t Time) String() string { return t.Std().Format(time.RFC3339Nano) }

const day = 24 * time.Hour

// Interval is the length of a candle, one of the thirteen that the exchange knows (venue-facts
// 1.2).
type Interval uint8

// The intervals, shortest first, so that a smaller Interval is a shorter one. Zero is no interval.
const (
	Interval1m Interval = iota + 1
	Interval5m
	Interval15m
	Interval30m
	Interval1h
	Interval2h
	Interval4h
	Interval6h
	Interval8h
	Interval12h
	Interval1d
	Interval1W // Monday to Monday
	Interval1M // a calendar month
)

var intervals = table[Interval]{"interval", []string{"", "1m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h",
	"1d", "1W", "1M"}}

var intervalLength = [...]Duration{
	Interval1m: time.Minute, Interval5m: 5 * time.Minute, Interval15m: 15 * time.Minute, Interval30m: 30 * time.Minute,
	Interval1h: time.Hour, Interval2h: 2 * time.Hour, Interval4h: 4 * time.Hour, Interval6h: 6 * time.Hour,
	Interval8h: 8 * time.Hour, Interval12h: 12 * time.Hour, Interval1d: day, Interval1W: 7 * day, Interval1M: 0,
}

// monday is the first Monday of Unix time, 1970-01-05, where weeks are counted from.
const monday = Time(4 * day)

// IntervalSlots is the length of a slice that has a place for each interval.
const IntervalSlots = int(Interval1M) + 1

// Intervals returns all intervals, shortest first.
func Intervals() []Interval {
	all := make([]Interval, 0, int(Interval1M))
	for i := Interval1m; i <= Interval1M; i++ {
		all = append(all, i)
	}
	return all
}

// ParseInterval reads "1m" … "1M" (a month; case matters).
func ParseInterval(text string) (Interval, error) { return intervals.parse(text) }

// String returns the exchange's text.
func (i Interval) String() string { return intervals.text(i) }

// MarshalText returns the exchange's text.
func (i Interval) MarshalText() ([]byte, error) { return intervals.marshal(i) }

func (Interval) words() []string { return intervals.texts[1:] }

// UnmarshalText is ParseInterval.
func (i *Interval) UnmarshalText(text []byte) error { return intervals.unmarshal(i, text) }

// Fixed returns the interval's length, or 0 for Interval1M, whose length varies.
func (i Interval) Fixed() Duration { return intervalLength[i] }

// End returns the end (exclusive) of the candle that starts at start.
func (i Interval) End(start Time) Time {
	if length := intervalLength[i]; length != 0 {
		return start + Time(length)
	}
	return i.next(start)
}

// next returns the start of the candle after the one that contains t.
func (i Interval) next(t Time) Time { return i.StartOf(i.Index(t) + 1) }

// Floor returns the start of the candle that contains t.
func (i Interval) Floor(t Time) Time { return i.StartOf(i.Index(t)) }

// Aligned reports whether t is the start of a candle.
func (i Interval) Aligned(t Time) bool { return i.Floor(t) == t }

// Index numbers the candles: the candle that contains t is the Index-th since 1970 (weeks since
// Monday 1970-01-05, months since January 1970). Consecutive candles have consecutive numbers.
func (i Interval) Index(t Time) int64 {
	switch i {
	case Interval1M:
		std := t.Std()
		return int64(std.Year()-1970)*12 + int64(std.Month()-1)
	case Interval1W:
		t -= monday
	}
	length := Time(intervalLength[i])
	return int64(FloorTo(t, length) / length)
}

// StartOf returns the start of the candle numbered index; it is the inverse of Index.
func (i Interval) StartOf(index int64) Time {
	switch i {
	case Interval1M:
		return Time(time.Date(1970, time.Month(1+index), 1, 0, 0, 0, 0, time.UTC).UnixNano())
	case Interval1W:
		return monday + Time(index)*Time(7*day)
	}
	return Time(index) * Time(intervalLength[i])
}

// Divides reports whether candles of i can be merged into candles of longer: every longer candle
// starts and ends with one.
func (i Interval) Divides(longer Interval) bool {
	switch {
	case i >= longer:
		return false
	case longer == Interval1M || longer == Interval1W:
		return i <= Interval1d
	}
	return intervalLength[longer]%intervalLength[i] == 0
}
