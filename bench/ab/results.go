package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// errDifferent means that a run's results differ between the sides.
var errDifferent = errors.New("results differ")

// resultRun is a backtest whose result files are compared.
type resultRun struct {
	name, text string // text is its config; empty: the built-in one
	args       []string
}

// resultRuns are backtests of the built-in config, of the shipped strategies over made-up candles
// of several seeds, of many markets, tickers, paths and costs, and of random strategies. Each runs
// the envelope too.
func resultRuns() (all []resultRun) {
	all = append(all, resultRun{name: "built-in config"})
	for _, kind := range [...]string{"smacross", "breakout", "rsirevert", "grid", "dca", "maker"} {
		for seed := 1; seed <= 3; seed++ {
			all = append(all, madeUp(kind, seed, "", ""))
		}
	}
	for _, s := range [...]struct{ name, kind, params string }{
		{"wide grid", "grid", "levels = 50\nspacing_bps = \"20\""},
		{"maker on tickers", "maker", "book = false"}, {"tickers alone", "idle", "tickers = true"},
	} {
		run := madeUp(s.kind, 4, "", s.params)
		run.name = s.name
		all = append(all, run)
	}
	for seed := 1; seed <= 8; seed++ {
		all = append(all, madeUp("gambler", seed, rules[seed%len(rules)], fmt.Sprintf("seed = %d", seed)))
	}
	for seed := 1; seed <= 4; seed++ {
		run := madeUp("gambler", seed, rules[seed], fmt.Sprintf("seed = %d\nbrackets = true", seed))
		run.name = "brackets of " + run.name
		all = append(all, run)
	}
	for _, kind := range [...]string{"smacross", "grid", "gambler"} {
		all = append(all, resultRun{name: kind + " in ten markets", text: strategyText(kind, everyMarket),
			args: []string{"--to", twoWeeks}})
	}
	return append(all, resultRun{name: "1,000 resting orders", text: strategyText("crowd", "M0-EUR", "orders = 1000"),
		args: []string{"--to", twoWeeks}})
}

// rules are paths, costs and roundings for random strategies, as lines of [backtest].
var rules = []string{
	"", "path = \"pessimistic\"\nlimit_fill = \"through\"", "latency = \"90s\"\ndata_latency = \"20s\"",
	"half_spread_bps = \"5\"\nslippage_bps = \"3\"", "volume_share = \"0.1\"\npath = \"ohlc\"",
}

// madeUp is a backtest over three made-up years.
func madeUp(kind string, seed int, rules, params string) resultRun {
	return resultRun{name: fmt.Sprintf("%s, seed %d", kind, seed), text: fmt.Sprintf(`[backtest]
seed = %d
synthetic_book = %v
%s
[data]
source = "synthetic"
[account]
currency = "EUR"
maker_fee = "0.0015"
taker_fee = "0.0025"
[account.start]
EUR = "20000"
[strategies.a]
kind = %q
markets = ["BTC-EUR"]
interval = "1h"
[strategies.a.params]
%s
`, seed, kind == "maker" && params == "", rules, kind, params)}
}

// reference is the file of the reference run's candles, below the folder beside the repository.
const reference = "shared/data/bitvavo_BTC-EUR_1h_2020-2024.csv"

// realRuns are backtests on real candles, the reference run first; none where the candles are
// absent. Both sides import the candles.
func (c *comparison) realRuns(ctx context.Context) (all []resultRun, err error) {
	root, err := output(tool(ctx, ".", "git", "rev-parse", "--show-toplevel"))
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	file := filepath.Join(filepath.Dir(root), reference)
	if _, err := os.Stat(file); err != nil {
		fmt.Fprintf(c.stderr, "no runs on real candles, the reference run among them: %v\n", err)
		return nil, nil
	}
	for _, t := range [...]*tree{c.old, c.new} {
		if err := quietly(program(ctx, t.out, t.bot(), "candles", "import", "--market", "BTC-EUR", "--interval", "1h",
			file,
			"--db", "real.db")); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	for _, kind := range [...]string{"reference run", "breakout", "rsirevert", "grid", "dca"} {
		name, params := kind+" on real candles", ""
		if kind == "reference run" {
			name, kind, params = kind, "smacross", "fast = 10\nslow = 20\nshare = \"0.99\""
		}
		all = append(all, resultRun{name: name, text: fmt.Sprintf(realText, kind, params)})
	}
	return all, nil
}

// realText is the config of a run on real candles: those of the reference run.
const realText = `[data]
candles = "real.db"
[account]
currency = "EUR"
maker_fee = "0.0025"
taker_fee = "0.0025"
[account.start]
EUR = "10000000"
[assets.EUR]
decimals = 8
[strategies.a]
kind = %q
markets = ["BTC-EUR"]
interval = "1h"
[strategies.a.params]
%s
`

// compareResults runs every backtest on both sides and prints how their files differ. It returns
// errDifferent where one does.
func (c *comparison) compareResults(ctx context.Context, scratch string) error {
	fmt.Fprintf(c.stdout, "old: %s\nnew: %s\n%s\n", c.old.revision, c.new.revision, normalised)
	for _, t := range [...]*tree{c.old, c.new} {
		fmt.Fprintf(c.stderr, "build %s\n", t.name)
		if err := errors.Join(t.buildBot(ctx), t.marketStore(ctx, scratch)); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	runs, err := c.realRuns(ctx)
	if err != nil {
		return err
	}
	lines := [][]string{{"run", "orders", "equal", "equal when normalised", "different"}}
	var differences []string
	for _, r := range append(runs, resultRuns()...) {
		if !c.rows.MatchString(r.name) {
			continue
		}
		fmt.Fprintf(c.stderr, "run %s\n", r.name)
		line, first, err := c.compareRun(ctx, &r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		lines = append(lines, line)
		if first != "" {
			differences = append(differences, r.name+", "+first)
		}
	}
	if len(lines) == 1 {
		return fmt.Errorf("no run matches %q", c.rows)
	}
	if err := writeTable(c.stdout, lines); err != nil {
		return err
	}
	if len(differences) == 0 {
		return nil
	}
	fmt.Fprintf(c.stdout, "\nfirst differences:\n%s\n", strings.Join(differences, "\n"))
	return errDifferent
}

// compareRun runs a backtest on both sides. It returns its line of the table and the first
// difference.
func (c *comparison) compareRun(ctx context.Context, r *resultRun) (line []string, first string, err error) {
	var files [2]map[string][]byte
	for i, t := range [...]*tree{c.old, c.new} {
		if files[i], err = t.resultFiles(ctx, r); err != nil {
			return nil, "", fmt.Errorf("%s: %w", t.name, err)
		}
	}
	var equal, similar, different []string
	for _, name := range names(files[0], files[1]) {
		was, is := files[0][name], files[1][name]
		switch {
		case bytes.Equal(was, is):
			equal = append(equal, name)
		case name == "report.html":
			similar = append(similar, "(report.html)")
		case name == "plots.csv" && (was == nil || is == nil):
			similar = append(similar, "(plots.csv)")
		default:
			if was, is, err = normalise(name, was, is); err != nil {
				return nil, "", err
			}
			at := firstDifference(was, is)
			if at == "" {
				similar = append(similar, name)
				continue
			}
			different = append(different, name)
			first = cmp.Or(first, name+" "+at)
		}
	}
	orders := fmt.Sprint(bytes.Count(files[1]["orders.csv"], []byte("\n")) - 1)
	return []string{r.name, orders, strings.Join(equal, " "), strings.Join(similar, " "),
		strings.Join(different, " ")}, first, nil
}

// names returns the names of the files of both sides, in order.
func names(was, is map[string][]byte) (all []string) {
	for _, side := range [...]map[string][]byte{was, is} {
		for name := range side {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// resultFiles runs a backtest and returns its result files.
func (t *tree) resultFiles(ctx context.Context, r *resultRun) (map[string][]byte, error) {
	out := filepath.Join(t.out, "results")
	if err := os.RemoveAll(out); err != nil {
		return nil, fmt.Errorf("take the last results away: %w", err)
	}
	args := append([]string{"backtest", "--out", "results", "--envelope=true"}, r.args...)
	if r.text != "" {
		if err := os.WriteFile(filepath.Join(t.out, "run.toml"), []byte(r.text), 0o644); err != nil {
			return nil, fmt.Errorf("write a config: %w", err)
		}
		args = append(args, "-c", "run.toml")
	}
	if err := quietly(program(ctx, t.out, t.bot(), args...)); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(out)
	if err != nil {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	files := map[string][]byte{}
	for _, file := range list {
		if files[file.Name()], err = os.ReadFile(filepath.Join(out, file.Name())); err != nil {
			return nil, fmt.Errorf("read the results: %w", err)
		}
	}
	return files, nil
}
