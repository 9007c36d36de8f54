package bot

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/record"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// straight is the way to an exchange in the same process.
type straight struct{ ex *sandbox.Exchange }

func (s straight) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	s.ex.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// recordHour lets bot record's recorder record an exchange for an hour of simulated time, in two
// runs with ten minutes between them.
func recordHour(t *testing.T) (dir string) {
	dir = filepath.Join(t.TempDir(), "btc")
	synctest.Test(t, func(t *testing.T) {
		ex, err := sandbox.New(bottest.Exchange(5))
		require.NoError(t, err)
		defer func() { require.NoError(t, ex.Close()) }()
		source := &config.Source{Text: "record.markets = [\"BTC-EUR\"]\nrecord.keep_free_mb = 0\npoll.tickers = " +
			"\"2s\"\n" +
			"exchange.base_url = \"https://exchange.test/v2\"\nrecord.folder = " + `"` + filepath.ToSlash(dir) + `"`}
		for range 2 {
			c, err := config.LoadRecord(source)
			require.NoError(t, err)
			_, err = record.Run(t.Context(), c, zerolog.Nop(),
				record.Options{Transport: straight{ex}, For: 30 * time.Minute, Program: "test"})
			require.NoError(t, err)
			time.Sleep(10 * time.Minute)
		}
	})
	return dir
}

// onRecording runs a command of the program.
func onRecording(t *testing.T, want int, args ...string) (out, failed string) {
	var stdout, stderr bytes.Buffer
	code := Run(t.Context(), Process{Args: args, Stdout: &stdout, Stderr: &stderr,
		Getenv: func(string) string { return "" }, Definitions: shipped.Definitions()})
	require.Equal(t, want, code, "%s\n%s", stdout.String(), stderr.String())
	return stdout.String(), stderr.String()
}

const onBooks = `
[backtest]
from = 2000-01-01
[data]
recording = %q
[strategies.maker]
kind = "maker"
markets = ["BTC-EUR"]
interval = "1m"
[strategies.maker.params]
half_spread_bps = "2"
move_bps = "2"
money = "100"
max_money = "1000"
`

// lineOf is a line of an export.
func lineOf(t *testing.T, text string) (l struct {
	At string `json:"at"`
}) {
	require.NoError(t, json.Unmarshal([]byte(text), &l))
	return l
}

// A recording is listed, exported, and a maker is tested on its books.
func TestARecordingIsListedExportedAndTestedOn(t *testing.T) {
	bottest.Unraced(t)
	dir := recordHour(t)
	out, _ := onRecording(t, exitDone, "recording", "list", "--folder", dir)
	require.Contains(t, out, "records of 2 starts, ")
	require.Contains(t, out, "recorded by test\nBTC-EUR ")
	require.Contains(t, out, "nothing was recorded from ")
	require.Contains(t, out, "(10m")

	out, holes := onRecording(t, exitDone, "recording", "export", "--folder", dir, "--kind", "ticker,book")
	require.Contains(t, holes, "nothing was recorded from ")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	kinds := map[string]int{}
	for _, line := range lines {
		var l map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		require.Equal(t, "BTC-EUR", l["market"])
		kinds[l["kind"].(string)]++
	}
	require.Len(t, kinds, 2)

	tables := filepath.Join(t.TempDir(), "tables")
	onRecording(t, exitDone, "recording", "export", "--folder", dir, "--csv", tables)
	for name, want := range map[string]int{"tickers": kinds["ticker"], "books": 40 * kinds["book"]} {
		file, err := os.Open(filepath.Join(tables, name+".csv"))
		require.NoError(t, err)
		rows, err := csv.NewReader(file).ReadAll()
		require.NoError(t, err)
		require.NoError(t, file.Close())
		require.Len(t, rows, want+1)
	}
	_, failed := onRecording(t, exitFailed, "recording", "export", "--folder", dir, "--csv", tables)
	require.Contains(t, failed, "file exists")

	path := filepath.Join(t.TempDir(), "maker.toml")
	text := strings.Replace(onBooks, "%q", `"`+filepath.ToSlash(dir)+`"`, 1)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	out, _ = onRecording(t, exitDone, "backtest", "-c", path, "--no-files")
	require.Contains(t, strings.Join(strings.Fields(out), " "), "Order books of BTC-EUR are the ")
	require.Contains(t, strings.Join(strings.Fields(out), " "), "In the recording, nothing was recorded from")
	require.Regexp(t, `orders / fills +[1-9]`, out)
	out, _ = onRecording(t, exitDone, "backtest", "-c", path, "--json")
	queued, _ := onRecording(t, exitDone, "backtest", "-c", path, "--json", "--set", "backtest.limit_fill=queue")
	require.NotEqual(t, out, queued, "orders wait in the recorded books")
	again, _ := onRecording(t, exitDone, "backtest", "-c", path, "--json")
	require.Equal(t, out, again, "the same recording gives the same bytes")

	// Signals of a file arrive between the recorded prices.
	begin, err := time.Parse(time.RFC3339Nano, lineOf(t, lines[0]).At)
	require.NoError(t, err)
	model := filepath.Join(t.TempDir(), "model.csv")
	require.NoError(t, os.WriteFile(model, fmt.Appendf(nil, "time,position\n%s,long\n%s,flat\n",
		begin.Add(5*time.Minute+time.Second).Format(time.RFC3339Nano),
		begin.Add(20*time.Minute+time.Second).Format(time.RFC3339Nano)), 0o600))
	out, _ = onRecording(t, exitDone, "backtest", "-c", path, "--no-files", "--set", "strategies.maker.kind=follow",
		"--set", `strategies.maker.params={source="model"}`, "--set", "signals.model.file="+model)
	require.Regexp(t, `Signals model: .*model.csv \(SHA-256 [0-9a-f]+…\), 2 rows`, strings.Join(strings.Fields(out), " "))
	require.Regexp(t, `orders / fills +2 / 2`, out)

	for want, args := range map[string][]string{
		"only bot backtest runs on a recording":  {"stress", "-c", path},
		"a check changes candles of a store":     {"backtest", "-c", path, "--check-lookahead"},
		"an envelope has paths through candles":  {"backtest", "-c", path, "--envelope=true"},
		"wants 1h candles of BTC-EUR, which are": {"backtest", "-c", path, "--set", "strategies.maker.interval=1h"},
		"there is no recording":                  {"backtest", "-c", path, "--set", "data.recording=nowhere"},
	} {
		var failed bytes.Buffer
		code := Run(t.Context(), Process{Args: args, Stdout: new(bytes.Buffer), Stderr: &failed,
			Getenv: func(string) string { return "" }, Definitions: shipped.Definitions()})
		require.NotZero(t, code)
		require.Contains(t, failed.String(), want)
	}
}
