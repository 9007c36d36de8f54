package candles

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// hours are the candles that every dialect below has.
const hours = `timestamp_ms,open,high,low,close,volume
1704067200000,1042.5,1044,1041.25,1043,10.5
1704070800000,1043,1050.75,1040,1041.5,0.25
1704074400000,1041.5,1042,1039,1040,3
`

// dialect is a file in the shape of some site.
type dialect struct {
	name, text string
	with       func(o *ImportOptions)
}

// rowsOf are the rows of hours with their times written in another way.
func rowsOf(times [3]string, separator string) string {
	rows := [3]string{"1042.5,1044,1041.25,1043,10.5", "1043,1050.75,1040,1041.5,0.25", "1041.5,1042,1039,1040,3"}
	text := ""
	for i, row := range rows {
		text += times[i] + separator + strings.ReplaceAll(row, ",", separator) + "\n"
	}
	return text
}

var dialects = []dialect{
	{name: "address above a header, newest first, two volumes", text: "https://www.example.com\n" +
		"Unix,Date,Symbol,Open,High,Low,Close,Volume USDT,Volume BTC,tradecount\n" +
		"1704074400000,2024-01-01 02:00:00,BTC/EUR,1041.5,1042,1039,1040,3120,3,7\n" +
		"1704070800000,2024-01-01 01:00:00,BTC/EUR,1043,1050.75,1040,1041.5,260,0.25,7\n" +
		"1704067200000,2024-01-01 00:00:00,BTC/EUR,1042.5,1044,1041.25,1043,11000,10.5,7\n"},
	{name: "hours of a day with AM and PM", text: "Date,Symbol,Open,High,Low,Close,Volume BTC,Volume EUR\n" +
		"2024-01-01 12-AM,BTCEUR,1042.5,1044,1041.25,1043,10.5,1\n2024-01-01 " +
		"01-AM,BTCEUR,1043,1050.75,1040,1041.5,0.25,1\n" +
		"2024-01-01 02-AM,BTCEUR,1041.5,1042,1039,1040,3,1\n"},
	{name: "volumes in brackets",
		text: "Timestamp,Open,High,Low,Close,Volume_(BTC),Volume_(Currency),Weighted_Price\n" +
			"1704067200,1042.5,1044,1041.25,1043,10.5,1,1\n1704070800,1043,1050.75,1040,1041.5,0.25,1,1\n" +
			"1704074400,1041.5,1042,1039,1040,3,1,1\n"},
	{name: "index without a name", text: ",Open,High,Low,Close,Volume\n" +
		rowsOf([3]string{"2024-01-01 00:00:00+00:00", "2024-01-01 01:00:00+00:00", "2024-01-01 02:00:00+00:00"}, ",")},
	{name: "three header lines",
		text: "Price,Close,High,Low,Open,Volume\nTicker,BTC-EUR,BTC-EUR,BTC-EUR,BTC-EUR,BTC-EUR\n" +
			"Datetime,,,,,\n2024-01-01 00:00:00+00:00,1043,1044,1041.25,1042.5,10.5\n" +
			"2024-01-01 01:00:00+00:00,1041.5,1050.75,1040,1043,0.25\n2024-01-01 " +
			"02:00:00+00:00,1040,1042,1039,1041.5,3\n"},
	{name: "null rows", text: "Date,Open,High,Low,Close,Adj Close,Volume\n" +
		"2024-01-01T00:00Z,1042.5,1044,1041.25,1043,1043,10.5\n2024-01-01T01:00Z,null,null,null,null,null,null\n" +
		"2024-01-01T01:00Z,1043,1050.75,1040,1041.5,1,0.25\n2024-01-01T02:00Z,1041.5,1042,1039,1040,1,3\n" +
		"2024-01-01T03:00Z,,,,,,\n", with: func(o *ImportOptions) { o.TimeFormat = "%Y-%m-%dT%H:%MZ" }},
	{name: "date and time in two columns, no header", text: "2024.01.01,00:00,1042.5,1044,1041.25,1043,10.5\n" +
		"2024.01.01,01:00,1043,1050.75,1040,1041.5,0.25\n2024.01.01,02:00,1041.5,1042,1039,1040,3\n"},
	{name: "tabs and names in angle brackets",
		text: "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n" +
			"2024.01.01\t00:00:00\t1042.5\t1044\t1041.25\t1043\t7\t10.5\t1\n" +
			"2024.01.01\t01:00:00\t1043\t1050.75\t1040\t1041.5\t7\t0.25\t1\n" +
			"2024.01.01\t02:00:00\t1041.5\t1042\t1039\t1040\t7\t3\t1\n"},
	{name: "ticker, period, plain date and time",
		text: "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\n" +
			"BTC,60,20240101,000000,1042.5,1044,1041.25,1043,10.5,0\nBTC,60,20240101,010000,1043,1050.75,1040,1041.5,0.25,0\n" +
			"BTC,60,20240101,020000,1041.5,1042,1039,1040,3,0\n"},
	{name: "bars between fields", text: rowsOf([3]string{"1704067200", "1704070800", "1704074400"}, "|")},
	{name: "decimal commas", text: "time;open;high;low;close;volume\n" + strings.ReplaceAll(rowsOf([3]string{
		"2024-01-01 00:00", "2024-01-01 01:00", "2024-01-01 02:00"}, ";"), ".", ",")},
	{name: "points between thousands",
		text: "time;open;high;low;close;volume\n1704067200;1.042,5;1.044;1.041,25;1.043;10,5\n" +
			"1704070800;1.043;1.050,75;1.040;1.041,5;0,25\n1704074400;1.041,5;1.042;1.039;1.040;3\n"},
	{name: "commas between thousands, in quotes", text: "time,open,high,low,close,volume\n" +
		"1704067200,\"1,042.5\",\"1,044\",\"1,041.25\",\"1,043\",10.5\n" +
		"1704070800,\"1,043\",\"1,050.75\",\"1,040\",\"1,041.5\",0.25\n1704074400,\"1,041.5\",\"1,042\",\"1,039\",\"1,040\",3\n"},
	{name: "day first with a format", text: "Date;Open;High;Low;Close;Volume\n" +
		rowsOf([3]string{"01/01/2024 00:00", "01/01/2024 01:00", "01/01/2024 02:00"}, ";"),
		with: func(o *ImportOptions) { o.TimeFormat = "%d/%m/%Y %H:%M" }},
	{name: "names of months", text: rowsOf([3]string{"Jan 1 2024 12AM", "Jan 1 2024 01AM", "Jan 1 2024 2AM"}, ","),
		with: func(o *ImportOptions) { o.TimeFormat = "%b %d %Y %I%p" }},
	{name: "low before open, no header", text: "1704074400,1039,1042,1041.5,1040,3\n" +
		"1704070800,1040,1050.75,1043,1041.5,0.25\n1704067200,1041.25,1044,1042.5,1043,10.5\n",
		with: func(o *ImportOptions) { o.Columns = strings.Split("time,low,high,open,close,volume", ",") }},
	{name: "columns named over a header in another language", text: "Fecha,Apertura,Alto,Bajo,Cierre,,Cantidad\n" +
		"1704067200,1042.5,1044,1041.25,1043,x,10.5\n1704070800,1043,1050.75,1040,1041.5,x,0.25\n" +
		"1704074400,1041.5,1042,1039,1040,x,3\n",
		with: func(o *ImportOptions) { o.Columns = strings.Split("time,open,high,low,close,-,volume", ",") }},
	{name: "a zone of four digits", text: rowsOf([3]string{"2024-01-01T02:00:00+0200", "2024-01-01T03:00:00+0200",
		"2024-01-01T04:00:00+0200"}, ",")},
	{name: "rows without their candle's end",
		text: "open_time,open,high,low,close,volume,close_time,quote_volume,count\n" +
			"1704067200000000,1042.5,1044,1041.25,1043,10.5,1704070799999999,1,1\n" +
			"1704070800000000,1043,1050.75,1040,1041.5,0.25,1704074399999999,1,1\n" +
			"1704074400000000,1041.5,1042,1039,1040,3,1704077999999999,1,1\n"},
	{name: "a date under an unknown name, decimal commas",
		text: "Datum;Open;High;Low;Close;Volume\n" + strings.ReplaceAll(rowsOf([3]string{"2024-01-01 00:00",
			"2024-01-01 01:00", "2024-01-01 02:00"}, ";"), ".", ",")},
	{name: "Unix times under an unknown name", text: "start_at,open,high,low,close,volume\n" +
		rowsOf([3]string{"1704067200", "1704070800", "1704074400"}, ",")},
	{name: "the end of a candle before its begin",
		text: "period_end,period_begin,open,high,low,close,volume\n" + rowsOf([3]string{
			"2024-01-01 01:00,2024-01-01 00:00", "2024-01-01 02:00,2024-01-01 01:00",
			"2024-01-01 03:00,2024-01-01 02:00"}, ",")},
	{name: "a name with a zone, the day first with milliseconds", text: "Gmt time,Open,High,Low,Close,Volume\n" +
		rowsOf([3]string{"01.01.2024 00:00:00.000", "01.01.2024 01:00:00.000", "01.01.2024 02:00:00.000"}, ","),
		with: func(o *ImportOptions) { o.TimeFormat = "%d.%m.%Y %H:%M:%S.%f" }},
	{name: "every price with a comma between thousands, volumes in thousands",
		text: "\"Date\",\"Price\",\"Open\",\"High\",\"Low\",\"Vol.\",\"Change %\"\n" +
			"\"01/01/2024 02\",\"1,040.0\",\"1,041.5\",\"1,042.0\",\"1,039.0\",\"0.003K\",\"0.33%\"\n" +
			"\"01/01/2024 01\",\"1,041.5\",\"1,043.0\",\"1,050.75\",\"1,040.0\",\"0.00025K\",\"0.33%\"\n" +
			"\"01/01/2024 00\",\"1,043.0\",\"1,042.5\",\"1,044.0\",\"1,041.25\",\"0.0000105M\",\"0.33%\"\n",
		with: func(o *ImportOptions) {
			o.Columns, o.TimeFormat = strings.Split("time,close,open,high,low,volume,-", ","), "%m/%d/%Y %H"
		}},
	{name: "dollars before the prices", text: "Date,Close/Last,Volume,Open,High,Low\n" +
		"2024-01-01 02:00,$1040,3,$1041.50,$1042,$1039\n2024-01-01 01:00,$1041.50,0.25,$1043,$1050.75,$1040\n" +
		"2024-01-01 00:00,$1043,10.5,$1042.50,$1044,$1041.25\n"},
}

func TestDialectsOfSites(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			for packing, text := range map[string][]byte{"plain": []byte(d.text), "gzip": gzipOf(t, []byte(d.text)),
				"UTF-16": wide(d.text, binary.LittleEndian), "CRLF": []byte(strings.ReplaceAll(d.text, "\n", "\r\n")),
				"UTF-16 of the other order, packed": gzipOf(t, wide(d.text, binary.BigEndian))} {
				o := hourly("BTC-EUR")
				if d.with != nil {
					d.with(&o)
				}
				store := openTestStore(t)
				store.db.NoSync = true
				report, err := store.ImportCSV(bytes.NewReader(text), o)
				require.NoError(t, err, packing)
				require.EqualValues(t, 3, report.Added, packing)
				require.Equal(t, hours, exportText(t, store, "BTC-EUR", market.Interval1h), packing)
			}
		})
	}
}

func gzipOf(t *testing.T, text []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func wide(text string, order binary.AppendByteOrder) []byte {
	out := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func TestVolumesOfNoVolumeAre0(t *testing.T) {
	store, o := openTestStore(t), hourly("EUR-USD")
	o.NoVolume = true
	importText(t, store, o, "time,open,high,low,close\n2024-01-01,1.1,1.2,1,1.1\n2024-01-01 01:00,1.1,1.1,1.1,1.1\n")
	require.Contains(t, exportText(t, store, "EUR-USD", market.Interval1h), "1704070800000,1.1,1.1,1.1,1.1,0\n")
}

func TestDaysOfEightDigitsAreDates(t *testing.T) {
	store, o := openTestStore(t), hourly("BTC-EUR")
	o.Interval = market.Interval1d
	report := importText(t, store, o, "20240101,1,2,1,2,1\n20240102,1,2,1,2,1\n")
	require.Equal(t, "2024-01-02T00:00:00Z", report.Last.String())
}

// TestWhatIsRefusedIsNamedWithItsMend: a row is a file that is refused and what the error says.
func TestWhatIsRefusedIsNamedWithItsMend(t *testing.T) {
	head := "time,open,high,low,close,volume\n"
	for _, row := range []struct {
		text, want string
		with       func(o *ImportOptions)
	}{
		{text: "<!DOCTYPE html>\n<html>", want: "it is a page for a browser (HTML or XML), not CSV"},
		{text: "<?xml version=\"1.0\"?>", want: "it is a page for a browser (HTML or XML), not CSV"},
		{text: "[[1704067200000,\"1\"]]", want: "it is JSON, not CSV; make rows of it"},
		{text: "{\"error\":\"no\"}", want: "it is JSON, not CSV"},
		{text: "PK\x03\x04zip", want: "it is a zip, not CSV; give its path"},
		{text: "PAR1", want: "it is Parquet, not CSV"},
		{text: "\x28\xb5\x2f\xfdmore", want: "it is packed by zstd, not CSV; unpack it: zstd -dc FILE"},
		{text: "\x1f\x8bno gzip", want: "unpack gzip"},
		{text: "time,open,high,low,close\n1704067200,1,2,1,2\n",
			want: "line 1: header \"time,open,high,low,close\" names no " +
				"column for volume; --no-volume"},
		{text: "time,open,high\n",
			want: "names no column for low, close, volume; name the columns in their order: --columns"},
		{text: "Date,Close,Close,Open,High,Low,Volume\n", want: "names close twice; export one market"},
		{text: head + "01/02/2024,1,2,1,2,1\n",
			want: "line 2: time \"01/02/2024\" may begin with the day or the month: \"01/02/2024,1,2,1,2,1\"\n" +
				"Say which: --time-format \"%d/%m/%Y\", or --time-format \"%m/%d/%Y\""},
		{text: head + "01.02.2024 10:00,1,2,1,2,1\n",
			want: "Say which: --time-format \"%d.%m.%Y %H:%M\", or --time-format \"%m.%d.%Y %H:%M\""},
		{text: head + "1-2-24 10:00:01.5 PM,1,2,1,2,1\n", want: "give --time-format"},
		{text: head + "01/02/2024 10:00:01.5 PM,1,2,1,2,1\n",
			want: "--time-format \"%d/%m/%Y %I:%M:%S.%f %p\", or --time-format \"%m/%d/%Y %I:%M:%S.%f %p\""},
		{text: head + "12/01/2024,1,2,1,2,1\n13/01/2024,1,2,1,2,1\n",
			want: "The times begin with the day. Say so: --time-format \"%d/%m/%Y\""},
		{text: head + "12-31-2024,1,2,1,2,1\n",
			want: "The times begin with the month. Say so: --time-format \"%m-%d-%Y\""},
		{text: head + "13/01/2024,1,2,1,2,1\n", want: "time \"13/01/2024\" is not like %m/%d/%Y",
			with: func(o *ImportOptions) { o.TimeFormat = "%m/%d/%Y" }},
		{text: "Data,Otwarcie,Najwyzszy,Najnizszy,Zamkniecie,Wolumen\n2024-01-01,1,2,1,2,1\n",
			want: "has none of the names time, open, high, low, close, volume; give them in the order of its " +
				"columns, with - for one to ignore: --columns time,open"},
		{text: "Datum;Öffnung;Hoch;Tief;Schluss\n01.01.2024;1,5;2;1;2\n", want: "line 1: the header"},
		{text: "2024-01-01\n", want: "line 1: 1 column, open should be in column 2"},
		{text: head + "31 Jan,1,2,1,2,1\n", want: "give --time-format"},
		{text: "time;open;high;low;close;volume\n1704067200;1,000;2,000;1,000;2,000;1\n",
			want: "\"1,000\" may be a decimal or a thousand; say which: --decimal comma, or --decimal point"},
		{text: "time;open;high;low;close;volume\n1704067200;1,5;2.55;1,5;2,5;1\n", want: "write them in one way"},
		{text: "1704067200,1,3,2,2.5,1\n", want: "1 bad row, nothing imported"},
		{text: "1704067200,1,3,2,2.5,1\n",
			want: "The file has no header. If its columns have another order, name them: " +
				"--columns time,low,high,open,close,volume"},
		{text: head + "2024-01-01,1,2,1,2,1\n2024-01-02,1,2,1,2,1\n2024-01-05,1,2,1,2,1\n",
			want: "the rows are 1d apart, not 1h: did you mean --interval 1d?"},
		{text: head + "1704067200,1,2,1,2,1\n1704067260,1,2,1,2,1\n1704067320,1,2,1,2,1\n",
			want: "the rows are 1m apart, not 1h: did you mean --interval 1m?"},
		{text: head + "2031-01-01,1,2,1,2,1\n", want: "line 2: time 2031-01-01T00:00:00Z lies in the future",
			with: func(o *ImportOptions) { o.Now = 1767225600_000000000 }},
		{text: head, want: "columns: \"opening\" is none of time, clock, open", with: func(o *ImportOptions) {
			o.Columns = []string{"opening"}
		}},
		{text: head, want: "columns: open is named twice", with: func(o *ImportOptions) {
			o.Columns = []string{"open", "open"}
		}},
		{text: head, want: "columns: no column for time, close", with: func(o *ImportOptions) {
			o.Columns = strings.Split("open,high,low,volume", ",")
		}},
		{text: head, want: "there is no %Q", with: func(o *ImportOptions) { o.TimeFormat = "%Q" }},
		{text: head, want: "want codes like %d/%m/%Y", with: func(o *ImportOptions) { o.TimeFormat = "2006-01-02" }},
	} {
		o := hourly("BTC-EUR")
		if row.with != nil {
			row.with(&o)
		}
		_, err := openTestStore(t).ImportCSV(strings.NewReader(row.text), o)
		require.ErrorContains(t, err, row.want, "%q", row.text)
	}
}

func TestRowsApartAreTakenWhereNothingWasTraded(t *testing.T) {
	store, o := openTestStore(t), hourly("BTC-EUR")
	o.Complete = true
	importText(t, store, o, "2024-01-01,1,2,1,2,1\n2024-01-02,1,2,1,2,1\n2024-01-05,1,2,1,2,1\n")
	sparse := importText(t, store, hourly("ETH-EUR"),
		"1704067200,1,2,1,2,1\n1704078000,1,2,1,2,1\n1704103200,1,2,1,2,1\n")
	require.EqualValues(t, 8, sparse.Missing)
}

// writeZip writes members in this order: name, text, name, text.
func writeZip(t *testing.T, path string, members ...string) {
	file, err := os.Create(path)
	require.NoError(t, err)
	out := zip.NewWriter(file)
	for i := 0; i < len(members); i += 2 {
		w, err := out.Create(members[i])
		require.NoError(t, err)
		_, err = w.Write([]byte(members[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, out.Close())
	require.NoError(t, file.Close())
}

func TestAZipOrFolderIsOneImport(t *testing.T) {
	head, rows, _ := strings.Cut(hours, "\n")
	lines := strings.SplitAfter(rows, "\n")
	dir := t.TempDir()
	archive := filepath.Join(dir, "all.zip")
	writeZip(t, archive, "b/2.csv", lines[1]+lines[2], "__MACOSX/b/2.csv", "no", "1.csv", head+"\n"+lines[0], "read.me",
		"no")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "more.csv.gz"), gzipOf(t, []byte(hours)), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.md"), []byte("no"), 0o600))
	_, err := Files(dir, "*.tsv")
	require.ErrorContains(t, err, "nothing in it matches *.tsv (in it are all.zip, more.csv.gz, notes.md)")

	members, err := Files(archive, "*.csv")
	require.NoError(t, err)
	store := openTestStore(t)
	report, err := store.ImportFiles(members, hourly("BTC-EUR"))
	require.NoError(t, err)
	require.EqualValues(t, 2, report.Files)
	require.Equal(t, hours, exportText(t, store, "BTC-EUR", market.Interval1h))

	folder, err := Files(dir, "*.gz")
	require.NoError(t, err)
	report, err = store.ImportFiles(folder, hourly("BTC-EUR"))
	require.NoError(t, err)
	require.EqualValues(t, 3, report.Unchanged)

	writeZip(t, archive, "1.csv", hours, "2.csv", "\n\n"+lines[0]+"1704074400000,7,1,1,1,1\n")
	members, err = Files(archive, "")
	require.NoError(t, err)
	_, err = store.ImportFiles(members, hourly("BTC-EUR"))
	require.ErrorContains(t, err, "2.csv line 4: open 7 lies outside")
	writeZip(t, archive, "1.csv", hours, "2.csv", "{}")
	_, err = store.ImportFiles(members, hourly("BTC-EUR"))
	require.ErrorContains(t, err, "2.csv: it is JSON")

	writeZip(t, archive, "1.csv", hours, "1.zip.CHECKSUM", "0a1b  1.zip", "licence", "no")
	members, err = Files(archive, "")
	require.NoError(t, err)
	require.Len(t, members, 1)
	writeZip(t, archive, "candles", hours)
	members, err = Files(archive, "")
	require.NoError(t, err)
	require.Len(t, members, 1)

	writeZip(t, archive, "xl/workbook.xml", "<x>")
	_, err = Files(archive, "")
	require.ErrorContains(t, err, "is an Excel workbook, not CSV; save the sheet as CSV")
	require.NoError(t, os.WriteFile(archive, []byte("PK\x03\x04cut off"), 0o600))
	_, err = Files(archive, "")
	require.ErrorContains(t, err, "download it again")
}

func TestFloatNoiseIsRoundedToTheDecimalsThatFit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noise.csv")
	rows := []string{"1704067200,1,2,1,2,0.30000000000000004", "1704070800,1,2,1,2,123456789.12345678",
		"1704074400,1,2,1,2,1.2345678901234567e-05", "1704078000,1,2,1,2,98765432.1"}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 3, 2}} {
		text := ""
		for _, i := range order {
			text += rows[i] + "\n"
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		files, err := Files(path, "")
		require.NoError(t, err)
		store := openTestStore(t)
		report, err := store.ImportFiles(files, hourly("BTC-EUR"))
		require.NoError(t, err)
		require.EqualValues(t, 2, report.Rounded)
		require.EqualValues(t, 10, report.VolumeDigits)
		require.Equal(t, "timestamp_ms,open,high,low,close,volume\n1704067200000,1,2,1,2,0.3\n"+
			"1704070800000,1,2,1,2,123456789.12345678\n1704074400000,1,2,1,2,0.0000123457\n1704078000000,1,2,1,2,98765432.1\n",
			exportText(t, store, "BTC-EUR", market.Interval1h))

		_, err = store.ImportCSV(strings.NewReader(text), hourly("BTC-EUR"))
		require.ErrorContains(t, err, "round them: --volume-digits 10")
	}
	store, o := openTestStore(t), hourly("BTC-EUR")
	o.RoundVolumes, o.VolumeDigits = true, 2
	report := importText(t, store, o,
		"1704067200,1,2,1,2,0.125\n1704070800,1,2,1,2,0.1249999\n1704074400,1,2,1,2,0.5\n")
	require.EqualValues(t, 2, report.Rounded)
	require.Contains(t, exportText(t, store, "BTC-EUR", market.Interval1h),
		"1704067200000,1,2,1,2,0.13\n1704070800000,1,2,1,2,0.12\n")
}

// FuzzDialect: whatever the bytes and the options, the rows that are taken are possible candles in
// order, and rounding leaves no volume with more decimals than were asked for.
func FuzzDialect(f *testing.F) {
	for _, d := range dialects {
		o := hourly("BTC-EUR")
		if d.with != nil {
			d.with(&o)
		}
		f.Add([]byte(d.text), strings.Join(o.Columns, ","), o.TimeFormat, o.Decimal, uint8(0))
	}
	f.Add([]byte("1704067200,1,2,1,2,0.30000000000000004\n"), "", "", "comma", uint8(7))
	f.Add(wide(hours, binary.BigEndian), "", "s", "point", uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, columns, format, decimal string, flags uint8) {
		o := hourly("BTC-EUR")
		o.TimeFormat, o.Decimal, o.SkipBad = format, decimal, true
		if columns != "" {
			o.Columns = strings.Split(columns, ",")
		}
		o.RoundVolumes, o.NoVolume, o.Complete = flags&1 != 0, flags&2 != 0, flags&4 != 0
		o.VolumeDigits = flags >> 3 % 19
		list, report, err := ParseCSV(bytes.NewReader(text), o)
		if err != nil {
			return
		}
		require.Equal(t, report.Rows-report.Bad-report.Duplicates, int64(len(list)))
		for i := range list {
			require.NoError(t, list[i].Check())
			require.True(t, i == 0 || list[i-1].Start < list[i].Start)
			require.True(t, !o.NoVolume || list[i].Volume == 0)
		}
		if o.RoundVolumes {
			require.Equal(t, o.VolumeDigits, report.VolumeDigits)
		}
	})
}
