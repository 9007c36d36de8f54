package market_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// drawTime draws a moment between 1700 and 2200, often at or beside the start of a day.
func drawTime(t *rapid.T) market.Time {
	day := rapid.Int64Range(-98_000, 84_000).Draw(t, "day") * int64(24*time.Hour)
	return market.Time(day + rapid.OneOf(rapid.Int64Range(0, int64(24*time.Hour)), rapid.Int64Range(-1, 1)).Draw(t,
		"of day"))
}

func drawInterval(t *rapid.T, label string) market.Interval {
	return rapid.SampledFrom(market.Intervals()).Draw(t, label)
}

func TestTimeOfMillisRefusesWhatTimeCannotHold(t *testing.T) {
	const most = math.MaxInt64 / 1_000_000
	for _, ms := range []int64{most + 1, -most - 1, market.MaxMillis, math.MaxInt64, math.MinInt64} {
		_, err := market.TimeOfMillis(ms)
		require.ErrorIs(t, err, market.ErrOverflow, ms)
	}
	for _, ms := range []int64{0, 1, -1, most, -most, 1702354762111} {
		got, err := market.TimeOfMillis(ms)
		require.NoError(t, err)
		require.Equal(t, ms, got.Millis())
	}
}

func TestTimeOfKeepsNanosecondsAndRefusesFarYears(t *testing.T) {
	std := time.Date(2024, 2, 29, 23, 59, 59, 123456789, time.FixedZone("", 3600))
	got, err := market.TimeOf(std)
	require.NoError(t, err)
	require.True(t, std.Equal(got.Std()))
	require.Equal(t, "2024-02-29T22:59:59.123456789Z", got.String())
	for _, year := range []int{-5, 1, 1699, 2201, 9999} {
		_, err := market.TimeOf(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC))
		require.ErrorIs(t, err, market.ErrOverflow, year)
	}
}

func TestMillisAndDaysRoundDownBefore1970(t *testing.T) {
	require.Equal(t, int64(-1), market.Time(-1).Millis())
	require.Equal(t, int64(0), market.Time(999_999).Millis())
	require.Equal(t, int64(-1), market.Time(-1).Day())
	require.Equal(t, int64(0), market.Time(0).Day())
	require.Equal(t, int64(19782), market.Time(time.Date(2024, 2, 29, 23, 0, 0, 0, time.UTC).UnixNano()).Day())
}

func TestTimesAddAndSubtract(t *testing.T) {
	start := market.Time(1_000)
	require.Equal(t, time.Minute, start.Add(time.Minute).Sub(start))
}

func TestIndexAndStartOfAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval, at := drawInterval(t, "interval"), drawTime(t)
		index, start := interval.Index(at), interval.Floor(at)
		end := interval.End(start)
		require.LessOrEqual(t, start, at)
		require.Less(t, at, end)
		require.Equal(t, start, interval.StartOf(index))
		require.Equal(t, end, interval.StartOf(index+1)) // no gap, no overlap
		require.Equal(t, index, interval.Index(start))
		require.Equal(t, index, interval.Index(end-1))
		require.True(t, interval.Aligned(start))
		require.Equal(t, at == start, interval.Aligned(at))
	})
}

// TestCandlesStartWhereTheCalendarSays checks against time.Time, which counts days and months by
// itself.
func TestCandlesStartWhereTheCalendarSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := drawTime(t)
		day := time.Date(at.Std().Year(), at.Std().Month(), at.Std().Day(), 0, 0, 0, 0, time.UTC)
		for _, interval := range market.Intervals() {
			want := day.Add(at.Std().Sub(day).Truncate(max(interval.Fixed(), 1)))
			switch interval {
			case market.Interval1W:
				want = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
			case market.Interval1M:
				want = time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
			case market.Interval1d:
				want = day
			}
			require.Equal(t, want.Format(time.RFC3339Nano), interval.Floor(at).String(), interval)
		}
	})
}

func TestWeeksStartOnMondayAndCountFrom1970(t *testing.T) {
	require.Equal(t, "1970-01-05T00:00:00Z", market.Interval1W.StartOf(0).String())
	require.Equal(t, "1969-12-29T00:00:00Z", market.Interval1W.Floor(0).String()) // 1970 began on a Thursday
	require.Equal(t, int64(-1), market.Interval1W.Index(0))
}

func TestMonthsHaveTheirOwnLengths(t *testing.T) {
	cases := []struct {
		index      int64
		start, end string
	}{
		{0, "1970-01-01T00:00:00Z", "1970-02-01T00:00:00Z"},
		{-1, "1969-12-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		{-13, "1968-12-01T00:00:00Z", "1969-01-01T00:00:00Z"},
		{649, "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"}, // a leap year
		{637, "2023-02-01T00:00:00Z", "2023-03-01T00:00:00Z"},
	}
	for _, c := range cases {
		start := market.Interval1M.StartOf(c.index)
		require.Equal(t, c.start, start.String())
		require.Equal(t, c.end, market.Interval1M.End(start).String())
		require.Equal(t, c.index, market.Interval1M.Index(start))
	}
	require.Zero(t, market.Interval1M.Fixed())
}

func TestIntervalDividesLongerOnesWhoseCandlesItFills(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		short, long, at := drawInterval(t, "short"), drawInterval(t, "long"), drawTime(t)
		start := long.Floor(at)
		if !short.Divides(long) {
			return
		}
		require.Less(t, short, long)
		require.True(t, short.Aligned(start) && short.Aligned(long.End(start)), "%s does not fill the %s candle of %s",
			short, long, start)
	})
	for _, pair := range [][2]market.Interval{{market.Interval1m, market.Interval1M},
		{market.Interval1h, market.Interval4h}, {market.Interval1d, market.Interval1W}, {market.Interval4h,
			market.Interval8h}} {
		require.True(t, pair[0].Divides(pair[1]), pair)
	}
	for _, pair := range [][2]market.Interval{{market.Interval1W, market.Interval1M},
		{market.Interval4h, market.Interval6h}, {market.Interval1h, market.Interval1h}, {market.Interval1d,
			market.Interval1h}} {
		require.False(t, pair[0].Divides(pair[1]), pair)
	}
}

func TestSmallerIntervalsAreShorter(t *testing.T) {
	all := market.Intervals()
	require.Len(t, all, 13)
	for i := 1; i < len(all); i++ {
		require.Less(t, all[i-1], all[i])
		require.Less(t, all[i-1].End(0), all[i].End(0), all[i])
	}
}

func TestTheWeekdayIsThatOfTheUTCDay(t *testing.T) {
	for day := range int64(5000) {
		at := market.Time((day - 2500) * int64(24*time.Hour))
		require.Equal(t, at.Std().Weekday(), at.Weekday())
		require.Equal(t, (at - 1).Std().Weekday(), (at - 1).Weekday())
	}
}

// A day is all instants with its date: it begins with the first of them, whatever the clocks do at
// midnight.
func TestMidnightIsTheFirstInstantOfADay(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Amsterdam", "Asia/Kolkata", "Asia/Kathmandu", "America/Santiago",
		"America/Havana", "Atlantic/Azores", "Africa/Cairo", "Asia/Beirut", "Asia/Amman", "America/Sao_Paulo",
		"Australia/Lord_Howe", "Pacific/Chatham"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for number := range 14 * 365 {
			have := market.Midnight(2014, 1, 1+number, zone)
			date := time.Date(2014, 1, 1+number, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			require.Equal(t, date, have.Format(time.DateOnly), name)
			for _, before := range []time.Duration{1, 30 * time.Minute, time.Hour} {
				require.NotEqual(t, date, have.Add(-before).Format(time.DateOnly), "%s: %v before %v", name, before,
					have)
			}
		}
	}
}
