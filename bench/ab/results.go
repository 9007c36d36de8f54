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
	"time"
)

// errDifferent means that a run's results differ between the sides.
var errDifferent = errors.New("results differ")

// resultRun is a command whose output and files are compared.
type resultRun struct {
	name, text string   // text is its config; empty: the built-in one
	command    string   // empty: backtest, with its envelope
	args       []string // beside --json, --out and the config
	signals    bool     // its config reads the file of madeUpSignals
}

// resultRuns are backtests of the built-in config, of the shipped strategies over made-up candles
// of several seeds, of many markets, tickers, paths and costs, of random strategies and of those
// that use all that a desk offers; then searches.
func resultRuns() (all []resultRun) {
	all = append(all, resultRun{name: "built-in config"})
	for _, kind := range [...]string{"smacross", "breakout", "rsirevert", "bandrevert", "grid", "dca", "maker"} {
		for seed := 1; seed <= 3; seed++ {
			all = append(all, madeUp(kind, seed, "", ""))
		}
	}
	for _, s := range [...]struct{ name, kind, params string }{
		{"wide grid", "grid", "levels = 50\nspacing_bps = \"20\""},
		{"maker on tickers", "maker", "book = false"}, {"tickers alone", "idle", "tickers = true"},
		{"trendfilter", "trendfilter", ""}, {"accumulate", "accumulate", ""},
	} {
		run := madeUp(s.kind, 4, "", s.params)
		run.name = s.name
		all = append(all, run)
	}
	for seed := 1; seed <= 8; seed++ {
		params := fmt.Sprintf("seed = %d", seed)
		all = append(all, madeUp("gambler", seed, rules[seed%len(rules)], params),
			madeUp("mixer", seed, rules[seed%len(rules)], params))
	}
	for seed := 1; seed <= 4; seed++ {
		run := madeUp("gambler", seed, rules[seed], fmt.Sprintf("seed = %d\nbrackets = true", seed))
		run.name = "brackets of " + run.name
		all = append(all, run)
	}
	for _, kind := range [...]string{"smacross", "grid", "gambler", "rotation", "mixer"} {
		all = append(all, resultRun{name: kind + " in ten markets", text: strategyText(kind, everyMarket),
			args: []string{"--to", twoWeeks}})
	}
	all = append(all,
		resultRun{name: "1,000 resting orders", text: strategyText("crowd", "M0-EUR", "orders = 1000"),
			args: []string{"--to", twoWeeks}},
		resultRun{name: "two strategies with every limit", text: strategyText("mixer", everyMarket) + limits,
			args: []string{"--to", twoWeeks}},
		resultRun{name: "strategies beside each other", text: strategyText("mixer", everyMarket) + beside,
			args: []string{"--to", twoWeeks}},
		resultRun{name: "a universe", text: strings.Replace(strategyText("mixer", "x"), `markets = ["x"]`,
			`universe = {rank = "volume1d", top = 4}`, 1), args: []string{"--to", twoWeeks}})
	all = append(all, written()...)
	return append(all, searches()...)
}

// written are strategies in the config, and those that hear signals.
func written() (all []resultRun) {
	for i, text := range [...]string{
		`entry = 'close > highest(high, 20)[1] and close > sma(50, "1d")'
exit = "close < lowest(low, 10)[1]"
size = "up to 1% risk"
trail = "3 * atr(14)"`,
		`entry = "rsi(14) crosses above 30 or pattern.hammer"
exit = "profit > 3 or bars_since_entry >= 48"
at = "close - 0.2 * atr(14)"
stop = "4%"
cooldown = 3
add = 2
size = "10% equity"`,
		`entry = "sma(10) crosses above sma(30) and volume > 0.5 * sma(volume, 20)"
raise = "low - 3 * atr(14)"
exit_after = 100
zone = "Europe/Amsterdam"
let.late = "hour >= 12"
exit = "late and close < ema(20)"`,
		`signals = "model"
entry = "model.value > 0.6 and model.age < 300"
exit = "model.value < 0.3"
plot = "ema(50), rsi(14)"`,
		`on = "model"
entry = 'model.position == "long" and close > sma(50, "4h")'
exit = 'model.position == "flat"'
stop = "3%"`,
	} {
		run := madeUp("rules", i+1, "", "")
		run.name, run.signals = fmt.Sprintf("rules, %d", i+1), i >= 3
		run.text += "[strategies.a.rules]\n" + text + "\n"
		all = append(all, run)
	}
	follow := madeUp("follow", 1, "", "source = \"model\"\nstop = \"4%\"")
	follow.signals = true
	all = append(all, follow)
	for i := range all {
		if all[i].signals {
			all[i].text += "[signals.model]\nfile = \"signals.csv\"\n"
		}
	}
	return all
}

// madeUpSignals are the rows of a model over three years.
func madeUpSignals() []byte {
	text, at := []byte("time,position,value\n"), time.Date(2021, 1, 1, 0, 17, 0, 0, time.UTC)
	for i := range 3000 {
		at = at.Add(time.Duration(1+i*7919%1021) * time.Minute)
		text = fmt.Appendf(text, "%s,%s,%.3f\n", at.Format(time.RFC3339), []string{"long", "flat"}[i*31%7%2],
			float64(i*271%1000)/1000)
	}
	return text
}

// limits are all limits that may refuse an order, with a second strategy.
const limits = `[strategies.b]
kind = "gambler"
markets = ["M0-EUR", "M1-EUR"]
interval = "5m"
params.seed = 2
params.brackets = true
risk.max_open_orders = 3
[risk]
max_exposure = "300000"
max_asset_exposure = {M0 = 20000, "*" = 60000}
max_daily_loss = "2000"
max_drawdown = "0.5"
volatility_target = "30%"
max_open_orders = 8
max_order_value = "40000"
max_position = "90000"
price_collar = "0.02"
orders_per_minute = 6
cool_down_losses = 4
cool_down = "1h"
opposite = "refuse"
`

// beside are strategies on other candles in the same markets.
const beside = `[strategies.b]
kind = "breakout"
markets = ["M0-EUR", "M3-EUR"]
interval = "15m"
allocation = "100000"
[strategies.c]
kind = "dca"
markets = ["M0-EUR"]
interval = "1h"
[strategies.d]
kind = "smacross"
markets = ["M1-EUR"]
interval = "5m"
allocation = "1000"
`

// searches are commands that run many backtests.
func searches() []resultRun {
	trend := []string{"--vary", "strategies.trend.params.fast=10:30:10"}
	mixed := madeUp("mixer", 5, "limit_gap = \"open\"", "").text
	vary := []string{"--vary", "strategies.a.params.seed=1:6:1"}
	return []resultRun{
		{name: "sweep", command: "sweep", args: trend},
		{name: "sweep of mixers", command: "sweep", args: vary, text: mixed},
		{name: "walk-forward", command: "walkforward", args: append(trend, "--train", "180d", "--test", "60d")},
		{name: "walk-forward of mixers", command: "walkforward", text: mixed,
			args: append(vary, "--train", "180d", "--test", "60d")},
		{name: "walk-forward of mixers, flat at borders", command: "walkforward", text: mixed,
			args: append(vary, "--train", "180d", "--test", "60d", "--border", "flat")},
		{name: "stress", command: "stress"},
		{name: "stress of mixers", command: "stress", text: mixed, args: []string{"--to", "2021-07-01"}},
	}
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

// compareResults runs every command on both sides and prints how their files differ. It returns
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
	runs = append(runs, resultRuns()...)
	recorded, err := c.recordedRuns(ctx)
	if err != nil {
		return err
	}
	lines := [][]string{{"run", "orders", "equal", "equal without ids", "different"}}
	var differences []string
	for _, r := range append(runs, recorded...) {
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

// compareRun runs a command on both sides. It returns its line of the table and the first
// difference.
func (c *comparison) compareRun(ctx context.Context, r *resultRun) (line []string, first string, err error) {
	var files, plain [2]map[string][]byte
	for i, t := range [...]*tree{c.old, c.new} {
		if files[i], err = t.resultFiles(ctx, r); err != nil {
			return nil, "", fmt.Errorf("%s: %w", t.name, err)
		}
		plain[i] = withoutIDs(files[i])
	}
	var equal, similar, different []string
	for _, name := range names(files[0], files[1]) {
		switch {
		case bytes.Equal(files[0][name], files[1][name]):
			equal = append(equal, name)
		case bytes.Equal(plain[0][name], plain[1][name]):
			similar = append(similar, name)
		default:
			different = append(different, name)
			first = cmp.Or(first, name+" "+firstDifference(plain[0][name], plain[1][name]))
		}
	}
	orders := ""
	if list := files[1]["orders.csv"]; list != nil {
		orders = fmt.Sprint(bytes.Count(list, []byte("\n")) - 1)
	}
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

// arguments are the command's words, and the config in its file.
func (r *resultRun) arguments(t *tree) ([]string, error) {
	out := "results"
	switch r.command {
	case "":
		return r.configured(t, "backtest", "--json", "--envelope=true", "--out", out)
	case "sweep":
		return r.configured(t, r.command, "--json", "--out", "a.sweep") // a store, of which the output has the rows
	case "stress":
		out = filepath.Join(out, "stress.html")
	case "replay", "gap":
		return append([]string{r.command}, r.args...), nil
	}
	return r.configured(t, r.command, "--json", "--out", out)
}

// configured are words with the run's own, and its config in a file.
func (r *resultRun) configured(t *tree, words ...string) ([]string, error) {
	words = append(words, r.args...)
	if r.text == "" {
		return words, nil
	}
	if r.signals {
		if err := os.WriteFile(filepath.Join(t.out, "signals.csv"), madeUpSignals(), 0o644); err != nil {
			return nil, fmt.Errorf("write signals: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(t.out, "run.toml"), []byte(r.text), 0o644); err != nil {
		return nil, fmt.Errorf("write a config: %w", err)
	}
	return append(words, "-c", "run.toml"), nil
}

// resultFiles runs a command and returns its output and its files.
func (t *tree) resultFiles(ctx context.Context, r *resultRun) (map[string][]byte, error) {
	for _, last := range [...]string{"results", "a.sweep", "a.html", "out"} {
		if err := os.RemoveAll(filepath.Join(t.out, last)); err != nil {
			return nil, fmt.Errorf("take the last results away: %w", err)
		}
	}
	out := filepath.Join(t.out, "results")
	if err := os.Mkdir(out, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder of results: %w", err)
	}
	args, err := r.arguments(t)
	if err != nil {
		return nil, err
	}
	text, err := output(program(ctx, t.out, t.bot(), args...))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"output": []byte(text)}
	list, err := os.ReadDir(out)
	if err != nil {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	for _, file := range list {
		if files[file.Name()], err = os.ReadFile(filepath.Join(out, file.Name())); err != nil {
			return nil, fmt.Errorf("read the results: %w", err)
		}
	}
	return files, nil
}
