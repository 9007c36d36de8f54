package rules_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/rules"
	"github.com/tidemark-trading/tidemark/strategy/rules/rulestest"
)

var ejected = flag.Int("ejected", 8, "how many random strategies are ejected, compiled and played")

// play is one comparison of testdata/ejected.go.txt.
type play struct {
	Name          string
	Kind          int
	Rules, Params map[string]any
	Interval      string
	Seed          uint64
	Candles       int
	Markets       int
}

// farm is a module of ejected packages. It stands beside this package, in an overlay of the build.
type farm struct {
	*testing.T
	dir     string
	overlay map[string]string
	kinds   int
	imports string
	list    string
	plays   []play
	folder  string
}

func newFarm(t *testing.T) *farm {
	here, err := os.Getwd()
	require.NoError(t, err)
	return &farm{T: t, dir: t.TempDir(), overlay: map[string]string{}, folder: filepath.Join(here, "ejectedfarm")}
}

// file adds a file to the overlay.
func (f *farm) file(path string, text []byte) {
	real := filepath.Join(f.dir, strings.ReplaceAll(path, "/", "_"))
	require.NoError(f, os.WriteFile(real, text, 0o644))
	f.overlay[filepath.Join(f.folder, path)] = real
}

// grow ejects rules, and adds the package and its plays. vary are other values of params.
func (f *farm) grow(name string, values map[string]any, interval string, vary map[string]any) {
	f.Helper()
	on, err := market.ParseInterval(interval)
	require.NoError(f, err)
	pkg := fmt.Sprintf("zz%03dzz", f.kinds)
	e, err := rules.Eject(rules.Ejection{Package: pkg, Strategy: name, From: "a test",
		Tidemark: "github.com/tidemark-trading/tidemark", Interval: on, Values: values})
	require.NoError(f, err, "%s: %v", name, values)
	for file, text := range e.Files {
		f.file(pkg+"/"+file, text)
	}
	f.imports += fmt.Sprintf("\t%q\n", "github.com/tidemark-trading/tidemark/strategy/rules/ejectedfarm/"+pkg)
	f.list += "\t" + pkg + ".Definition,\n"
	p := play{Name: name, Kind: f.kinds, Rules: values, Params: map[string]any{}, Interval: interval,
		Seed: uint64(f.kinds) + 1, Candles: 1000, Markets: 1 + f.kinds%3}
	f.plays = append(f.plays, p)
	if vary != nil {
		other := map[string]any{}
		for key, value := range values {
			other[key] = value
		}
		for key, value := range vary {
			other[key] = value
		}
		p.Name, p.Rules, p.Params = name+" varied", other, vary
		f.plays = append(f.plays, p)
	}
	f.kinds++
}

// fills are those of a play.
type fills struct{ all, words int } // words: those whose tag shows the let name words

// play builds all and plays all.
func (f *farm) play() map[string]fills {
	f.Helper()
	main, err := os.ReadFile("testdata/ejected.go.txt")
	require.NoError(f, err)
	f.file("main.go", main)
	f.file("kinds.go", []byte("package main\n\nimport (\n\t\"github.com/tidemark-trading/tidemark/strategy\"\n"+
		f.imports+")\n\nvar kinds = []strategy.Definition{\n"+f.list+"}\n"))
	text, err := json.Marshal(map[string]any{"Replace": f.overlay})
	require.NoError(f, err)
	overlay, plays := filepath.Join(f.dir, "overlay.json"), filepath.Join(f.dir, "plays.json")
	require.NoError(f, os.WriteFile(overlay, text, 0o644))
	text, err = json.Marshal(f.plays)
	require.NoError(f, err)
	require.NoError(f, os.WriteFile(plays, text, 0o644))
	c := bottest.Child("go", "run", "-overlay", overlay, "./ejectedfarm", plays)
	out, err := c.CombinedOutput()
	require.NoError(f, err, "%s", out)
	played := map[string]fills{}
	for line := range strings.Lines(string(out)) {
		name, numbers, _ := strings.Cut(line, ": ")
		var n fills
		_, err := fmt.Sscan(numbers, &n.words, &n.all)
		require.NoError(f, err, "%s", line)
		played[name] = n
	}
	require.Len(f, played, len(f.plays))
	return played
}

// written are rules to eject, and other values of params to play.
type written struct {
	name, interval string
	values, vary   map[string]any
}

// ours are strategies with each rule, and words of each kind.
var ours = []written{
	{"configs/rules.toml", "4h", map[string]any{"enter": int64(20), "leave": int64(10), "rules.size": "up to 1% risk",
		"rules.entry": `close > highest(high, enter)[1] and close > sma(50, "1d")`, "rules.exit": "close < lowest(low, leave)[1]",
		"rules.trail": "3 * atr(14)"}, map[string]any{"enter": int64(31), "leave": int64(7)}},
	{"position", "1h", map[string]any{"rules.entry": "rsi(14) < bottom and bars_since_exit > 5", "bottom": 40.5,
		"rules.exit": "profit > 2 or bars_since_entry > 30 or close < highest_since_entry * 0.97 or " +
			"close > lowest_since_entry + 9 * atr(14) or close > cost * 1.05 and entry_price < close",
		"rules.stop": "4%"},
		map[string]any{"bottom": 45.5}},
	{"account", "1h", map[string]any{"rules.entry": "equity > 9000 and cash > 100 and close crosses above ema(20)",
		"rules.exit": "in_position and close < ema(20)", "rules.size": "25 quote"}, nil},
	{"clock", "1h", map[string]any{"rules.entry": `hour == 3 and weekday <= 5 and minute == 0 and day > 2 and month > 0 ` +
		`and between("01:00", "16:30")`, "rules.exit": `between("22:00", "02:00")`}, nil},
	{"zone", "4h", map[string]any{"rules.entry": "hour == 5 and minute == 0 and weekday <= 5 and month < 4 or " +
		"hour == 6 and day > 3", "rules.exit": `between("13:30", "23:00")`, "rules.zone": "Europe/Amsterdam"}, nil},
	{"zone that is not read", "1h", map[string]any{"rules.entry": "rsi(5) < 30", "rules.exit": "rsi(5) > 60",
		"rules.zone": "Asia/Kolkata"}, nil},
	{"zone at signals", "1h", map[string]any{"rules.on": "model", "rules.entry": "minute >= 30",
		"rules.exit": "hour > 12",
		"rules.zone": "Asia/Kolkata"}, nil},
	{"plot", "1h", map[string]any{"rules.entry": "close > median(n)", "rules.exit": "close < sma(7)", "n": int64(8),
		"rules.plot": `ema(300), rsi(14), profit, close - sma(9), close[1] - 1, (close - sma(9)) * volume, ` +
			`sma(30, "1d"), close > open ? high : low, sum(close - close("4h"), 3), max(n, 9), exp(rsi(14) * 20)`},
		map[string]any{"n": int64(7)}},
	{"powers", "1h", map[string]any{"n": int64(5), "rules.let.root": "pow(close / close[n], 0.5)",
		"rules.entry":      "root > 1 and hour % 3 == 0 and rsi(9) > pow(n, 2) % 7 and pow(volume / volume[1], 9) > 1",
		"rules.exit":       "position > 0.01 and close % 2 > 1 and close > sma(median(close[3], 4), 2)",
		"rules.exit_after": int64(9)}, map[string]any{"n": int64(3)}},
	{"limit", "1h", map[string]any{"rules.entry": "close < sma(20)", "rules.at": "close - 0.2 * atr(14)",
		"rules.exit_after": int64(9), "rules.stop": "3%", "rules.target": "5%", "rules.break_even": "1%"},
		nil},
	{"add", "1h", map[string]any{"rules.entry": "close < close[1]", "rules.add": int64(3), "rules.size": "5% equity",
		"rules.exit": "close > sma(30)", "rules.cooldown": int64(4), "rules.tag": "dip"}, nil},
	{"raise", "1h", map[string]any{"rules.entry": "close > ema(n)", "n": int64(20), "rules.raise": "low - k * atr(14)",
		"k": 2.5, "rules.target": "close + 6 * atr(14)", "rules.exit_after": int64(40)},
		map[string]any{"n": int64(9), "k": 1.5}},
	{"limit and raise", "30m", map[string]any{"rules.entry": "rsi(7) < 45", "rules.at": "low",
		"rules.raise":    "low * 0.97",
		"rules.cooldown": int64(2)}, nil},
	{"trail", "15m", map[string]any{"rules.entry": "sma(5) crosses above sma(12)", "rules.trail": "2%",
		"rules.cooldown": int64(3)}, nil},
	{"let", "1h", map[string]any{"rules.let.trend": `ema(10) > ema(30) or close > sma(20, "4h")`, "rules.let.band": "2 * atr(n)",
		"n": int64(10), "rules.let.near": "close < ema(10) + band", "rules.entry": "trend and not trend[1] and near",
		"rules.exit": "not trend or all(not near, 3)", "rules.stop": "close - band"}, map[string]any{"n": int64(6)}},
	{"levels", "1h", map[string]any{"rules.entry": "close > floor_price and volume > 0.2 and close - open > step",
		"floor_price": 0.5, "step": 0.0001, "rules.exit": "close < open - 2 * step"}, map[string]any{"step": 0.00123}},
	{"numbers", "1h", map[string]any{"n": int64(6), "rules.entry": "sma(2 * n) > sma(n * n - 6) and " +
		"close[n] < close and " +
		"percentrank(atr(n), 4 * n) > n * 5", "rules.exit": "count(close < open, n) >= n / 2 + 1", "rules.stop": "4%"},
		map[string]any{"n": int64(5)}},
	{"signals", "1h", map[string]any{"rules.signals": "model", "rules.entry": `model.action == "buy" and model.value > 0.3 and ` +
		`model.age < 240 or model.position == "long"`, "rules.exit": `model.action != "buy" or model.target < 0.2`}, nil},
	{"on", "1h", map[string]any{"rules.on": "model", "rules.entry": `model.value > 0.4 and close > close("4h")[1] and hour > 3`,
		"rules.exit": `model.action == "sell"`, "rules.exit_after": int64(30), "rules.raise": "low - 4 * atr(14)"}, nil},
	{"its own interval", "4h", map[string]any{"rules.entry": `sma(close[3], 5, "4h") crosses above close("4h")[2]`,
		"rules.exit": `rsi(7, "4h") > 60`}, nil},
	{"several", "1h", map[string]any{"rules.entry": `close crosses above ema(20, "4h") and sum(close - close("4h"), 3) > 0`,
		"rules.exit": `close("1d")[1] > close or correlation(close, close("4h"), 20) < -0.5`}, nil},
}

func TestEjectedRulesTradeTheSame(t *testing.T) {
	f := newFarm(t)
	for _, one := range ours {
		f.grow(one.name, one.values, one.interval, one.vary)
	}
	for _, one := range twins {
		f.grow("twin of "+one.kind.Name, one.twin, "1h", nil)
	}
	for seed := uint64(0); f.kinds < len(ours)+len(twins)+*ejected; seed++ {
		if values := random(seed); values != nil {
			f.grow(fmt.Sprint("random ", seed), values, []string{"1h", "15m", "4h", "30m"}[seed%4], nil)
		}
	}
	for i, values := range wordGroups(t) {
		f.grow(fmt.Sprint("words ", i), values, "1h", nil)
		f.plays[len(f.plays)-1].Candles = 1600
	}
	all := 0
	for name, fills := range f.play() {
		all += fills.all
		if !strings.HasPrefix(name, "random") {
			require.Greater(t, fills.all, 3, name)
		}
		if strings.HasPrefix(name, "words") {
			require.Greater(t, fills.words, 50, name)
		}
	}
	require.Greater(t, all, 1000)
	t.Logf("%d strategies, %d plays, %d fills", f.kinds, len(f.plays), all)
}

// random is a random strategy, nil where the language refuses it.
func random(seed uint64) map[string]any {
	r := rand.New(rand.NewPCG(seed, 29))
	a := rulestest.Author{Rand: r}
	values := map[string]any{"rules.entry": a.Condition(3), "rules.exit": a.Condition(2), "rules.size": "20% equity"}
	maybe := func(name string, value any) {
		if r.IntN(4) == 0 {
			values["rules."+name] = value
		}
	}
	maybe("at", a.Price(1))
	maybe("stop", a.Price(1)+" - "+a.Distance(1))
	maybe("target", "3%")
	if r.IntN(3) == 0 {
		maybe("trail", a.Distance(2))
	} else {
		maybe("raise", a.Price(1)+" * 0.95")
	}
	maybe("exit_after", int64(1+r.IntN(20)))
	maybe("cooldown", int64(1+r.IntN(5)))
	if values["rules.raise"] == nil {
		maybe("add", int64(1+r.IntN(3)))
	}
	if _, err := rules.Definition.Needs(values); err != nil {
		return nil
	}
	return values
}

// wordGroups are strategies that read all words of `bot strategies rules`: the tag of each exit has
// a number that says which examples are true.
func wordGroups(t *testing.T) (all []map[string]any) {
	const size = 11
	var sum []string
	flush := func() {
		text := strings.Join(sum, " + ")
		values := map[string]any{"rules.let.words": text, "rules.entry": "true",
			"rules.exit": "in_position and words >= 0", "rules.exit_after": int64(6), "rules.size": "50% equity"}
		if strings.Contains(text, "model.") {
			values["rules.signals"] = "model"
		}
		_, err := rules.Definition.Needs(values)
		require.NoError(t, err)
		all, sum = append(all, values), nil
	}
	for _, w := range rules.Definition.Words() {
		if strings.Contains(w.Example, "ETH-EUR") { // another market is refused
			continue
		}
		if sum = append(sum, fmt.Sprintf("(%s ? %d : 0)", w.Example, 1<<len(sum))); len(sum) == size {
			flush()
		}
	}
	flush()
	return all
}

// TestEachKeyOfRulesIsPlayedOrRefused holds that no key of rules is left out of the Go code in
// silence.
func TestEachKeyOfRulesIsPlayedOrRefused(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[rules.Params]()) {
		key := f.Tag.Get("toml")
		played := slices.ContainsFunc(ours, func(one written) bool { return one.values[key] != nil })
		_, err := rules.Eject(rules.Ejection{Package: "x", Interval: market.Interval1h, Values: map[string]any{key: 1}})
		refused := err != nil && strings.Contains(err.Error(), "is not written in Go yet")
		require.NotEqual(t, played, refused, "%s: add it to writtenKeys and to a strategy of ours, or leave both", key)
	}
	_, err := rules.Eject(rules.Ejection{Package: "x", Interval: market.Interval1h, Values: map[string]any{
		"rules.entry": "true", "rules.exit": "false", "rules.new": "x"}})
	require.EqualError(t, err,
		"rules.new: it is not written in Go yet: take it out of the rules, eject them, and add it in Go")
}

// TestRulesOverOtherMarketsAreNotEjectedYet holds the words of the refusal.
func TestRulesOverOtherMarketsAreNotEjectedYet(t *testing.T) {
	_, err := rules.Eject(rules.Ejection{Package: "x", Interval: market.Interval1h, Values: map[string]any{
		"rules.entry": `close("ETH-EUR") > 1`, "rules.exit": "false"}})
	require.ErrorContains(t, err, "rules that read another market, ETH-EUR, are not written in Go yet")
}
