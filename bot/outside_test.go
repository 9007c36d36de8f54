package bot_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
)

// everyKind is a config in which shipped strategies trade one market.
const everyKind = `data.candles = "candles.db"
account.start.EUR = "100000"
[backtest]
half_spread_bps = "2"
slippage_bps = "1"
volume_share = "0.5"
from = "2022-02-01"
to = "2022-05-01"
[strategies.a]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1h"
[strategies.b]
kind = "breakout"
markets = ["BTC-EUR"]
interval = "1h"
[strategies.c]
kind = "rsirevert"
markets = ["BTC-EUR"]
interval = "1h"
[strategies.d]
kind = "dca"
markets = ["BTC-EUR"]
interval = "1h"
[strategies.e]
kind = "bandrevert"
markets = ["BTC-EUR"]
interval = "1h"
`

// month is the beginning of a month of 2022.
func month(m time.Month) market.Time {
	return market.Time(time.Date(2022, m, 1, 0, 0, 0, 0, time.UTC).UnixNano())
}

// rangeStore makes a store whose candles of BTC-EUR are those of everyKind and its warm-ups, and
// which has rows that must not matter.
func rangeStore(t *testing.T) (dir string) {
	dir = bareStore(t)
	cluttered(t, filepath.Join(dir, "candles.db"), "BTC-EUR", market.Interval1h, month(2), month(5), 2000)
	return dir
}

// bareStore is a rangeStore without those rows.
func bareStore(t *testing.T) (dir string) {
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.toml"), []byte(everyKind), 0o644))
	say := saying(t, dir)
	say("candles", "export", "--synthetic", "--market", "BTC-EUR", "--interval", "1h", "--from", "2021-11-20", "--to",
		"2022-05-01", "--out", "hours.csv")
	say("candles", "import", "--market", "BTC-EUR", "--interval", "1h", "hours.csv")
	return dir
}

// saying runs commands in a folder that have to succeed.
func saying(t *testing.T, dir string) func(args ...string) string {
	return func(args ...string) string {
		text, err := command(t, dir, args...)
		require.NoError(t, err, text)
		return text
	}
}

// M2, M3, M8, M28: neither rows behind the range nor rows before the warm-up, another market or a
// longer interval change a result, a search, or the count of tries.
func TestRowsOutsideOfARunChangeNoByteOfIt(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := bareStore(t)
	say := saying(t, dir)
	backtest := []string{"backtest", "-c", "c.toml", "--json"}
	sweep := []string{"sweep", "-c", "c.toml", "--vary", "strategies.a.params.fast=10,20", "--vary",
		"strategies.a.params.slow=60,200", "--out", "a.sweep", "--json"}
	run, searched, tries := say(backtest...), say(sweep...), say("trials", "--json")
	require.Contains(t, run, "Tick sizes are the decimals of this run's candles: BTC-EUR 0.01.")
	db := filepath.Join(dir, "candles.db")
	cluttered(t, db, "BTC-EUR", market.Interval1h, 0, month(5), 0)
	require.Equal(t, run, say(backtest...))
	require.Equal(t, searched, say(sweep...), "its file goes on")
	require.Equal(t, tries, say("trials", "--json"), "the same is no new try")

	cluttered(t, db, "BTC-EUR", market.Interval1h, month(2), month(6), 2000)
	require.Equal(t, run, say(backtest...))
	require.Equal(t, searched, say(sweep...), "its file goes on: the rows lie before each set's warm-up")
	require.Equal(t, tries, say("trials", "--json"), "the same is no new try")

	other := "time,open,high,low,close,volume\n2022-01-30T00:00:00Z,20000,20001,19999,20000,1\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.csv"), []byte(other), 0o644))
	say("candles", "import", "--replace", "--market", "BTC-EUR", "--interval", "1h", "other.csv")
	text, err := command(t, dir, sweep...)
	require.Error(t, err, "a row in the longest warm-up")
	require.Contains(t, text, "a.sweep belongs to another sweep, which differs in the candles; write to another file, "+
		"or move this one away")
}

// Where older candles have more decimals, a search without a start reads them, and a run of one of
// its sets does not: the printed command sets the tick of the search.
func TestThePrintedCommandHasTheTickOfTheSearch(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := bareStore(t) // without a start all rows count
	rows, err := os.ReadFile(filepath.Join(dir, "hours.csv"))
	require.NoError(t, err)
	lines := strings.Split(string(rows), "\n")
	lines[1] = regexp.MustCompile(`\.(\d\d),`).ReplaceAllString(lines[1], ".${1}1,")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hours.csv"), []byte(strings.Join(lines, "\n")), 0o644))
	say := saying(t, dir)
	config := strings.Replace(everyKind, "from = \"2022-02-01\"\n", "", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.toml"), []byte(config), 0o644))
	say("candles", "import", "--replace", "--market", "BTC-EUR", "--interval", "1h", "hours.csv")
	sweep := []string{"sweep", "-c", "c.toml", "--vary", "strategies.a.params.fast=10,20"}
	text := say(sweep...)
	again := regexp.MustCompile(`(?m)^  bot (backtest .*)$`).FindStringSubmatch(text)
	require.NotNil(t, again, text)
	require.Contains(t, again[1], "--set markets.BTC-EUR.tick_size=0.001")
	var o research.Outcome
	require.NoError(t, json.Unmarshal([]byte(say(append(sweep, "--json")...)), &o))
	var result backtest.Result
	require.NoError(t, json.Unmarshal([]byte(say(append(strings.Fields(again[1]), "--json")...)), &result))
	for i, want := range research.FiguresOf(&result) {
		require.InDelta(t, want, float64(o.Top[0].Figures[i].Value), 0, o.Top[0].Figures[i].Name)
	}
}
