package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

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
	config      bool // with the tree's own configs/bench.toml over its own store of candles
	args        []string
}

// importCandles is the import of the made-up candles; the store's name is to follow.
var importCandles = []string{
	"candles", "import", "--market", "BTC-EUR", "--interval", "1m", "candles.csv", "--db",
}

// processRows run in a folder with candles.csv and candles.db.
var processRows = []processRow{
	{row: "bot version, CPU", tries: 10, args: []string{"version"}},
	{row: "bot candles import, 1 M rows, CPU", tries: 3, args: append(importCandles, "fresh.db")},
	{row: "bot candles verify, 1 M candles, CPU", tries: 3,
		args: []string{"candles", "verify", "--db", "candles.db"}},
	{row: "bot backtest --json, built-in config, CPU", tries: 5, args: []string{"backtest", "--json"}},
	{row: "bot backtest with all files, built-in config, CPU", tries: 3,
		args: []string{"backtest", "--out", "out"}},
	{row: "bot backtest --json, 1 M candles, CPU", memory: "bot backtest --json, 1 M candles, peak memory",
		tries: 5, config: true, args: []string{"backtest", "--json"}},
	{row: "bot backtest with all files and envelope, 1 M candles, CPU", tries: 3, config: true,
		args: []string{"backtest", "--out", "out"}},
}

// processSources measure the bot's commands; scratch gets the file of candles that both sides
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

// prepare builds the bot, and makes the store where the row needs it.
func (r *processRow) prepare(ctx context.Context, t *tree, scratch string) error {
	if _, err := os.Stat(filepath.Join(t.dir, "cmd", "bot")); err != nil {
		return errAbsent
	}
	if _, err := os.Stat(t.bot()); err != nil {
		build := tool(ctx, t.dir, "go", "build", "-buildvcs=false", "-o", t.bot(), "./cmd/bot")
		if _, err := output(build); err != nil {
			return fmt.Errorf("build the bot: %w", err)
		}
	}
	needed := r.config || r.args[0] == "candles"
	if _, err := os.Stat(filepath.Join(t.out, "candles.db")); err == nil || !needed {
		return nil
	}
	file := filepath.Join(scratch, "candles.csv")
	if _, err := os.Stat(file); err != nil {
		if err := writeCandles(file); err != nil {
			return fmt.Errorf("make up candles: %w", err)
		}
	}
	if err := os.Link(file, filepath.Join(t.out, "candles.csv")); err != nil {
		return fmt.Errorf("hand over the candles: %w", err)
	}
	return quietly(program(ctx, t.out, t.bot(), append(slices.Clone(importCandles), "candles.db")...))
}

// bot is the path of the tree's bot.
func (t *tree) bot() string { return filepath.Join(t.out, "bot") }

// measure runs the command and returns its CPU time in milliseconds and its peak memory in MB.
func (r *processRow) measure(ctx context.Context, t *tree) ([]figure, error) {
	args := r.args
	if r.config {
		config := filepath.Join(t.dir, "configs", "bench.toml")
		args = append(slices.Clone(args), "-c", config, "--db", "candles.db")
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

// writeCandles writes seeded candles of one minute, the same on each machine.
func writeCandles(path string) error {
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 4}
	g, err := synthetic.New(synthetic.Config{Seed: 1, Market: m, Interval: market.Interval1m,
		Start: 1640995200_000_000_000, First: 20000_00, Volume: 5_0000, GapChance: -1})
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w, row := bufio.NewWriter(file), []byte(nil)
	for range candles {
		var c market.Candle
		g.Next(&c)
		row = strconv.AppendInt(row[:0], c.Start.Millis(), 10)
		for _, price := range [...]market.Price{c.Open, c.High, c.Low, c.Close} {
			row = market.AppendFixedPadded(append(row, ','), int64(price), m.PriceDigits)
		}
		row = market.AppendFixedPadded(append(row, ','), int64(c.Volume), m.VolumeDigits)
		if _, err := w.Write(append(row, '\n')); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}
