package parquet

import (
	"bytes"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/stretchr/testify/require"
)

// written is rows as a Parquet file.
func written[T any](t testing.TB, codec compress.Codec, rows ...T) []byte {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, parquet.Compression(codec))
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// Columns of each type become the text that a CSV has for them, in each way of packing.
func TestATableOfParquetIsReadAsCSV(t *testing.T) {
	type row struct {
		Index  int64     `parquet:"__index_level_0__,timestamp(nanosecond:local)"`
		Known  time.Time `parquet:"known_at,timestamp(microsecond)"`
		Old    int64     `parquet:"old,timestamp(millisecond)"`
		Day    int32     `parquet:"day,date"`
		Market string    `parquet:"market,dict"`
		Value  *float64  `parquet:"value,optional"`
		Small  float32   `parquet:"small"`
		Long   bool      `parquet:"long"`
		Count  int32     `parquet:"count"`
		Text   *string   `parquet:"text,optional"`
	}
	value, text := 0.30000000000000004, "a \"b\",\nc"
	rows := []row{
		{-1, time.UnixMicro(1709294400_000001), 1709294400_000, 19783, "BTC-EUR", &value, 0.1, true, -7, &text},
		{1709294400_500000000, time.UnixMicro(0), -1, -1, "ETH-EUR", nil, 1e-10, false, 0, nil}}
	want := `,known_at,old,day,market,value,small,long,count,text
1969-12-31T23:59:59.999999999,2024-03-01T12:00:00.000001Z,2024-03-01T12:00:00Z,2024-03-01,BTC-EUR,` +
		`0.30000000000000004,0.1,true,-7,"a ""b"", c"
2024-03-01T12:00:00.5,1970-01-01T00:00:00Z,1969-12-31T23:59:59.999Z,1969-12-31,ETH-EUR,,1e-10,false,0,
`
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd} {
		have, err := CSV(written(t, codec, rows...))
		require.NoError(t, err)
		require.Equal(t, want, string(have))
	}
}

func TestParquetThatIsNoTableIsRefused(t *testing.T) {
	type list struct {
		Values []int64 `parquet:"values"`
	}
	type money struct {
		Value int64 `parquet:"value,decimal(2:18)"`
	}
	type flag struct {
		Long bool `parquet:"long"`
	}
	for _, c := range []struct {
		raw  []byte
		want string
	}{
		{written(t, &parquet.Snappy, list{[]int64{1}}), `column "values" has lists or tables`},
		{written(t, &parquet.Snappy, money{1}), `column "value" has decimals of Parquet`},
		{written(t, &parquet.Zstd, make([]flag, mostRows+1)...), "it has 1048577 rows; at most 1048576 are read"},
		{[]byte("PAR1"), "it is no whole Parquet file"},
		{nil, "it is no whole Parquet file"},
	} {
		_, err := CSV(c.raw)
		require.ErrorContains(t, err, c.want)
	}
}

// Damaged files are errors, whatever the library does with them.
func FuzzParquet(f *testing.F) {
	type row struct {
		Time  int64   `parquet:"time,timestamp(millisecond)"`
		Value float64 `parquet:"value"`
		Text  string  `parquet:"text,dict"`
	}
	whole := written(f, &parquet.Snappy, row{1, 2, "a"}, row{3, 4, "b"})
	f.Add(whole, 0, byte(0))
	for at := 4; at < len(whole); at += 7 {
		f.Add(whole, at, byte(0xff))
	}
	f.Fuzz(func(t *testing.T, raw []byte, at int, flip byte) {
		raw = bytes.Clone(raw)
		if at >= 0 && at < len(raw) {
			raw[at] ^= flip
		}
		if len(raw) < 1<<16 {
			_, _ = CSV(raw)
		}
	})
}
