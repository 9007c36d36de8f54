package signals_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/signals"
)

// read reads a text as a file, and says its rows in words.
func read(t testing.TB, text string, o signals.Options) (rows []string, f *signals.File, err error) {
	name := filepath.Join(t.TempDir(), "model.csv")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	f, err = signals.Read(name, "model", o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s", strings.ReplaceAll(err.Error(), name, "model.csv"))
	}
	for i := range f.Rows {
		r := &f.Rows[i]
		word := fmt.Sprintf("%d %s", r.Number, short(r.Known))
		if r.Known != r.Time {
			word += " about " + short(r.Time)
		}
		if r.On != "" {
			word += " " + r.On
		}
		if r.Action != 0 {
			word += " " + r.Action.String()
		}
		if r.Stance != 0 {
			word += " " + r.Stance.String()
		}
		if r.HasValue {
			word += fmt.Sprint(" value ", r.Value)
		}
		if r.HasTarget {
			word += fmt.Sprint(" target ", r.Target)
		}
		if r.Text != "" {
			word += " (" + r.Text + ")"
		}
		rows = append(rows, word)
	}
	return rows, f, nil
}

func short(at market.Time) string { return at.Std().Format("01-02 15:04:05") }

func TestFilesAreReadInTheShapesThatPeopleHave(t *testing.T) {
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	for _, c := range []struct {
		name, text string
		options    signals.Options
		want       []string
	}{
		{"long", "time,known_at,market,action,value\n2024-03-01T12:00:00Z,2024-03-01T12:00:02Z,BTC-EUR,buy,0.81\n" +
			"2024-03-01T13:00:00Z,2024-03-01T13:00:02Z,ETH-EUR,sell,\n" +
			"2024-03-01T12:00:00Z,2024-03-01T14:00:00Z,BTC-EUR,buy,0.5\n", signals.Options{}, []string{
			"1 03-01 12:00:02 about 03-01 12:00:00 BTC-EUR buy value 0.81",
			"2 03-01 13:00:02 about 03-01 13:00:00 ETH-EUR sell",
			"3 03-01 14:00:00 about 03-01 12:00:00 BTC-EUR buy value 0.5"}},
		{"a series by day is known at its end", "date,value\n2024-03-01,72\n2024-03-02,nan\n2024-03-03,-1e-3\n",
			signals.Options{}, []string{"1 03-02 00:00:00 about 03-01 00:00:00 value 72",
				"3 03-04 00:00:00 about 03-03 00:00:00 value -0.001"}},
		{"of a zone", "date,value\n2024-03-31,72\n", signals.Options{Zone: amsterdam},
			[]string{"1 03-31 22:00:00 about 03-30 23:00:00 value 72"}},
		{"wide", "time;BTC-EUR;ETH/EUR\n2024-03-01 12:03;0,5;null\n2024-03-01 12:07;;-1\n", signals.Options{},
			[]string{"1 03-01 12:03:00 BTC-EUR value 0.5", "2 03-01 12:07:00 ETH-EUR value -1"}},
		{"wide by mapped names", "time,XBT\n2024-03-01 12:03,1\n",
			signals.Options{Markets: map[string]string{"XBT": "BTC-EUR"}},
			[]string{"1 03-01 12:03:00 BTC-EUR value 1"}},
		{"to_csv of pandas", ",up,proba\n2021-01-01 00:00:00+00:00,True,0.30000000000000004\n" +
			"2021-01-01 01:00:00+00:00,False,\n", signals.Options{Value: "proba", Stamped: "open", Every: time.Hour},
			[]string{"1 01-01 01:00:00 about 01-01 00:00:00 value 0.30000000000000004"}},
		{"to_csv with an index of numbers", ",date,up\n0,2021-01-01 00:03:00+00:00,True\n1,2021-01-01 00:04:00+00:00," +
			"False\n", signals.Options{}, []string{"1 01-01 00:03:00 value 1", "2 01-01 00:04:00 value 0"}},
		{"freqtrade", "date,pair,open,close,enter_long,exit_long,enter_short,enter_tag\n" +
			"2024-03-01 12:00:00+00:00,BTC/USDT,1,2,1,,0,dip\n2024-03-01 13:00:00+00:00,BTC/USDT:USDT,1,2,0,1.0,0,\n" +
			"2024-03-01 14:00:00+00:00,BTC/USDT,1,2,0,0,1,\n2024-03-01 15:00:00+00:00,BTC/USDT,1,2,1,1,0,\n",
			signals.Options{Stamped: "open", Interval: market.Interval1h}, []string{
				"1 03-01 13:00:00 about 03-01 12:00:00 BTC-USDT buy (dip)",
				"2 03-01 14:00:00 about 03-01 13:00:00 BTC-USDT exit",
				"4 03-01 16:00:00 about 03-01 15:00:00 BTC-USDT exit"}},
		{"TradingView's list of trades, newest first", "Trade #,Type,Signal,Date/Time,Price EUR,Contracts\n" +
			"1,Exit long,Close entry(s) order Long,2024-07-01 14:00,\"61,000.5\",1\n" +
			"1,Entry long,Long,2024-07-01 12:00,60000,1\n",
			signals.Options{Stamped: "close", Zone: amsterdam}, []string{"2 07-01 10:00:00 buy (Long)",
				"1 07-01 12:00:00 exit (Close entry(s) order Long)"}},
		{"TradingView's chart", "time,open,high,low,close,Volume,signal1\n1709294580,1,1,1,1,5,1\n" +
			"1709294640,1,1,1,1,5,\n", signals.Options{}, []string{"1 03-01 12:03:00 value 1"}},
		{"states, of an alert", "time,ticker,market_position\n2024-03-01T12:03:01Z,BINANCE:BTCEUR,long\n" +
			"2024-03-01T12:09:01Z,BTCEUR,short\n", signals.Options{Markets: map[string]string{"BTCEUR": "BTC-EUR"},
			Delay: 2 * time.Second}, []string{"1 03-01 12:03:03 about 03-01 12:03:01 BTC-EUR long",
			"2 03-01 12:09:03 about 03-01 12:09:01 BTC-EUR flat"}},
		{"targets", "time,target\n2024-03-01T12:03:01Z,25%\n2024-03-01T12:04:01Z,0\n", signals.Options{},
			[]string{"1 03-01 12:03:01 target 0.25", "2 03-01 12:04:01 target 0"}},
		{"by sign", "time_ms,signal\n1709294580000,-1\n1709294640000,0\n1709294640001,1\n", signals.Options{},
			[]string{"1 03-01 12:03:00 sell", "3 03-01 12:04:00 buy"}},
	} {
		rows, _, err := read(t, c.text, c.options)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, rows, c.name)
	}
}

// Daily numbers with a clock, for a strategy on hours: nothing of a day is known before its end.
func TestARegularSeriesIsKnownAtTheEndOfItsOwnStep(t *testing.T) {
	text := "value,value_classification,timestamp\n72,Greed,1709424000\n71,Greed,1709337600\n" +
		"20,\"Extreme Fear\",1709251200\n"
	rows, f, err := read(t, text, signals.Options{Stamped: "open", Interval: market.Interval1h})
	require.NoError(t, err)
	require.Equal(t, []string{"3 03-02 00:00:00 about 03-01 00:00:00 value 20 (Extreme Fear)",
		"2 03-03 00:00:00 about 03-02 00:00:00 value 71 (Greed)",
		"1 03-04 00:00:00 about 03-03 00:00:00 value 72 (Greed)"}, rows)
	require.Equal(t, "the end of the 24h0m0s from their time", f.Stamp)
}

func TestAFileThatMayKnowTheFutureIsRefused(t *testing.T) {
	hours := "time,action\n2024-03-01 12:00,buy\n2024-03-01 15:00,exit\n"
	_, _, err := read(t, hours, signals.Options{Interval: market.Interval1h})
	require.EqualError(t, err, `model.csv: all 2 times are starts of 1h candles, and a number made of a candle is known `+
		`at its end only: say stamped = "open" where the times are the starts of the candles that the rows were made of, `+
		`or stamped = "close" where a row was known at its time`)
	rows, _, err := read(t, hours, signals.Options{Interval: market.Interval1h, Stamped: "close"})
	require.NoError(t, err)
	require.Equal(t, []string{"1 03-01 12:00:00 buy", "2 03-01 15:00:00 exit"}, rows)
	_, _, err = read(t, hours, signals.Options{Interval: market.Interval4h})
	require.ErrorContains(t, err, "starts of 1h candles")
	minutes := "time,action\n2024-03-01 12:01,buy\n2024-03-01 15:07,exit\n"
	_, _, err = read(t, minutes, signals.Options{Interval: market.Interval1h})
	require.NoError(t, err)
	_, _, err = read(t, minutes, signals.Options{Interval: market.Interval1m})
	require.ErrorContains(t, err, "starts of 1m candles")
	_, _, err = read(t, hours, signals.Options{Stamped: "open"})
	require.ErrorContains(t, err, "set every")
}

// No bad cell is passed over, and each error names the place and the cure.
func TestBadFilesAreRefusedWhole(t *testing.T) {
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	for text, want := range map[string]string{
		"": "model.csv: it has no header with the names of two columns or more",
		"2024-03-01,72\n2024-03-02,73\n": "model.csv: line 1: it has no header; write the names of its columns above " +
			`"2024-03-01,72"`,
		`[{"value": 1}]`: "model.csv: it is JSON, not CSV; make rows of it, for a list of lists with: jq -r " +
			"'.[] | @csv' FILE",
		"PAR1xxxx":              "model.csv: it is Parquet, not CSV; write it as CSV first",
		"value,action\n1,buy\n": `model.csv: line 1: the header ["value" "action"] names no time; name a column time`,
		"time,a,b\n1,2,3\n":     "model.csv: line 1: which column is the value? say value = one of a, b",
		"time,close\n1,2\n": "model.csv: line 1: no column says anything; name one action, position, value " +
			"or target",
		"time,BTC-EUR,b\n1,2,3\n": `model.csv: line 1: column "b" is no market as the others are, which have the form ` +
			"BTC-EUR; name it under markets, or leave it out",
		"time,value\n\n2024-03-01 12:01,7\n2024-03-01 12:02,up\n": `model.csv: line 4, column "value": "up" is no number`,
		"time,value\n2024-03-01 12:01,0x1p4\n":                    `model.csv: line 2, column "value": "0x1p4" is no number`,
		"time,value\n2024-02-30 12:01,7\n": `model.csv: line 2, column "time": time "2024-02-30 12:01": there is no 30 ` +
			`February 2024`,
		"time,value\n03/01/2024 12:01,7\n": `model.csv: line 2, column "time": time "03/01/2024 12:01" may begin ` +
			`with the day or the month`,
		"time,value\nsoon,7\n": `model.csv: line 2, column "time": time "soon" is neither a Unix time nor RFC 3339 nor ` +
			`like 2006-01-02 15:04:05`,
		"time,value\n2024-03-01 12:01,7,8\n":  "model.csv: line 2: 3 columns, the header has 2",
		"time,action\n2024-03-01 12:01,by\n":  `model.csv: line 2, column "action": "by" is none of buy, sell, exit`,
		"time,position\n2024-03-01 12:01,?\n": `model.csv: line 2, column "position": "?" is none of long, flat`,
		"time,target\n2024-03-01 12:01,25\n": `model.csv: line 2, column "target": "25" is no part of the equity; write ` +
			`0.25 or 25%`,
		"time,market,value\n2024-03-01 12:01,btceur,7\n": `model.csv: line 2, column "market": "btceur" is no market; ` +
			`map it: markets = { BTCEUR = "BTC-EUR" }`,
		"time,value\n2024-03-01 12:01,7\n2024-03-01 12:01,7\n2024-03-01 12:01,8\n": "model.csv: line 4: it is " +
			"about 2024-03-01T12:01:00Z again, with other values than line 2; a column known_at says which of them " +
			"came later",
		"time,value\n2024-03-01 12:01,\n": "model.csv: it has no signal",
	} {
		_, _, err := read(t, text, signals.Options{Known: []string{"BTC-EUR"}})
		require.EqualError(t, err, want, text)
	}
	for text, want := range map[string]string{
		"2024-10-27 02:30": "clocks in Europe/Amsterdam show this hour twice; write times in UTC",
		"2024-03-31 02:30": "clocks in Europe/Amsterdam skip this hour; write times in UTC",
	} {
		_, _, err := read(t, "time,value\n"+text+",7\n", signals.Options{Zone: amsterdam})
		require.ErrorContains(t, err, want)
	}
	rows, _, err := read(t, "time,value\n2024-10-27T02:31:00+02:00,7\n", signals.Options{Zone: amsterdam})
	require.NoError(t, err)
	require.Equal(t, []string{"1 10-27 00:31:00 value 7"}, rows)
	_, _, err = read(t, "time,value\n2024-03-01 12:01,7\n", signals.Options{Value: "proba"})
	require.EqualError(t, err, `model.csv: line 1: no column is named "proba"; there are time, value`)
}

func TestAFileIsCounted(t *testing.T) {
	_, f, err := read(t, "time,position\n2024-03-01 12:01:30,long\n2024-03-01 12:01:30,long\n2024-03-01 12:02:30,\n"+
		"2024-03-01 12:03:30,-1\n2024-03-01 12:09:30,flat\n",
		signals.Options{Every: 2 * time.Minute, MaxAge: time.Minute})
	require.NoError(t, err)
	require.Equal(t, []int64{5, 1, 1, 1, 1}, []int64{f.Lines, f.Empty, f.Doubles, f.Shorts, f.Silent})
	require.Len(t, f.Hash, 64)
	require.Equal(t, f.Rows[0].Known.Add(time.Minute), f.Rows[0].Until)
}

// FuzzRead holds that no text breaks the reader, and that what it takes is in order and not before
// its time.
func FuzzRead(f *testing.F) {
	f.Add("time,market,action,value\n2024-03-01T12:00:01Z,BTC-EUR,buy,0.81\n")
	f.Add("\xff\xfet\x00,\x00")
	f.Add(",BTC-EUR;\n20240301,\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, file, err := read(t, text, signals.Options{Delay: time.Second})
		if err != nil {
			return
		}
		for i, row := range file.Rows {
			if i > 0 && row.Known < file.Rows[i-1].Known {
				t.Fatalf("%v", file.Rows)
			}
		}
	})
}
