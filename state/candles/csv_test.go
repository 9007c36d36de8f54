package candles

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func openTestStore(t testing.TB) *Store {
	t.Helper()
	store, err := Open(filepath.Join(t.TempDir(), "candles.db"))
	require.NoError(t, err)
	t.Cleanup(func() {
		report, err := store.Verify()
		require.NoError(t, err)
		require.Empty(t, report.Problems)
		require.NoError(t, store.Close())
	})
	return store
}

func hourly(market_ string) ImportOptions {
	return ImportOptions{WriteOptions: WriteOptions{Market: market_, Interval: market.Interval1h}}
}

func importText(t testing.TB, store *Store, o ImportOptions, text string) ImportReport {
	t.Helper()
	report, err := store.ImportCSV(strings.NewReader(text), o)
	require.NoError(t, err)
	require.Equal(t, report.Rows,
		report.Bad+report.Duplicates+report.Added+report.Unchanged+report.Kept+report.Ended+report.Replaced)
	return report
}

func exportText(t testing.TB, store *Store, name string, interval market.Interval) string {
	t.Helper()
	var out bytes.Buffer
	_, err := store.ExportCSV(&out, name, interval, 0, 0)
	require.NoError(t, err)
	return out.String()
}

func readAll(t testing.TB, store *Store, o ReadOptions) (all []market.Candle) {
	t.Helper()
	reader, err := store.Read(o)
	require.NoError(t, err)
	defer reader.Close()
	for {
		candles, err := reader.Next()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, candles...)
	}
}

// canonical is what every accepted form of one file exports to.
const canonical = `timestamp_ms,open,high,low,close,volume
1577836800000,10,12.5,9,11,1.25
1577840400000,11,11,11,11,0
1577847600000,11.5,13,11,12,3
`

func TestEveryAcceptedFormGivesTheSameCandles(t *testing.T) {
	forms := map[string]string{
		"as exported": canonical,
		"no header":   strings.SplitN(canonical, "\n", 2)[1],
		"padded decimals": "1577836800000,10.00,12.50,9.0,11.,1.2500\n" +
			"1577840400000,+11,11,11,11,0.0\n1577847600000,11.5,13,11,12,3e0\n",
		"seconds": "1577836800,10,12.5,9,11,1.25\n1577840400,11,11,11,11,0\n1577847600,11.5,13,11,12,3",
		"microseconds": "1577836800000000,10,12.5,9,11,1.25\n" +
			"1577840400000000,11,11,11,11,0\n1577847600000000,11.5,13,11,12,3",
		"nanoseconds": "1577836800000000000,10,12.5,9,11,1.25\n" +
			"1577840400000000000,11,11,11,11,0\n1577847600000000000,11.5,13,11,12,3",
		"RFC 3339": "2020-01-01T00:00:00Z,10,12.5,9,11,1.25\n" +
			"2020-01-01T02:00:00+01:00,11,11,11,11,0\n2020-01-01T03:00:00.000Z,11.5,13,11,12,3",
		"plain dates": "2020-01-01 00:00:00,10,12.5,9,11,1.25\n2020-01-01 " +
			"01:00:00+00:00,11,11,11,11,0\n2020-01-01 03:00,11.5,13,11,12,3",
		"other order":        "volume,Close,low,high,open,trades,Date\n1.25,11,9,12.5,10,7,2020-01-01\n0,11,11,11,11,0,1577840400\n3,12,11,13,11.5,9,1577847600.0\n",
		"unit in the header": "unix_s;open;high;low;close;volume\n1577836800;10;12.5;9;11;1.25\n1577840400;11;11;11;11;0\n1577847600;11.5;13;11;12;3\n",
		"tabs, CRLF, BOM": "\xef\xbb\xbf" + strings.ReplaceAll(strings.ReplaceAll(canonical, ",", "\t"), "\n",
			"\r\n"),
		"quotes and blanks": "\n\"1577836800000\", \"10\" ,12.5,9,11,1.25,extra\n  " +
			"\n1577840400000,11,11,11,11,0\r\n\r\n1577847600000,11.5,13,11,12,3\n\n",
		"unordered":    "1577847600000,11.5,13,11,12,3\n1577840400000,11,11,11,11,0\n1577836800000,10,12.5,9,11,1.25\n",
		"doubled rows": canonical + "1577836800000,10.0,12.50,9,11,1.25\n1577840400000,11,11,11,11,0\n",
	}
	reference := openTestStore(t)
	importText(t, reference, hourly("BTC-EUR"), canonical)
	want, err := reference.DataHash("BTC-EUR", market.Interval1h, 0, 0)
	require.NoError(t, err)
	for name, text := range forms {
		t.Run(name, func(t *testing.T) {
			store := openTestStore(t)
			report := importText(t, store, hourly("BTC-EUR"), text)
			require.EqualValues(t, 3, report.Added)
			require.EqualValues(t, 1, report.PriceDigits)
			require.EqualValues(t, 2, report.VolumeDigits)
			require.Equal(t, canonical, exportText(t, store, "BTC-EUR", market.Interval1h))
			have, err := store.DataHash("BTC-EUR", market.Interval1h, 0, 0)
			require.NoError(t, err)
			require.Equal(t, want, have)
		})
	}
}

func TestBadRowsRefuseTheFileAndNameTheirLines(t *testing.T) {
	rows := map[string]string{
		"1577836800000,10,8,9,10,1":                      "high 8 is below low 9",
		"1577836800000,13,12,9,10,1":                     "open 13 lies outside",
		"1577836800000,10,12,9,8,1":                      "close 8 lies outside",
		"1577836800000,0,12,0,10,1":                      "low 0 is not positive",
		"1577836800000,-1,12,-1,10,1":                    "low -1 is not positive",
		"1577836800000,10,12,9,NaN,1":                    "close \"NaN\": not a decimal number",
		"1577836800000,10,12,9,10,-1":                    "volume -1 is negative",
		"1577836800001,10,12,9,10,1":                     "is no start of a 1h candle",
		"1577836800000,10,12,9":                          "4 columns, close should be in column 5",
		"1577836800000,10,,9,10,1":                       "high is empty",
		"yesterday,10,12,9,10,1":                         "time \"yesterday\" is neither",
		"99999999999999999999,10,12,9,10,1":              "time",
		"9000000000000,10,12,9,10,1":                     "no whole Unix time in range",
		"1577836800000,10,12,9,10,99999999999999999999":  "overflow",
		"1577836800000,10,12,9,10.0000000000000000001,1": "overflow",
		"1577836800000,1,2,0.0000000000000000001,1,1":    "more than 18 decimals",
		"1577836800000,1,12,0.000000000000000001,1,1":    "more decimals than fit",
		"\x00\xff":                     "1 column, open",
		strings.Repeat("x", maxLine+5): "longer than",
	}
	for row, reason := range rows {
		store := openTestStore(t)
		_, err := store.ImportCSV(strings.NewReader(canonical+row+"\n1577851200000,1,1,1,1,1\n"), hourly("BTC-EUR"))
		var bad *BadRowsError
		require.ErrorAs(t, err, &bad, "%.60q", row)
		require.EqualValues(t, 1, bad.Total, "%.60q", row)
		require.EqualValues(t, 5, bad.Rows[0].Line)
		require.Contains(t, err.Error(), reason)
		require.Contains(t, err.Error(), "line 5: ")
		require.Less(t, len(err.Error()), 600)
		list, err := store.List()
		require.NoError(t, err)
		require.Empty(t, list, "nothing may be written")

		o := hourly("BTC-EUR")
		o.SkipBad = true
		report := importText(t, store, o, canonical+row+"\n1577851200000,1,1,1,1,1\n")
		require.EqualValues(t, 1, report.Bad)
		require.EqualValues(t, 4, report.Added, "%.60q", row)
	}
}

func TestOnlyFiveBadRowsAreListedButAllAreCounted(t *testing.T) {
	store := openTestStore(t)
	_, err := store.ImportCSV(strings.NewReader(strings.Repeat("nonsense\n", 9)), hourly("BTC-EUR"))
	var bad *BadRowsError
	require.ErrorAs(t, err, &bad)
	require.EqualValues(t, 9, bad.Total)
	require.Len(t, bad.Rows, 5)
	require.Contains(t, err.Error(), "and 4 more")
}

func TestRowsOfOneStartWithOtherValuesAreBad(t *testing.T) {
	store := openTestStore(t)
	far := "1609459200000,5,5,5,5,5\n" // another chunk: what comes for the first one afterwards waits
	text := "1577836800000,10,12,9,11,1\n1577836800000,10,12,9,11,2\n" + far + "1577836800000,10,12,9,11,3\n"
	_, err := store.ImportCSV(strings.NewReader(text), hourly("BTC-EUR"))
	require.ErrorContains(t, err,
		`line 2: an earlier row starts at 2020-01-01T00:00:00Z too and has other values: "1577836800000,10,12,9,11,2"`)
	require.ErrorContains(t, err,
		`line 4: an earlier row starts at 2020-01-01T00:00:00Z too and has other values: "1577836800000,10,12,9,11,3"`)

	o := hourly("BTC-EUR")
	o.SkipBad = true
	report := importText(t, store, o, text)
	require.EqualValues(t, 2, report.Bad)
	require.Contains(t, exportText(t, store, "BTC-EUR", market.Interval1h), "1577836800000,10,12,9,11,1\n")
}

func TestStoredCandlesStayUnlessReplaced(t *testing.T) {
	store := openTestStore(t)
	importText(t, store, hourly("BTC-EUR"), canonical)
	before, err := store.DataHash("BTC-EUR", market.Interval1h, 0, 0)
	require.NoError(t, err)
	again := importText(t, store, hourly("BTC-EUR"), canonical)
	require.EqualValues(t, 3, again.Unchanged)

	changed := strings.Replace(canonical, "12,3\n", "12,4\n1577851200000,7,7,7,7,7\n", 1)
	kept := importText(t, store, hourly("BTC-EUR"), changed)
	require.Equal(t, [4]int64{1, 2, 1, 0}, [4]int64{kept.Added, kept.Unchanged, kept.Kept, kept.Replaced})
	require.Contains(t, exportText(t, store, "BTC-EUR", market.Interval1h), "12,3\n")

	o := hourly("BTC-EUR")
	o.Replace = true
	replaced := importText(t, store, o, changed)
	require.Equal(t, [4]int64{0, 3, 0, 1}, [4]int64{replaced.Added, replaced.Unchanged, replaced.Kept,
		replaced.Replaced})
	require.Equal(t, changed, exportText(t, store, "BTC-EUR", market.Interval1h))

	after, err := store.DataHash("BTC-EUR", market.Interval1h, 0, 0)
	require.NoError(t, err)
	require.NotEqual(t, before, after)
}

func TestMoreDecimalsWidenTheMarketAndChangeNoValue(t *testing.T) {
	store := openTestStore(t)
	importText(t, store, hourly("BTC-EUR"), canonical)
	before, err := store.DataHash("BTC-EUR", market.Interval1h, 0, 0)
	require.NoError(t, err)
	minutes := ImportOptions{WriteOptions: WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m,
		VolumeDigits: 8}}
	report := importText(t, store, minutes, "1577836800000,10.125,12,9,11,1\n")
	require.EqualValues(t, 3, report.Widened)
	require.Equal(t, [2]uint8{3, 8}, [2]uint8{report.PriceDigits, report.VolumeDigits})

	after, err := store.DataHash("BTC-EUR", market.Interval1h, 0, 0)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Equal(t, canonical, exportText(t, store, "BTC-EUR", market.Interval1h))

	narrow := &market.Market{Name: "BTC-EUR", PriceDigits: 0, VolumeDigits: 8}
	reader, err := store.Read(ReadOptions{Market: narrow, Interval: market.Interval1h})
	require.NoError(t, err)
	defer reader.Close()
	_, err = reader.Next()
	require.ErrorIs(t, err, market.ErrInexact)
}

func TestDecimalsThatStoredCandlesCannotHaveAreRefused(t *testing.T) {
	store := openTestStore(t)
	importText(t, store, hourly("BTC-EUR"), "1577836800000,9000000000000,9000000000000,9000000000000,9000000000000,1\n")
	_, err := store.ImportCSV(strings.NewReader("1577840400000,1.00000001,2,1,2,1\n"), hourly("BTC-EUR"))
	require.Error(t, err)
	price, _, err := store.Digits("BTC-EUR")
	require.NoError(t, err)
	require.Zero(t, price)
}

func TestAFileWithBadRowsIsNeverComplete(t *testing.T) {
	store := openTestStore(t)
	o := hourly("BTC-EUR")
	o.Complete, o.SkipBad = true, true
	_, err := store.ImportCSV(strings.NewReader(canonical+"1577844000000,1,0,1,1,1\n"), o)
	require.ErrorContains(t, err, "complete was claimed")
	_, err = store.Series("BTC-EUR", market.Interval1h)
	require.ErrorIs(t, err, ErrNoData)
}

func TestHeaderMistakesAreNamed(t *testing.T) {
	store := openTestStore(t)
	_, err := store.ImportCSV(strings.NewReader("time,open,high,low\n"), hourly("BTC-EUR"))
	require.ErrorContains(t, err, "names no column for close, volume")
	_, err = store.ImportCSV(strings.NewReader("time,open,high,low,close,volume,open\n"), hourly("BTC-EUR"))
	require.ErrorContains(t, err, "names open twice")
	_, err = store.ImportCSV(strings.NewReader("\n\n"), hourly("BTC-EUR"))
	require.ErrorIs(t, err, ErrNoData)
	_, err = store.ImportCSV(strings.NewReader(canonical), hourly("BTC/EUR"))
	require.ErrorContains(t, err, "BTC/EUR")
}

func TestAnyOrderOfRowsGivesTheSameBytes(t *testing.T) {
	lines := strings.SplitAfter(benchCSV(30_000), "\n")[:30_000]
	minutes := ImportOptions{WriteOptions: WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}}
	var hashes []string
	for seed := range uint64(3) {
		store := openTestStore(t)
		if seed > 0 {
			rand.New(rand.NewPCG(seed, seed)).Shuffle(len(lines),
				func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		}
		report := importText(t, store, minutes, strings.Join(lines, "")+lines[7]+lines[29_000])
		require.EqualValues(t, 30_000, report.Added)
		require.EqualValues(t, 2, report.Duplicates)
		hash, err := store.DataHash("BTC-EUR", market.Interval1m, 0, 0)
		require.NoError(t, err)
		hashes = append(hashes, hash)
	}
	require.Equal(t, []string{hashes[0], hashes[0], hashes[0]}, hashes)
}

// benchCSV is benchSeries as the neutral bench set is written.
func benchCSV(n int) string {
	var out []byte
	for _, c := range benchSeries(n) {
		out = fmt.Appendf(out, "%d", c.Start.Millis())
		for _, price := range []market.Price{c.Open, c.High, c.Low, c.Close} {
			out = market.AppendFixedPadded(append(out, ','), int64(price), 2)
		}
		out = append(market.AppendFixedPadded(append(out, ','), int64(c.Volume), 4), '\n')
	}
	return string(out)
}

// sharedData opens a file of the real candles that are kept outside the repository, or skips.
func sharedData(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("real candles are not there: %v", err)
	}
	return string(text)
}

// FuzzImportCSV: whatever the bytes, an import that succeeds leaves a sound store whose export
// imports to the same candles. ParseCSV accepts and refuses the same, with the same candles.
func FuzzImportCSV(f *testing.F) {
	f.Add([]byte(canonical))
	f.Add([]byte("2020-01-01;1;2;1;2;3\n\"1577840400\";1;1;1;1;1e-3\r\n"))
	f.Add([]byte("volume\topen\thigh\tlow\tclose\tunix_us\n1\t1\t1\t1\t1\t1577836800000000"))
	f.Fuzz(func(t *testing.T, text []byte) {
		store, err := Open(filepath.Join(t.TempDir(), "a.db"))
		require.NoError(t, err)
		defer store.Close()
		store.db.NoSync = true
		o := hourly("BTC-EUR")
		o.SkipBad = true
		parsed, told, parseErr := ParseCSV(bytes.NewReader(text), o)
		imported, err := store.ImportCSV(bytes.NewReader(text), o)
		if err != nil {
			require.ErrorContains(t, err, parseErr.Error())
			return
		}
		require.NoError(t, parseErr)
		stored := readAll(t, store, ReadOptions{Market: &market.Market{Name: "BTC-EUR", PriceDigits: told.PriceDigits,
			VolumeDigits: told.VolumeDigits}, Interval: market.Interval1h})
		require.Equal(t, stored, parsed)
		require.Equal(t, imported.PriceDigits, told.PriceDigits)
		report, err := store.Verify()
		require.NoError(t, err)
		require.Empty(t, report.Problems)
		first := exportText(t, store, "BTC-EUR", market.Interval1h)
		_, err = store.ImportCSV(strings.NewReader(first), hourly("ETH-EUR"))
		require.NoError(t, err)
		require.Equal(t, first, exportText(t, store, "ETH-EUR", market.Interval1h))
	})
}
