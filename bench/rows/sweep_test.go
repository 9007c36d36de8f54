package rows

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// BenchmarkSweep measures the rows of the table that are about searches.
func BenchmarkSweep(b *testing.B) {
	if testing.Short() {
		b.Skip("BenchmarkTable measures the same rows")
	}
	for b.Loop() {
		t := &table{b: b}
		t.sweep()
		t.dense()
		t.sweepProcess()
		fmt.Println(t.text.String())
	}
}

// sweep measures sets of a search that step the same stored candles together: an even sample of the
// 10,011 pairs of 142 averages, with all orders, fills and figures. The floor is the same sets by
// Run, one after another.
func (t *table) sweep() {
	n, sets := million, 48
	if testing.Short() {
		n, sets = million/20, 8
	}
	store, err := candles.Open(filepath.Join(t.b.TempDir(), "candles.db"))
	require.NoError(t.b, err)
	defer store.Close()
	all := t.candles(bitcoin(), n)
	_, err = store.Put(candles.WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}, all, 2, 4, nil)
	require.NoError(t.b, err)
	plans, fills := t.pairs(store, all[1000].Start, sets), int64(0)
	bare := slices.Clone(plans)
	for i, p := range plans {
		bare[i] = &backtest.Plan{}
		*bare[i] = *p
		bare[i].Strategies = slices.Clone(p.Strategies)
		bare[i].Strategies[0].Kind = plain
	}
	lockstep := func(plans []*backtest.Plan) func() {
		return func() {
			same := int64(0)
			for group := range slices.Chunk(plans, 24) {
				ran, err := backtest.RunTogether(context.Background(), group, backtest.LockstepOptions{})
				require.NoError(t.b, err)
				for i := range ran {
					same += ran[i].Result.Orders.Fills
				}
			}
			require.Equal(t.b, fills, same) // as one after another, also by the plain strategy
		}
	}
	rounds := *t
	rounds.rounds = min(cmp.Or(t.rounds, 9), 4)
	took := rounds.least(func() { kept += scan(all) }, func() {
		fills = 0
		for _, p := range plans {
			fills += t.run(p).Orders.Fills
		}
	}, lockstep(plans), lockstep(bare))
	for i := range took {
		took[i] /= float64(n)
	}
	alone, together, plainly := took[1]/float64(sets), took[2]/float64(sets), took[3]/float64(sets)
	t.compare("sweep, candle·set, plain OnCandle", "with Skip", together, plainly, "ns", 2.2)
	t.compare(fmt.Sprintf("sweep, candle·set (%d fills a set)", fills/int64(sets)), "one after another", alone,
		together,
		"ns", 0.6)
	goal := "≤ 6 ns"
	if together > 6 {
		goal += " missed"
	}
	t.line("the same beside the scan", fmt.Sprintf("scan %.3g ns", took[0]), fmt.Sprintf("%.4g ns", together),
		fmt.Sprintf("%.3g×", together/took[0]), goal)
}

// dense measures sets of a search that trade often: averages of 10 to 28 candles against 40 to 94,
// with 14,000 to 24,000 orders each over a million candles. The floor is a loop written by hand for
// this strategy alone: two sums, a comparison, cash and base after fees.
func (t *table) dense() {
	n, sets := million, 24
	if testing.Short() {
		n, sets = million/20, 6
	}
	plan, all := t.plan(n, million*100, shipped.SMACross)
	var plans []*backtest.Plan
	for i := range sets {
		p := *plan
		p.Fees = backtest.Fees{Maker: 10_000, Taker: 10_000} // so low that the money lasts
		p.Strategies = slices.Clone(p.Strategies)
		p.Strategies[0].Values = map[string]any{"fast": int64(10 + i%4*6), "slow": int64(40 + i/4*54/(sets/4))}
		plans = append(plans, &p)
	}
	orders := int64(0)
	rounds := *t
	rounds.rounds = min(cmp.Or(t.rounds, 9), 5)
	took := rounds.least(func() {
		opens, closes := make([]int64, n), make([]int64, n)
		for i := range all {
			opens[i], closes[i] = int64(all[i].Open), int64(all[i].Close)
		}
		for _, p := range plans {
			v := p.Strategies[0].Values
			kept += int64(handMade(opens, closes, int(v["fast"].(int64)), int(v["slow"].(int64))))
		}
	}, func() {
		orders = 0
		ran, err := backtest.RunTogether(context.Background(), plans, backtest.LockstepOptions{})
		require.NoError(t.b, err)
		for i := range ran {
			orders += ran[i].Result.Orders.Fills
		}
	})
	for i := range took {
		took[i] /= float64(n * sets)
	}
	goal := "≤ 12 ns"
	if took[1] > 12 {
		goal += " missed"
	}
	t.line(fmt.Sprintf("sweep, candle·set, dense (%d orders a set)", orders/int64(sets)),
		fmt.Sprintf("hand-made loop %.3g ns", took[0]), fmt.Sprintf("%.4g ns", took[1]),
		fmt.Sprintf("%.3g×", took[1]/took[0]), goal)
}

// handMade is a run of two averages without an engine, over the opens and the closes: the best
// value at a close.
func handMade(opens, closes []int64, fast, slow int) (best float64) {
	const fee = 0.0001
	cash, base, short, long, above := 1e6, 0.0, int64(0), int64(0), false
	for _, price := range closes[slow-fast : slow] {
		short += price
	}
	for _, price := range closes[:slow] {
		long += price
	}
	for i := slow; i+1 < len(closes); i++ {
		price := closes[i]
		short += price - closes[i-fast]
		long += price - closes[i-slow]
		if now := short*int64(slow) > long*int64(fast); now != above {
			if above = now; above {
				base, cash = cash*(1-fee)/float64(opens[i+1]), 0
			} else {
				base, cash = 0, cash+base*float64(opens[i+1])*(1-fee)
			}
		}
		if worth := cash + base*float64(price); worth > best {
			best = worth
		}
	}
	return best
}

// pairs are plans of sets that are spread evenly over all pairs of averages, from a time on.
func (t *table) pairs(store *candles.Store, from market.Time, sets int) []*backtest.Plan {
	plan, _ := t.plan(0, million*100, shipped.SMACross)
	plan.From = from
	plan.Open = func(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
		return store.Read(candles.ReadOptions{Market: f.Market, Interval: f.Interval, From: from, To: to})
	}
	var all []*backtest.Plan
	for slow := 10; slow <= 710; slow += 5 {
		for fast := 5; fast < slow; fast += 5 {
			p := *plan
			p.Strategies = slices.Clone(p.Strategies)
			p.Strategies[0].Values = map[string]any{"fast": int64(fast), "slow": int64(slow)}
			all = append(all, &p)
		}
	}
	list := make([]*backtest.Plan, sets)
	for i := range list {
		list[i] = all[(2*i+1)*len(all)/(2*sets)]
	}
	return list
}

// hours makes a folder with a candle store of n hours.
func (t *table) hours(n int) (folder string) {
	folder = t.b.TempDir()
	store, err := candles.Open(filepath.Join(folder, "candles.db"))
	require.NoError(t.b, err)
	all := t.candles(bitcoin(), n)
	hour := market.Time(market.Interval1h.Fixed())
	for i := range all {
		all[i].Start, all[i].Interval = benchStart+market.Time(i)*hour, market.Interval1h
	}
	_, err = store.Put(candles.WriteOptions{Market: "BTC-EUR", Interval: market.Interval1h}, all, 2, 4, nil)
	require.NoError(t.b, err)
	require.NoError(t.b, store.Close())
	return folder
}

// sweepProcess measures `bot sweep` over 26,000 hours. The floor of two workers is one worker; that
// of the first result is the start of any command.
func (t *table) sweepProcess() {
	n, sets, first := 26_000, 2000, 9
	if testing.Short() {
		n, sets, first = 2000, 60, 1
	}
	folder := t.hours(n)
	bot := t.program()
	config, err := filepath.Abs("configs/bench.toml")
	require.NoError(t.b, err)
	line := func(args ...string) []string {
		return append([]string{bot, "sweep", "-c", config, "--set", "strategies.trend.interval=1h", "--json", "--vary",
			"strategies.trend.params.fast=5:705:5", "--vary", "strategies.trend.params.slow=10:710:5"}, args...)
	}
	some := []string{"--method", "random", "--sets", strconv.Itoa(sets), "--workers"}
	cpu, wall := make([]float64, 3), make([]float64, 3)
	for range cmp.Or(t.rounds, 5) {
		for workers := 1; workers <= 2; workers++ {
			file := filepath.Join(folder, "some.sweep")
			args := append(some, strconv.Itoa(workers), "--out", file)
			took, used, _ := t.sweepOnce(folder, file, line(args...))
			if cpu[workers] == 0 || used < cpu[workers] {
				cpu[workers], wall[workers] = used, took
			}
		}
	}
	t.compare(fmt.Sprintf("bot sweep, %d sets × %d candles, two workers", sets, n), "one worker, CPU", cpu[1], cpu[2],
		"ms", 1.05)
	t.line("cores that two workers use", "", fmt.Sprintf("%.3g", cpu[2]/wall[2]), fmt.Sprintf("%.2f of 2",
		cpu[2]/wall[2]/2), "≥ 0.95")
	t.firstResult(folder, bot, line, first)
}

// firstResult measures a sweep of 10,011 sets, or the first of them.
func (t *table) firstResult(folder, bot string, line func(args ...string) []string, rounds int) {
	file := filepath.Join(folder, "all.sweep")
	best, floor := math.Inf(1), math.Inf(1)
	for range rounds {
		began := time.Now()
		t.must(command(bot, "version"))
		floor = min(floor, time.Since(began).Seconds()*1000)
		best = min(best, t.firstRow(folder, file, line("--out", file)))
	}
	goal := "≤ 50 ms"
	if best > 50 {
		goal += " missed"
	}
	t.line("bot sweep, 10,011 sets, first result, by the clock", fmt.Sprintf("bot version %.3g ms", floor),
		fmt.Sprintf("%.3g ms", best), fmt.Sprintf("%.2f×", best/floor), goal)
	_, _, peak := t.sweepOnce(folder, file, line("--out", file))
	goal = "≤ 64 MB + 1 kB a set"
	if peak > 64+10 {
		goal += " missed"
	}
	t.line("peak memory of 10,011 sets", "", fmt.Sprintf("%.1f MB", peak), "", goal)
}

// sweepOnce runs a sweep from the start. It returns the time by the clock and the CPU time in
// milliseconds, and the peak memory in MB.
func (t *table) sweepOnce(folder, file string, args []string) (wall, used, peak float64) {
	require.NoError(t.b, os.RemoveAll(file))
	cmd := command(args[0], args[1:]...)
	cmd.Dir = folder
	began := time.Now()
	peak = t.start(cmd)
	wall = time.Since(began).Seconds() * 1000
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return wall, float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6, peak
}

// firstRow is the time in milliseconds until a sweep has a group in its file. Then it is killed.
func (t *table) firstRow(folder, file string, args []string) float64 {
	const identity = 4096 // the file is shorter before its first group
	require.NoError(t.b, os.RemoveAll(file))
	cmd := command(args[0], args[1:]...)
	cmd.Dir = folder
	began := time.Now()
	require.NoError(t.b, cmd.Start())
	for {
		if info, err := os.Stat(file); err == nil && info.Size() > identity {
			break
		}
		require.Less(t.b, time.Since(began), time.Minute)
		time.Sleep(200 * time.Microsecond)
	}
	took := time.Since(began).Seconds() * 1000
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()
	return took
}
