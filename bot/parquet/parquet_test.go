package parquet

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestCandlesAreReadBackAsTheyWereWritten(t *testing.T) {
	batches := [][]market.Candle{
		{{Start: 1704067200000_000000, Open: 104250, High: 104400, Low: 104125, Close: 104300, Volume: 1050}},
		{{Start: 1704070800000_000000, Open: 1, High: 2, Low: 1, Close: 2}}}
	var out bytes.Buffer
	rows, err := Candles(&out, &market.Market{PriceDigits: 2, VolumeDigits: 3}, func() ([]market.Candle, error) {
		if len(batches) == 0 {
			return nil, io.EOF
		}
		batch := batches[0]
		batches = batches[1:]
		return batch, nil
	})
	require.NoError(t, err)
	require.EqualValues(t, 2, rows)
	have, err := parquet.Read[candleRow](bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	require.Equal(t, []candleRow{{1704067200000, 1042.5, 1044, 1041.25, 1043, 1.05},
		{1704070800000, 0.01, 0.02, 0.01, 0.02, 0}}, have)
}

func TestColumnsOfATableGetTheNarrowestType(t *testing.T) {
	dir := t.TempDir()
	table := "time_ms,side,price,order,empty,taker,mixed\n1704067200000,buy,1.5,7,,true,true\n" +
		"1704070800000,sell,-2,,,,1\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fills.csv"), []byte(table), 0o600))
	names, err := Folder(dir, true)
	require.NoError(t, err)
	require.Equal(t, []string{"fills.parquet"}, names)
	text, err := os.ReadFile(filepath.Join(dir, "fills.parquet"))
	require.NoError(t, err)
	type row struct {
		Time  int64   `parquet:"time,timestamp(millisecond),optional"`
		Side  string  `parquet:"side,optional"`
		Price float64 `parquet:"price,optional"`
		Order *int64  `parquet:"order,optional"`
		Empty *int64  `parquet:"empty,optional"`
		Taker *bool   `parquet:"taker,optional"`
		Mixed string  `parquet:"mixed,optional"`
	}
	have, err := parquet.Read[row](bytes.NewReader(text), int64(len(text)))
	require.NoError(t, err)
	seven, yes := int64(7), true
	require.Equal(t, []row{{1704067200000, "buy", 1.5, &seven, nil, &yes, "true"},
		{1704070800000, "sell", -2, nil, nil, nil, "1"}}, have)

	_, err = Folder(dir, false)
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(dir, "fills.parquet"), "it would be that of an earlier run")
	require.ErrorContains(t, Table(io.Discard, func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("")), nil
	}), "no header")
}
