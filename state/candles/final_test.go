package candles

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// at is a time as an import has it.
func at(t *testing.T, text string) market.Time {
	at, err := (&csvLayout{}).parseTime([]byte(text))
	require.NoError(t, err)
	return at
}

func TestACandleThatStillRunsIsLeftOutAndItsFinalRowIsStored(t *testing.T) {
	for interval, starts := range map[market.Interval][]string{
		market.Interval1m: {"2024-05-15 11:59", "2024-05-15 12:00"}, market.Interval1h: {"2024-05-15 11:00",
			"2024-05-15 12:00"}, market.Interval1d: {"2024-05-14", "2024-05-15"},
		market.Interval1W: {"2024-05-06", "2024-05-13"}, market.Interval1M: {"2024-04-01", "2024-05-01"},
	} {
		store := openTestStore(t)
		now := at(t, "2024-05-15 12:00:30")
		o := ImportOptions{WriteOptions: WriteOptions{Market: "BTC-EUR", Interval: interval}, Now: now}
		text := func(last string) string {
			return fmt.Sprintf("time,open,high,low,close,volume\n%s,10,11,9,10,5\n%s,%s\n", starts[0], starts[1], last)
		}
		report := importText(t, store, o, text("10,10,10,10,1"))
		require.Equal(t, [3]int64{1, 1, 0}, [3]int64{report.Added, report.Running, report.Bad}, interval)

		o.Now = interval.End(at(t, starts[1])) // it has ended
		report = importText(t, store, o, text("10,12,8,11,7"))
		require.Equal(t, [3]int64{1, 1, 0}, [3]int64{report.Added, report.Unchanged, report.Running}, interval)
	}
}

func TestTheFinalRowReplacesOneThatHadNotEnded(t *testing.T) {
	store, o := openTestStore(t), hourly("BTC-EUR")
	head := "time,open,high,low,close,volume\n2024-05-15 10:00,10,11,9,10,5\n"
	importText(t, store, o, head+"2024-05-15 11:00,10,11,10,11,1\n") // an older program stored it too early
	o.Now = at(t, "2024-05-15 14:00")
	report := importText(t, store, o, head+"2024-05-15 11:00,10,12,9,10,6\n2024-05-15 12:00,10,10,10,10,1\n")
	require.Equal(t, [4]int64{1, 1, 0, 1}, [4]int64{report.Added, report.Unchanged, report.Kept, report.Ended})
	report = importText(t, store, o, head+"2024-05-15 11:00,10,13,9,10,7\n")
	require.EqualValues(t, 1, report.Kept, "it is not the last one any more")
}

func TestAFileOfAnotherIntervalIsRefusedInBothDirections(t *testing.T) {
	starts := map[market.Interval][]string{}
	for k := market.Interval1m; k <= market.Interval1M; k++ {
		first := k.Index(at(t, "2024-03-05 07:01"))
		for i := range int64(60) {
			starts[k] = append(starts[k], k.StartOf(first+i).Std().Format("2006-01-02 15:04"))
		}
	}
	refusing := openTestStore(t)
	for has, rows := range starts {
		text := "time,open,high,low,close,volume\n" + strings.Join(rows, ",1,2,1,2,1\n") + ",1,2,1,2,1\n"
		for named := range starts {
			for i := range 4 {
				o := ImportOptions{WriteOptions: WriteOptions{Market: "BTC-EUR", Interval: named}, SkipBad: i%2 == 1,
					OwnClock: i > 1}
				if has == named {
					importText(t, openTestStore(t), o, text)
					continue
				}
				_, err := refusing.ImportCSV(strings.NewReader(text), o)
				require.ErrorContains(t, err, fmt.Sprintf("the rows are %s apart, not %s: did you mean --interval %s?",
					has, named, has), "%s as %s", has, named)
				require.NotContains(t, err.Error(), "--skip-bad")
			}
		}
	}
}

func TestSingleRowsElsewhereAreBadRows(t *testing.T) {
	o := hourly("BTC-EUR")
	o.SkipBad = true
	report := importText(t, openTestStore(t), o, "time,open,high,low,close,volume\n2024-05-15 10:00,1,2,1,2,1\n"+
		"2024-05-15 10:15,1,2,1,2,1\n2024-05-15 10:30,1,2,1,2,1\n2024-05-15 11:00,1,2,1,2,1\n"+
		"2024-05-15 12:00,1,2,1,2,1\n2024-05-15 13:00,1,2,1,2,1\n2024-05-15 14:00,1,2,1,2,1\n")
	require.EqualValues(t, 2, report.Bad)
}

func TestTimesThatAreNoneSayWhy(t *testing.T) {
	for text, want := range map[string]string{
		"2025-02-29":                           "there is no 29 February 2025",
		"2024/04/31 10:00":                     "there is no 31 April 2024",
		"2024-13-01":                           "there is no month 13",
		"2024-05-01 25:00":                     "there is no time of day 25:00",
		"2024-05-01 24:30":                     "there is no time of day 24:30",
		"2024-05-01 00:00:00 America/New_York": "the zone has a name, America/New_York",
		"2024-05-01 00:00 EST":                 "the zone has a name, EST",
	} {
		_, err := (&csvLayout{}).parseTime([]byte(text))
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "--time-format")
	}
	for text, want := range map[string]string{
		"2024-05-01 24:00": "2024-05-02 00:00", "2024-12-31T24:00:00Z": "2025-01-01",
		"2024-02-28 24:00:00": "2024-02-29", "2024.02.29 24:00": "2024-03-01",
		"2024-05-01T00:00Z": "2024-05-01", "2024-05-01 02:30+02:00": "2024-05-01 00:30",
	} {
		require.Equal(t, at(t, want), at(t, text), text)
	}
}

func TestCandlesThatBeginElsewhereNeedTheirOwnClock(t *testing.T) {
	for interval, rows := range map[market.Interval][]string{
		market.Interval1d: {"2024-03-08 00:00:00-05:00", "2024-03-09 00:00:00-05:00", "2024-03-10 00:00:00-05:00",
			"2024-03-11 00:00:00-04:00", "2024-03-12 00:00:00-04:00"},
		market.Interval1h: {"2024-03-07 09:30:00-05:00", "2024-03-07 10:30:00-05:00", "2024-03-07 11:30:00-05:00"},
		market.Interval1W: {"2024-03-03", "2024-03-10", "2024-03-17"}, // of Sundays
	} {
		text := "Datetime,Open,High,Low,Close,Volume\n" + strings.Join(rows, ",1,2,1,2,1\n") + ",1,2,1,2,1\n"
		o := ImportOptions{WriteOptions: WriteOptions{Market: "A-USD", Interval: interval}}
		for _, o.SkipBad = range []bool{false, true} {
			_, err := openTestStore(t).ImportCSV(strings.NewReader(text), o)
			require.ErrorContains(t, err, "the candles begin at other times than those of a store")
			require.ErrorContains(t, err, "--own-clock")
		}
		o.OwnClock, o.SkipBad = true, false
		store := openTestStore(t)
		report := importText(t, store, o, text)
		require.EqualValues(t, len(rows), report.Added)
		if interval != market.Interval1W {
			require.Equal(t, interval.Floor(at(t, rows[0][:16])), report.First, "the date is its own")
		}
	}
}
