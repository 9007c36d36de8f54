package candles

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func resample(t *testing.T, store *Store, from, to market.Interval) WriteReport {
	t.Helper()
	report, err := store.Resample(ResampleOptions{Market: "BTC-EUR", From: from, To: to})
	require.NoError(t, err)
	return report
}

// TestResampledHoursAreTheVenuesFourHours checks against candles that the venue made itself.
func TestResampledHoursAreTheVenuesFourHours(t *testing.T) {
	hours, venue := sharedData(t, "bitvavo_BTC-EUR_1h_2020-2024.csv"), sharedData(t, "bitvavo_BTC-EUR_4h_2022-2024.csv")
	store, oracle := openTestStore(t), openTestStore(t)
	importText(t, store, hourly("BTC-EUR"), hours)
	importText(t, oracle, ImportOptions{WriteOptions: WriteOptions{Market: "BTC-EUR", Interval: market.Interval4h}},
		venue)
	resample(t, store, market.Interval1h, market.Interval4h)

	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}
	full := map[market.Time]int{}
	for _, c := range readAll(t, store, ReadOptions{Market: m, Interval: market.Interval1h}) {
		full[market.Interval4h.Floor(c.Start)]++
	}
	made := map[market.Time]market.Candle{}
	for _, c := range readAll(t, store, ReadOptions{Market: m, Interval: market.Interval4h}) {
		made[c.Start] = c
	}
	compared := 0
	for _, want := range readAll(t, oracle, ReadOptions{Market: m, Interval: market.Interval4h}) {
		if full[want.Start] == 4 {
			require.Equal(t, want, made[want.Start], want.Start.String())
			compared++
		}
	}
	require.Greater(t, compared, 5000)
}

func TestResampleTakesFirstHighestLowestLastAndSum(t *testing.T) {
	store := openTestStore(t)
	importText(t, store, hourly("BTC-EUR"),
		"1577836800000,10,15,9,11,1.5\n1577844000000,12,13,8,12.5,0.25\n1577847600000,12,12.75,12,12.25,0\n1577851200000,1,1,1,1,1\n")
	report := resample(t, store, market.Interval1h, market.Interval4h)
	require.EqualValues(t, 1, report.Added, "the bucket at the end is not whole")
	require.Equal(t, "timestamp_ms,open,high,low,close,volume\n1577836800000,10,15,8,12.25,1.75\n",
		exportText(t, store, "BTC-EUR", market.Interval4h))
}

func TestResampleMakesNoHalfBucketAtTheEdges(t *testing.T) {
	store := openTestStore(t)
	put(t, store, flat(3, 4, 6, 20, 24))
	require.EqualValues(t, 2, resample(t, store, market.Interval1h, market.Interval4h).Added,
		"4–8 and 20–24; none for 8–20, where nothing is")
	require.Contains(t, exportText(t, store, "BTC-EUR", market.Interval4h),
		"\n1577851200000,100.04,100.06,100.04,100.06,0.0002\n")

	// The same candles from a complete source: it is known that nothing traded in the rest of the
	// outer buckets.
	store = openTestStore(t)
	put(t, store, flat(3, 4, 6, 20, 24), Range{hourAt(-1), hourAt(30)})
	require.EqualValues(t, 4, resample(t, store, market.Interval1h, market.Interval4h).Added)
	complete, err := store.Complete("BTC-EUR", market.Interval4h)
	require.NoError(t, err)
	require.Equal(t, []Range{{hourAt(0), hourAt(28)}}, complete)
}

func TestResampleAgainAddsOnlyWhatIsNew(t *testing.T) {
	store := openTestStore(t)
	put(t, store, flat(0, 1, 2, 3, 4))
	require.EqualValues(t, 1, resample(t, store, market.Interval1h, market.Interval4h).Added)
	put(t, store, flat(5, 6, 7))
	report := resample(t, store, market.Interval1h, market.Interval4h)
	require.Equal(t, [2]int64{1, 1}, [2]int64{report.Added, report.Unchanged})
}

func TestResampleToMonthsAndWeeksFollowsTheCalendar(t *testing.T) {
	store := openTestStore(t)
	var text strings.Builder
	for c, day := (market.Candle{Open: 1, High: 1, Low: 1, Close: 1, Volume: 1}),
		market.Interval1d.Index(hourAt(0)); day < market.Interval1d.Index(hourAt(24*91)); day++ {
		c.Start = market.Interval1d.StartOf(day)
		text.Write(append(appendCSVRow(nil, &c, 0, 0), '\n'))
	}
	importText(t, store, ImportOptions{WriteOptions: WriteOptions{Market: "BTC-EUR", Interval: market.Interval1d}},
		text.String())
	resample(t, store, market.Interval1d, market.Interval1M)
	require.Equal(t, "timestamp_ms,open,high,low,close,volume\n1577836800000,1,1,1,1,31\n1580515200000,1,1,1,1,29\n1583020800000,1,1,1,1,31\n", exportText(t, store, "BTC-EUR", market.Interval1M))
	require.EqualValues(t, 12, resample(t, store, market.Interval1d, market.Interval1W).Added)
}

func TestResampleRefusesWhatItCannotMake(t *testing.T) {
	store := openTestStore(t)
	candles := flat(0, 1, 2, 3)
	candles[1].Volume, candles[2].Volume = math.MaxInt64, math.MaxInt64
	put(t, store, candles)
	_, err := store.Resample(ResampleOptions{Market: "BTC-EUR", From: market.Interval4h, To: market.Interval6h})
	require.ErrorContains(t, err, "candles of 4h do not make candles of 6h")
	_, err = store.Resample(ResampleOptions{Market: "BTC-EUR", From: market.Interval30m, To: market.Interval1h})
	require.ErrorIs(t, err, ErrNoData)
	_, err = store.Resample(ResampleOptions{Market: "BTC-EUR", From: market.Interval1h, To: market.Interval4h})
	require.ErrorIs(t, err, market.ErrOverflow)
	require.ErrorContains(t, err, "volume of the 4h candle at 2020-01-01T00:00:00Z")
}
