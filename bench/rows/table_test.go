package rows

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// BenchmarkTable measures what performance promises are made of, each beside its floor in the same
// run, and prints one table:
//
//	go test -run '^$' -bench Table -benchtime 1x .
//
// Figures are CPU time, the least of a few tries: what the code costs, not what the machine was
// doing. A ratio past its goal is marked; nothing fails, because a machine is no specification. The
// last rows are those of benchmarks in the packages, which tell there what they are. With -short
// there are two tries of few candles, to see that it works, and no rows of the packages.
func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		t := &table{b: b}
		if testing.Short() {
			t.rounds = 2
		}
		t.text.WriteString(machine())
		t.line("what", "floor", "ours", "ratio", "goal")
		t.loop()
		t.rules()
		t.resting()
		t.sweep()
		t.dense()
		t.walk()
		t.placebo()
		t.store()
		t.process()
		t.sweepProcess()
		t.rulesSweep()
		t.live()
		t.liveSocket()
		t.packages()
		fmt.Println(t.text.String())
	}
}

// BenchmarkRows measures the rows of the table that need no other process, a section each. bench/ab
// runs it, and knows the sections by their names.
func BenchmarkRows(b *testing.B) {
	if testing.Short() {
		b.Skip("BenchmarkTable measures the same rows")
	}
	for _, section := range []struct {
		name    string
		measure func(*table)
	}{{"loop", (*table).loop}, {"resting", (*table).resting}, {"store", (*table).store}, {"live", (*table).live},
		{"sweep", (*table).sweep}, {"rules", (*table).rules}, {"rulesSweep", (*table).rulesSweep},
		{"dense", (*table).dense}} {
		b.Run(section.name, func(b *testing.B) {
			for b.Loop() {
				t := &table{b: b}
				section.measure(t)
				fmt.Println(t.text.String())
			}
		})
	}
}

const million = 1_000_000

// many is how many candles the measurements take: a million, with -short few.
func many() int {
	if testing.Short() {
		return million / 50
	}
	return million
}

type table struct {
	b      *testing.B
	bot    string // the program, built where it is first asked for
	rounds int    // of least and children; 0: nine and seven
	fresh  bool   // least gives the memory of a run back to the operating system before the next
	text   bytes.Buffer
}

func (t *table) line(what, floor, ours, ratio, goal string) {
	fmt.Fprintf(&t.text, "\n| %-54s | %-28s | %-12s | %-14s | %-18s |", what, floor, ours, ratio, goal)
}

// compare prints a row; at most is the goal of ours/floor, or at least where it is negative.
func (t *table) compare(what, floorName string, floor, ours float64, unit string, goal float64) {
	ratio, word := ours/floor, "≤"
	missed := ratio > goal
	if goal < 0 {
		goal, ratio, word = -goal, floor/ours, "≥"
		missed = ratio < goal
	}
	mark := ""
	if missed {
		mark = " missed"
	}
	t.line(what, fmt.Sprintf("%s %.4g %s", floorName, floor, unit), fmt.Sprintf("%.4g %s", ours, unit),
		fmt.Sprintf("%.2f×", ratio), fmt.Sprintf("%s %g×%s", word, goal, mark))
}

// least runs works in turn, several rounds of them, and returns the least CPU time of each in
// nanoseconds: what the machine does meanwhile hits all of them alike.
func (t *table) least(works ...func()) []float64 {
	best := make([]float64, len(works))
	for round := range cmp.Or(t.rounds, 9) {
		for i, work := range works {
			runtime.GC()
			if t.fresh {
				debug.FreeOSMemory()
			}
			began := cpuTime(t.b, syscall.RUSAGE_SELF)
			work()
			if took := float64(cpuTime(t.b, syscall.RUSAGE_SELF) - began); round == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best
}

func cpuTime(tb testing.TB, who int) time.Duration {
	var usage syscall.Rusage
	require.NoError(tb, syscall.Getrusage(who, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// kept holds results that are not needed, so that the compiler computes them.
var kept int64

// scan is the floor of the loop and of the replay: one pass over candles in memory that reads every
// field.
func scan(candles []market.Candle) (sum int64) {
	for i := range candles {
		c := &candles[i]
		sum += int64(c.Open) + int64(c.High) + int64(c.Low) + int64(c.Close) + int64(c.Volume) + int64(c.Start) +
			int64(c.Market) + int64(c.Interval)
	}
	return sum
}

// loop measures the engine with the venue: a candle that brings no order, and an order's round
// trip.
func (t *table) loop() {
	n, orders := float64(many()), float64(many()/10)
	p, candles := t.plan(many(), 1, shipped.SMACross)
	bare, _ := t.plan(many(), 1, plain)
	waits, _ := t.plan(many(), million*100, protected)
	bare.Open, waits.Open = p.Open, p.Open // the same candles: their place in memory is no part of the ratio
	busy, few := t.plan(many()/10, million*100, flip(1))
	took := t.least(func() { kept += scan(candles) }, func() { scanCached(candles) }, func() { t.run(p) },
		func() { t.trade(few[:len(few)/8], 8) }, func() { t.trade(few, 1) }, func() { t.run(busy) },
		func() { t.run(bare) }, func() { t.run(waits) })
	floor, candle := scans{took[0] / n, took[1] / n}, took[2]/n
	t.order("candle without an order, plain OnCandle (smacross 20/50)", floor, took[6]/n, 18)
	t.candle("the same with Skip", floor, candle)
	t.order("candle while a bracket waits", floor, took[7]/n, 20)
	t.inTurn(candles)
	t.order("order, 8 a candle: ask, gate, venue, fill, fold", floor, took[3]/orders, 400)
	t.order("order, 1 a candle, the candle's path included", floor, took[4]/orders-candle, 400)
	t.order("the same with its records and figures", floor, took[5]/orders-candle, 550)

	one, placed := t.mallocs(many())
	two, _ := t.mallocs(2 * many())
	t.line("allocations of 2 M candles against 1 M", strconv.FormatUint(one, 10), strconv.FormatUint(two, 10),
		fmt.Sprintf("%+d", int64(two)-int64(one)), fmt.Sprintf("≤ +%d", placed/10))
}

// scans are the floors of the loop, in ns a candle.
type scans struct{ memory, cache float64 }

// scanCached is scan over the same few candles again and again: it does not wait for memory, which
// is slow on some machines.
func scanCached(candles []market.Candle) {
	for range len(candles) / 128 {
		kept += scan(candles[:128])
	}
}

func (f scans) String() string {
	return fmt.Sprintf("scan %.3g ns, cached %.3g", f.memory, f.cache)
}

// against is the ratio of a cost to both floors.
func (f scans) against(ours float64) string {
	return fmt.Sprintf("%.3g×, %.3g×", ours/f.memory, ours/f.cache)
}

// candle prints a row for a candle; its goal is a ratio to the scan from memory.
func (t *table) candle(what string, floor scans, ours float64) {
	goal := "≤ 3.5× scan"
	if ours > 3.5*floor.memory {
		goal += " missed"
	}
	t.line(what, floor.String(), fmt.Sprintf("%.4g ns", ours), floor.against(ours), goal)
}

// order prints a row for an order's round trip, or a candle; its goal is in ns.
func (t *table) order(what string, floor scans, ours, most float64) {
	goal := fmt.Sprintf("≤ %g ns", most)
	if ours > most {
		goal += " missed"
	}
	t.line(what, floor.String(), fmt.Sprintf("%.4g ns", ours), floor.against(ours), goal)
}

// inTurn measures many engines that step the same candles in turn, a batch at a time: what one
// knows pushes out of the processor's cache what another one does.
func (t *table) inTurn(candles []market.Candle) {
	engines := make([]*engine.Engine, 24)
	took := t.least(func() { kept += scan(candles) }, func() { scanCached(candles) }, func() {
		for i := range engines {
			engines[i] = t.engine(shipped.SMACross)
		}
		for rest := candles; len(rest) > 0; rest = rest[min(128, len(rest)):] {
			for _, e := range engines {
				t.coast(e, rest[:min(128, len(rest))])
			}
		}
	})
	n := float64(len(candles))
	t.candle("the same in one of 24 engines in turn, no venue", scans{took[0] / n, took[1] / n}, took[2]/24/n)
}

// resting compares a venue in which 100 orders rest far away with one in which 2 do.
func (t *table) resting() {
	n := float64(many())
	two, _ := t.plan(many(), million*100, ladder(2))
	hundred, _ := t.plan(many(), million*100, ladder(100))
	hundred.Open = two.Open // the same candles: their place in memory is no part of the ratio
	took := t.least(func() { t.run(two) }, func() { t.run(hundred) })
	t.compare("candle with 100 resting orders", "2 orders", took[0]/n, took[1]/n, "ns", 1.2)
}

func (t *table) mallocs(n int) (mallocs uint64, orders int64) {
	p, _ := t.plan(n, million*100, shipped.SMACross)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result := t.run(p)
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, result.Orders.Orders
}

func (t *table) run(p *backtest.Plan) *backtest.Result {
	result, err := backtest.Run(context.Background(), p, backtest.Options{})
	require.NoError(t.b, err)
	return result
}

// store measures replay and import.
func (t *table) store() {
	dir := t.b.TempDir()
	path, m, n := t.csv(dir, many()), bitcoin(), float64(many())
	store, err := candles.Open(filepath.Join(dir, "candles.db"))
	require.NoError(t.b, err)
	defer store.Close()
	options := candles.ImportOptions{WriteOptions: candles.WriteOptions{Market: m.Name, Interval: market.Interval1m}}
	fresh := 0
	took := t.least(func() { kept += t.countBytes(path) }, func() {
		fresh++
		target, err := candles.Open(filepath.Join(dir, fmt.Sprint("fresh", fresh, ".db")))
		require.NoError(t.b, err)
		t.importFile(target, path, options)
		require.NoError(t.b, target.Close())
	})
	t.compare("import of 1 M CSV rows, a row", "read and scan", took[0]/n, took[1]/n, "ns", 2.7)

	t.importFile(store, path, options)
	series, err := store.Series(m.Name, market.Interval1m)
	require.NoError(t.b, err)
	candles := t.replay(store, m, make([]market.Candle, 0, many()))
	took = t.least(func() { kept += scan(candles) }, func() { t.replay(store, m, nil) })
	t.compare("replay from the store as structs, a candle", "scan", took[0]/n, took[1]/n, "ns", -0.3)
	t.line("candle on disk", "", fmt.Sprintf("%.2f B", float64(series.Bytes)/n), "", "≤ 9 B")
}

func (t *table) importFile(store *candles.Store, path string, options candles.ImportOptions) {
	file, err := os.Open(path)
	require.NoError(t.b, err)
	defer file.Close()
	_, err = store.ImportCSV(file, options)
	require.NoError(t.b, err)
}

// replay reads the whole series, into keep where that is given.
func (t *table) replay(store *candles.Store, m *market.Market, keep []market.Candle) []market.Candle {
	reader, err := store.Read(candles.ReadOptions{Market: m, Interval: market.Interval1m})
	require.NoError(t.b, err)
	defer reader.Close()
	for {
		batch, err := reader.Next()
		if err == io.EOF {
			return keep
		}
		if err != nil {
			t.b.Fatal(err) // require would cost as much as decoding twenty candles, every time
		}
		if keep != nil {
			keep = append(keep, batch...)
		}
		kept += int64(batch[0].Close)
	}
}

// countBytes is the floor of an import: read the file and look at every byte.
func (t *table) countBytes(path string) (separators int64) {
	file, err := os.Open(path)
	require.NoError(t.b, err)
	defer file.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := file.Read(buffer)
		for _, ch := range buffer[:n] {
			if ch == ',' || ch == '\n' {
				separators++
			}
		}
		if err == io.EOF {
			return separators
		}
		require.NoError(t.b, err)
	}
}

// process measures the command as a whole, beside sha256sum over the same candles as CSV.
func (t *table) process() {
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.line("bot backtest, whole process", "no sha256sum here", "", "", "")
		return
	}
	dir, bot := t.b.TempDir(), t.program()
	config, err := filepath.Abs("configs/bench.toml")
	require.NoError(t.b, err)
	path := t.csv(dir, many())
	small := t.filled(dir, "small", many())
	cpu, memory := t.children(small, []string{"sha256sum", path}, []string{bot, "backtest", "-c", config, "--json"},
		[]string{bot, "backtest", "-c", config, "--out", filepath.Join(dir, "out")},
		[]string{bot, "backtest", "-c", config, "--check-lookahead"})
	t.compare("bot backtest --json, 1 M candles, CPU", "sha256sum", cpu[0], cpu[1], "ms", 0.2)
	t.compare("bot backtest with all files and envelope, CPU", "sha256sum", cpu[0], cpu[2], "ms", 0.8)
	t.compare("bot backtest --check-lookahead, 1 M candles, CPU", "backtest --json", cpu[1], cpu[3], "ms", 4)
	t.line("peak memory, 1 M candles", "", fmt.Sprintf("%.1f MB", memory[1]), "", "≤ 64 MB")
	large := t.filled(dir, "large", 10*many())
	_, more := t.children(large, []string{bot, "backtest", "-c", config, "--json"})
	t.compare("peak memory, 10 M candles", "1 M candles", memory[1], more[0], "MB", 1.2)
}

// program is the bot as users build it.
func (t *table) program() string {
	if t.bot == "" {
		t.bot = filepath.Join(t.b.TempDir(), "bot")
		t.must(command("go", "build", "-o", t.bot, "./cmd/bot"))
	}
	return t.bot
}

// filled makes a folder with a candle store of n candles.
func (t *table) filled(dir, name string, n int) string {
	folder := filepath.Join(dir, name)
	require.NoError(t.b, os.Mkdir(folder, 0o755))
	store, err := candles.Open(filepath.Join(folder, "candles.db"))
	require.NoError(t.b, err)
	t.importFile(store, t.csv(folder, n),
		candles.ImportOptions{WriteOptions: candles.WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}})
	require.NoError(t.b, store.Close())
	return folder
}

// children runs commands in turn, several rounds of them, and returns the least CPU time of each in
// milliseconds and its least peak memory in MB.
func (t *table) children(dir string, commands ...[]string) (cpu, memory []float64) {
	cpu, memory = make([]float64, len(commands)), make([]float64, len(commands))
	for round := range cmp.Or(t.rounds, 7) {
		for i, line := range commands {
			cmd := command(line[0], line[1:]...)
			cmd.Dir = dir
			peak := t.start(cmd)
			usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			used := float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
			if round == 0 || used < cpu[i] {
				cpu[i] = used
			}
			if round == 0 || peak < memory[i] {
				memory[i] = peak
			}
		}
	}
	return cpu, memory
}

// start runs a command and returns the largest resident memory seen in its /proc/PID/status, in MB.
// What the system reports at the end (maxrss) counts what this process had when it forked.
func (t *table) start(cmd *exec.Cmd) (peak float64) {
	var text bytes.Buffer
	cmd.Stderr = &text
	require.NoError(t.b, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			require.NoError(t.b, err, "%s: %s", cmd, text.String())
			return peak
		case <-time.After(time.Millisecond):
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, line, found := strings.Cut(string(status), "VmHWM:"); err == nil && found {
				kilobytes, _ := strconv.ParseFloat(strings.Fields(line)[0], 64)
				peak = max(peak, kilobytes/1024)
			}
		}
	}
}

// command returns a child whose pipes are closed a minute after its end at the latest.
func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.WaitDelay = time.Minute
	return cmd
}

func (t *table) must(cmd *exec.Cmd) {
	text, err := cmd.CombinedOutput()
	require.NoError(t.b, err, "%s: %s", cmd, text)
}

// machine says where and on what the figures are measured, and how busy it is.
func machine() string {
	model := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, line, found := strings.Cut(string(text), "model name"); found {
			model = strings.Trim(strings.SplitN(line, "\n", 2)[0], "\t :")
		}
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(text), " ")
	}
	return fmt.Sprintf("\n%s, %d cores, %s, GOMAXPROCS %d, load at the start %s\n", model, runtime.NumCPU(),
		runtime.Version(), runtime.GOMAXPROCS(0), load)
}
