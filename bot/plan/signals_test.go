package plan

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/parquet"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// hearing is a strategy that hears a source.
func hearing() []strategy.Definition {
	type params struct {
		Source string `toml:"source" default:"model" doc:"what it hears"`
	}
	return []strategy.Definition{strategy.Define("hears", "for a test",
		func(p params) strategy.Needs { return strategy.Needs{Signals: []string{p.Source}} },
		func(params, strategy.Setup) (strategy.Strategy, error) { return &strategy.Base{}, nil })}
}

// heardPlan plans a backtest on made-up candles with sections of signals.
func heardPlan(t *testing.T, sections string) (*Backtest, error) {
	c, err := config.LoadBacktest(&config.Source{Text: `
data.source = "synthetic"
strategies.a.kind = "hears"
strategies.a.markets = ["BTC-EUR"]
strategies.a.interval = "1h"
` + sections})
	if err != nil {
		return nil, err
	}
	p, err := NewBacktest(c, hearing())
	if err != nil {
		return nil, err
	}
	lib, err := OpenLibrary(c)
	require.NoError(t, err)
	t.Cleanup(func() { lib.Close() })
	return p, p.Finish(lib)
}

func TestABacktestReadsItsSignals(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "a.csv"), filepath.Join(t.TempDir(), "b.csv")
	text := "time,market,action\n2021-03-01 12:01,BTCEUR,buy\n2021-03-01 12:02,ETH-EUR,buy\n" +
		"2021-03-02 12:01,BTC/EUR,\n2099-03-01 12:01,,sell\n"
	require.NoError(t, os.WriteFile(one, []byte(text), 0o600))
	require.NoError(t, os.WriteFile(two, []byte(text), 0o600))
	section := func(file string) string {
		return "[signals.model]\nfile = \"" + file + "\"\ndelay = \"2s\"\nmarkets = {BTCEUR = \"BTC-EUR\"}\n"
	}
	p, err := heardPlan(t, section(one))
	require.NoError(t, err)
	require.Len(t, p.Run.Signals, 1)
	require.Equal(t, "2021-03-01T12:01:02Z", p.Run.Signals[0].Known.String())
	require.Equal(t, p.Catalog.MarketNamed("BTC-EUR").ID, p.Run.Signals[0].Market)
	said := strings.Join(p.Options.Assumptions, "\n")
	require.Contains(t, said, "Signals model: "+one+" (SHA-256 ")
	require.Contains(t, said, "3 rows, known at their times and 2s later, from 2021-03-01T12:01:02Z to "+
		"2099-03-01T12:01:02Z. Of its rows: 1 of markets that are not traded, never used; 1 after the last "+
		"candle, never used; 1 without a value.")
	require.Contains(t, strings.Join(p.Options.Warnings, "\n"),
		"Signals arrive inside the 1h candles that move BTC-EUR")

	same, err := heardPlan(t, section(two))
	require.NoError(t, err)
	require.Equal(t, p.Options.ConfigHash, same.Options.ConfigHash, "the name of the file changes nothing")
	require.NoError(t, os.WriteFile(two, []byte(strings.Replace(text, "buy", "sell", 1)), 0o600))
	other, err := heardPlan(t, section(two))
	require.NoError(t, err)
	require.NotEqual(t, p.Options.ConfigHash, other.Options.ConfigHash, "its content does")
	require.Equal(t, p.Options.DataHash, same.Options.DataHash)
	require.NotEqual(t, p.Options.DataHash, other.Options.DataHash, "a try on other signals is another try")
}

// livePlan plans a live bot with sections of signals.
func livePlan(t *testing.T, sections string) (*Live, error) {
	c, err := config.LoadRun(&config.Source{Text: `
bot.mode = "paper"
paper.start.EUR = "1000"
strategies.a.kind = "hears"
strategies.a.markets = ["BTC-EUR"]
strategies.a.interval = "1h"
strategies.a.operator_id = 1
` + sections})
	require.NoError(t, err)
	return NewLive(c, hearing(), os.Getenv)
}

// One config file serves a backtest and a live bot.
func TestALiveBotNamesTheWayOfItsSignals(t *testing.T) {
	for text, want := range map[string]string{
		`signals.model.file = "x"`: `signals.model.live: is missing; say how the bot hears them: live = "door" by HTTP, ` +
			`"file" as new lines of file, or "stdin"`,
		`signals.model.live = "mail"`: `signals.model.live: "mail" is not one of door, file, stdin`,
		`signals.model.live = "file"`: `signals.model.file: is missing; want the file that grows, like "model.csv"`,
		`signals.model.live = "door"`: `signals.door.listen: is missing, and model comes by the door; want an address ` +
			`like "127.0.0.1:8790"`,
		"signals.model.live = \"stdin\"\nsignals.other.live = \"stdin\"": `signals.other.live: model reads the ` +
			`standard input already; there is only one`,
		"signals.model.live = \"stdin\"\nsignals.model.zone = \"Mars\"": `: signals.model.zone: "Mars" is no time zone`,
	} {
		_, err := livePlan(t, text)
		require.ErrorContains(t, err, want, text)
	}
	section := "signals.model.file = \"" + filepath.Join(t.TempDir(), "a.csv") + "\"\n" +
		"signals.model.live = \"stdin\"\n" +
		"signals.model.markets = {BTCEUR = \"BTC-EUR\"}\nsignals.door.listen = \"127.0.0.1:0\"\n"
	live, err := livePlan(t, section)
	require.NoError(t, err)
	o, err := live.SignalOptions("model")
	require.NoError(t, err)
	require.Equal(t, market.Interval1h, o.Interval)
	_, err = heardPlan(t, section)
	require.ErrorContains(t, err, "signals.model.file: open ")
}

func TestBadSectionsOfSignalsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"": `strategies.a: hears signals of "model", which have no section; write [signals.model], for a backtest with ` +
			`file = "model.csv", for a live bot with live = "door"`,
		`signals.modell.file = "x"`:  `hears signals of "model", which have no section; the nearest is [signals.modell]`,
		`signals.model.delay = "2s"`: `signals.model.file: is missing; want a CSV of signals, like "model.csv"`,
		"signals.model.file = \"x\"\nsignals.model.zone = \"Mars\"": `signals.model.zone: "Mars" is no time zone that ` +
			`this machine knows; want UTC, or a name like Europe/Amsterdam`,
		"signals.model.file = \"x\"\nsignals.model.stamped = \"end\"": `signals.model.stamped: "end" is not one of open, ` +
			`close`,
		"signals.model.file = \"x\"\nsignals.model.markets.BTC = \"BTCEUR\"": `signals.model.markets.BTC: `,
		`signals.model.file = "nowhere.csv"`:                                 `signals.model.file: open nowhere.csv: `,
		`signals.model.fil = "x"`:                                            `signals.model.fil: unknown key; the nearest is "file"`,
	} {
		_, err := heardPlan(t, text)
		require.ErrorContains(t, err, want)
	}
	source := &config.Source{Text: "signals.model.file = \"own.csv\"\nsignals.model.zone = \"UTC\"\n"}
	portable, err := source.Portable()
	require.NoError(t, err)
	require.Contains(t, portable.Text, "UTC")
	require.NotContains(t, portable.Text, "own.csv", "another machine has its own path")
}

// The same rows as CSV and as Parquet are the same signals.
func TestSignalsMayStandInParquet(t *testing.T) {
	dir := t.TempDir()
	text := "time_ms,market,action,value\n1614600061000,BTC-EUR,buy,0.25\n1614600062000,BTC-EUR,,-1\n" +
		"1614700061000,,sell,\n"
	named := strings.Replace(text, "time_ms", "time", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.csv"), []byte(named), 0o600))
	var out bytes.Buffer
	require.NoError(t, parquet.Table(&out, func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.parquet"), out.Bytes(), 0o600))
	section := func(file string) string { return "[signals.model]\nfile = \"" + filepath.Join(dir, file) + "\"\n" }
	p, err := heardPlan(t, section("a.csv"))
	require.NoError(t, err)
	q, err := heardPlan(t, section("a.parquet"))
	require.NoError(t, err)
	require.Len(t, q.Run.Signals, 3)
	require.Equal(t, p.Run.Signals, q.Run.Signals)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.parquet"), out.Bytes()[:out.Len()/2], 0o600))
	_, err = heardPlan(t, section("b.parquet"))
	require.ErrorContains(t, err, "b.parquet: it is no whole Parquet file")
	bad := strings.Replace(text, "sell", "sel", 1)
	out.Reset()
	require.NoError(t, parquet.Table(&out, func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(bad)), nil
	}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.parquet"), out.Bytes(), 0o600))
	_, err = heardPlan(t, section("c.parquet"))
	require.ErrorContains(t, err, "c.parquet as CSV: line 4, column \"action\": \"sel\" is none of buy, sell, exit")
}
