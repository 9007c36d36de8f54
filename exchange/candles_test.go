package exchange

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// The rows are minutes of BTC-EUR; the range is minutes 10 to 20, and it is half past 20.
func TestAnAnswerAboutCandlesIsReadRowByRow(t *testing.T) {
	m, minute := &market.Market{ID: 3, Name: "BTC-EUR"}, market.Interval1m
	at := func(i int64, volume market.Volume) market.Candle {
		return market.Candle{Open: 2, High: 3, Low: 1, Close: 2, Volume: volume, Start: minute.StartOf(i), Market: 3,
			Interval: minute}
	}
	bad := at(12, 1)
	bad.High = 0
	within := at(12, 1)
	within.Start++
	type rows = []market.Candle
	for name, row := range map[string]struct {
		rows, want    rows
		left, refused string
	}{
		"nothing":      {rows: rows{}, want: rows{}},
		"newest first": {rows: rows{at(12, 1), at(11, 1)}, want: rows{at(11, 1), at(12, 1)}},
		"unordered": {rows: rows{at(11, 1), at(12, 1), at(10, 1)},
			want: rows{at(10, 1), at(11, 1), at(12, 1)}},
		"a row twice": {rows: rows{at(11, 1), at(10, 1), at(11, 1)}, want: rows{at(10, 1), at(11, 1)},
			left: "row 1 of 3, which starts at 1970-01-01T00:11:00Z: it comes twice"},
		"one before, one after": {rows: rows{at(9, 1), at(10, 1), at(20, 1)}, want: rows{at(10, 1)},
			left: "row 3 of 3"},
		"years ahead": {rows: rows{at(10, 1), at(9e6, 1)}, want: rows{at(10, 1)}, left: "row 2 of 2"},
		"a row in three states": {rows: rows{at(11, 2), at(11, 9), at(11, 3)}, want: rows{at(11, 9)},
			left: "row 3 of 3, which starts at 1970-01-01T00:11:00Z: another row with other values has the same " +
				"start; and 1 more rows"},
		"two that are not over": {rows: rows{at(10, 1), at(20, 1), at(21, 1)}, want: rows{at(10, 1)},
			left: "row 2 of 3, which starts at 1970-01-01T00:20:00Z: it has not closed yet by the exchange's " +
				"clock; and 1 more rows"},
		"a high below the low": {rows: rows{at(11, 1), bad, at(10, 1)}, want: rows{at(10, 1), at(11, 1)},
			left: "candles of BTC-EUR 1m: row 2 of 3, which starts at 1970-01-01T00:12:00Z: high 0 is below low 1, " +
				"in units of 1"},
		"another interval": {rows: rows{at(11, 1), within},
			refused: "candles of BTC-EUR 1m: row 2 of 2, which starts at 1970-01-01T00:12:00.000000001Z: no 1m"},
		"another time": {rows: rows{at(7, 1), at(8, 1), at(10, 1)},
			refused: "candles of BTC-EUR 1m: 2 of 3 rows are not from"},
	} {
		asked := CandleRange{Market: m, Interval: minute, Start: minute.StartOf(10), End: minute.StartOf(20)}
		got, err := asked.Read(row.rows, minute.StartOf(20).Add(30*time.Second))
		left, refused := CheckLeftOut(err)
		require.Equal(t, row.want, got, name)
		if row.left == "" {
			require.Nil(t, left, name)
		} else {
			require.ErrorContains(t, left, row.left, name)
		}
		if row.refused == "" {
			require.NoError(t, refused, name)
		} else {
			require.ErrorContains(t, refused, row.refused, name)
			require.True(t, errors.Is(refused, ErrFalse), name)
		}
	}
	newest := CandleRange{Market: m, Interval: minute, Limit: 2}
	got, err := newest.Read(rows{at(12, 1), at(11, 1), at(10, 1)}, minute.StartOf(12))
	require.NoError(t, err, "an open end has the candle that runs")
	require.Equal(t, rows{at(11, 1), at(12, 1)}, got)
}
