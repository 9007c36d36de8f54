package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
)

// candles is the number of candles in the file that the programs work on.
const candles = 1_000_000

// processRow is a command of the bot, measured as a whole process: its CPU time and, if memory is
// set, its peak memory. Each figure is the least of so many tries.
type processRow struct {
	row, memory string // memory is the name of the row of peak memory, or empty
	tries       int
	config      bool   // with the tree's own configs/bench.toml over its own store of candles
	text        string // with this config, over the store of ten markets
	args        []string
}

// importCandles is the import of the made-up candles; the store's name is to follow.
var importCandles = []string{
	"candles", "import", "--market", "BTC-EUR", "--interval", "1m", "candles.csv", "--db",
}

// twoWeeks ends a backtest after 20,160 candles.
const twoWeeks = "2022-01-15"

// processRows run in a folder with candles.csv, candles.db and markets.db.
var processRows = []processRow{
	{row: "bot version, CPU", tries: 10, args: []string{"version"}},
	{row: "bot candles import, 1 M rows, CPU", memory: "bot candles import, 1 M rows, peak memory", tries: 3,
		args: append(importCandles, "fresh.db")},
	{row: "bot candles verify, 1 M candles, CPU", memory: "bot candles verify, 1 M candles, peak memory", tries: 3,
		args: []string{"candles", "verify", "--db", "candles.db"}},
	{row: "bot backtest --json, built-in config, CPU", tries: 5, args: []string{"backtest", "--json"}},
	{row: "bot backtest with all files, built-in config, CPU", tries: 3,
		args: []string{"backtest", "--out", "out"}},
	{row: "bot backtest --json, 1 M candles, CPU", memory: "bot backtest --json, 1 M candles, peak memory",
		tries: 5, config: true, args: []string{"backtest", "--json"}},
	{row: "bot backtest with all files and envelope, 1 M candles, CPU", tries: 3, config: true,
		args: []string{"backtest", "--out", "out"}},
	{row: "bot backtest of the last day of 1 M candles, CPU", tries: 5, config: true,
		args: []string{"backtest", "--json", "--from", "2023-11-25"}},
	{row: "bot backtest --check-lookahead, 1 M candles, CPU", tries: 1, config: true,
		args: []string{"backtest", "--check-lookahead"}},
	{row: "20 k orders among 5,000 resting ones, CPU", tries: 2, args: []string{"backtest", "--json", "--to", twoWeeks},
		text: strategyText("crowd", "M0-EUR", "orders = 5000")},
	{row: "grids of 50 levels in ten markets, 20 k candles each, CPU", tries: 1,
		args: []string{"backtest", "--json", "--to", twoWeeks},
		text: strategyText("grid", everyMarket, "levels = 50", `spacing_bps = "10"`)},
	{row: "grid of 50 levels, 100 k candles, CPU", tries: 2, args: []string{"backtest", "--json"},
		text: strategyText("grid", "M0-EUR", "levels = 50", `spacing_bps = "10"`)},
	{row: "maker on made-up books, 100 k candles, CPU", tries: 2, args: []string{"backtest", "--json"},
		text: strategyText("maker", "M0-EUR") + "[backtest]\nsynthetic_book = true\nhalf_spread_bps = \"1\"\n"},
	{row: "tickers of 100 k candles, CPU", tries: 3, args: []string{"backtest", "--json"},
		text: strategyText("idle", "M0-EUR", "tickers = true")},
	{row: "ten markets of 100 k candles, idle strategy, CPU", tries: 3, args: []string{"backtest", "--json"},
		text: strategyText("idle", everyMarket)},
}

// everyMarket is the list of the ten markets, as a config has it between quotes.
const everyMarket = `M0-EUR", "M1-EUR", "M2-EUR", "M3-EUR", "M4-EUR", "M5-EUR", "M6-EUR", "M7-EUR", "M8-EUR", "M9-EUR`

// strategyText is the config of a backtest of one strategy over the store of ten markets. All
// revisions since e84bb56 read it.
func strategyText(kind, markets string, params ...string) string {
	return fmt.Sprintf(`[data]
candles = "markets.db"
[account]
currency = "EUR"
maker_fee = "0.0015"
taker_fee = "0.0025"
[account.start]
EUR = "1000000"
[strategies.a]
kind = %q
markets = ["%s"]
interval = "1m"
[strategies.a.params]
%s
`, kind, markets, strings.Join(params, "\n"))
}

// processSources measure the bot's commands; scratch gets the files of candles that both sides
// import.
func processSources(scratch string) (all []*source) {
	for i := range processRows {
		r := &processRows[i]
		s := &source{name: r.row, rows: []string{r.row}}
		if r.memory != "" {
			s.rows = append(s.rows, r.memory)
		}
		s.prepare = func(ctx context.Context, t *tree) error { return r.prepare(ctx, t, scratch) }
		s.measure = r.measure
		all = append(all, s)
	}
	return all
}

// prepare builds the bot, and makes the store that the row needs.
func (r *processRow) prepare(ctx context.Context, t *tree, scratch string) error {
	if err := t.buildBot(ctx); err != nil {
		return err
	}
	switch {
	case r.text != "":
		return t.marketStore(ctx, scratch)
	case r.config || r.args[0] == "candles":
		return t.candleStore(ctx, scratch)
	}
	return nil
}

// candleStore makes candles.db of candles.csv, once.
func (t *tree) candleStore(ctx context.Context, scratch string) error {
	if _, err := os.Stat(filepath.Join(t.out, "candles.db")); err == nil {
		return nil
	}
	file := filepath.Join(scratch, "candles.csv")
	if err := writeCandles(file, 1, candles); err != nil {
		return err
	}
	if err := os.Link(file, filepath.Join(t.out, "candles.csv")); err != nil {
		return fmt.Errorf("hand over the candles: %w", err)
	}
	return quietly(program(ctx, t.out, t.bot(), append(slices.Clone(importCandles), "candles.db")...))
}

// marketStore makes markets.db, ten markets of a tenth of the candles each, once; three have
// coarser ones, too.
func (t *tree) marketStore(ctx context.Context, scratch string) error {
	if _, err := os.Stat(filepath.Join(t.out, "markets.db")); err == nil {
		return nil
	}
	for i := range 10 {
		file := filepath.Join(scratch, fmt.Sprintf("m%d.csv", i))
		if err := writeCandles(file, uint64(i+1), candles/10); err != nil {
			return err
		}
		if err := quietly(program(ctx, t.out, t.bot(), "candles", "import", "--market", fmt.Sprintf("M%d-EUR", i),
			"--interval", "1m", file, "--db", "markets.db")); err != nil {
			return err
		}
	}
	for _, market := range [...]string{"M0-EUR", "M1-EUR", "M3-EUR"} {
		for _, interval := range [...]string{"5m", "15m", "1h"} {
			if err := quietly(program(ctx, t.out, t.bot(), "candles", "resample", "--market", market,
				"--interval", "1m", "--into", interval, "--db", "markets.db")); err != nil {
				return err
			}
		}
	}
	return nil
}

// arguments are those of the command on a tree.
func (r *processRow) arguments(t *tree) ([]string, error) {
	switch {
	case r.config:
		config := filepath.Join(t.dir, "configs", "bench.toml")
		return append(slices.Clone(r.args), "-c", config, "--db", "candles.db"), nil
	case r.text != "":
		config := filepath.Join(t.out, "row.toml")
		if err := os.WriteFile(config, []byte(r.text), 0o644); err != nil {
			return nil, fmt.Errorf("write a config: %w", err)
		}
		return append(slices.Clone(r.args), "-c", config), nil
	}
	return r.args, nil
}

// measure runs the command and returns its CPU time in milliseconds and its peak memory in MB.
func (r *processRow) measure(ctx context.Context, t *tree) ([]figure, error) {
	args, err := r.arguments(t)
	if err != nil {
		return nil, err
	}
	cpu, memory := figure{row: r.row, unit: "ms"}, figure{row: r.memory, unit: "MB"}
	for range r.tries {
		if err := os.RemoveAll(filepath.Join(t.out, "fresh.db")); err != nil {
			return nil, fmt.Errorf("take the last import away: %w", err)
		}
		cmd := program(ctx, t.out, t.bot(), args...)
		if err := quietly(cmd); err != nil {
			return nil, err
		}
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		cpu.value = lesser(cpu.value, float64(used.Microseconds())/1e3)
		memory.value = lesser(memory.value, peakMemory(cmd.ProcessState))
	}
	if r.memory == "" || memory.value == 0 {
		return []figure{cpu}, nil
	}
	return []figure{cpu, memory}, nil
}

// lesser is the lesser of two values; 0 is none yet.
func lesser(so, now float64) float64 {
	if so == 0 {
		return now
	}
	return min(so, now)
}

// writeCandles writes n seeded candles of one minute, the same on each machine, unless the file is
// there.
func writeCandles(path string, seed uint64, n int) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 4}
	g, err := synthetic.New(synthetic.Config{Seed: seed, Market: m, Interval: market.Interval1m,
		Start: 1640995200_000_000_000, First: 20000_00, Volume: 5_0000, GapChance: -1})
	if err != nil {
		return fmt.Errorf("make up candles: %w", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("make up candles: %w", err)
	}
	defer file.Close()
	w, row := bufio.NewWriter(file), []byte(nil)
	for range n {
		var c market.Candle
		g.Next(&c)
		row = strconv.AppendInt(row[:0], c.Start.Millis(), 10)
		for _, price := range [...]market.Price{c.Open, c.High, c.Low, c.Close} {
			row = market.AppendFixedPadded(append(row, ','), int64(price), m.PriceDigits)
		}
		row = market.AppendFixedPadded(append(row, ','), int64(c.Volume), m.VolumeDigits)
		if _, err := w.Write(append(row, '\n')); err != nil {
			return fmt.Errorf("write candles: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write candles: %w", err)
	}
	return file.Close()
}
