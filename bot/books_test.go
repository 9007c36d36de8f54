package bot

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/profit"
)

func TestTablesOfTheBooksFit80Columns(t *testing.T) {
	list := &profit.TradeList{Zone: "Europe/Amsterdam", Sums: []profit.TradeSum{{Currency: "EUR", Trips: 1,
		Profit: "-0.3536", Fees: "0.3105"}}, Trades: []profit.RoundTrip{{Order: 123456, Strategy: "trendfilter",
		Market: "BTC-EUR", EnteredMS: 1, ExitedMS: time.Hour.Milliseconds() * 30, Amount: "0.00109688",
		Entry: "91221.26", Exit: "91182.00",
		Fees: "0.3105", Profit: "-1230.35361", Part: -0.0035, Currency: "EUR", Reason: "rung above", Awaited: true}}}
	day := profit.Earned{Name: "2026-11-23", Realised: "-1211.27941", Unrealised: "-1001.3006", Fees: "1110.4979",
		Turnover: "116796.8166", Trips: 3100, Won: 1200, Flows: "50000", Equity: "104987.42"}
	report := &profit.ProfitReport{Zone: "Europe/Amsterdam", By: profit.ByDay, Currency: "EUR", Total: day,
		Groups: []profit.Earned{day}}
	for _, width := range []int{0, 80} {
		var out bytes.Buffer
		require.NoError(t, printTrades(&out, list, width))
		require.NoError(t, printProfit(&out, report, width))
		longest := 0
		for line := range strings.Lines(out.String()) {
			longest = max(longest, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
		}
		require.Equal(t, width == 0, longest > 80, out.String())
		require.Equal(t, width == 0, strings.Contains(out.String(), "123456"))
		require.Equal(t, width != 0, strings.Contains(out.String(), "no room for order, "))
		require.Contains(t, out.String(), "-1230.3536 EUR*")
	}
}

func TestCSVOfTheBooksNamesItsCurrency(t *testing.T) {
	var out bytes.Buffer
	rise := 0.25
	require.NoError(t, writeRows(&out, []earnedRow{{profit.Earned{Name: "2026-11", FromMS: 1, Realised: "1.5",
		Return: &rise}, "EUR"}}))
	require.Equal(t, "name,from,realised,unrealised,fees,turnover,trips,won,flows,equity,return,drawdown,fall,"+
		"currency\n2026-11,1970-01-01T00:00:00.001Z,1.5,,,,0,0,,,0.25,,,EUR\n", out.String())
	out.Reset()
	require.NoError(t, writeRows(&out, []sampleRow{{profit.Sample{AtMS: 1, Equity: "2", Index: 1}, "EUR"}}))
	require.Equal(t, "at,equity,low,high,exposure,flow,index,currency\n1970-01-01T00:00:00.001Z,2,,,,,1,EUR\n",
		out.String())
}

// A spreadsheet reads 1e-05 as a text in many languages.
func TestCSVOfTheBooksHasNoPowersOfTen(t *testing.T) {
	for value, want := range map[float64]string{0.00001: "0.00001", -1.25e-7: "-0.000000125",
		12345678901234: "12345678900000", 1.0 / 3: "0.3333333333"} {
		require.Equal(t, want, plainDecimal(value))
	}
}
