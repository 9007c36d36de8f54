package backtest

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/smacross"
)

// memory is a Source over candles in memory, in batches as large as those of the store.
type memory struct {
	candles []market.Candle
}

func (s *memory) Next() ([]market.Candle, error) {
	if len(s.candles) == 0 {
		return nil, io.EOF
	}
	n := min(512, len(s.candles))
	batch := s.candles[:n]
	s.candles = s.candles[n:]
	return batch, nil
}

func (s *memory) Close() error { return nil }

// minutes makes n seeded one-minute candles.
func minutes(tb testing.TB, m *market.Market, n int) []market.Candle {
	g, err := synthetic.New(synthetic.Config{Seed: 1, Market: m, Interval: market.Interval1m, Start: 1640995200_000_000_000, First: 20000_00, Volume: 5_0000, GapChance: -1})
	require.NoError(tb, err)
	candles := make([]market.Candle, n)
	for i := range candles {
		g.Next(&candles[i])
	}
	return candles
}

// planOver is a plan over candles in memory, with so much cash.
func planOver(tb testing.TB, n int, cash market.Money, kind strategy.Kind, values map[string]any) (*Plan, []market.Candle) {
	var catalog market.Catalog
	_, err := catalog.AddAsset("BTC", 8)
	require.NoError(tb, err)
	eur, err := catalog.AddAsset("EUR", 2)
	require.NoError(tb, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 4, QuantityDecimals: 8, NotionalDecimals: 2, TickSize: 1}
	require.NoError(tb, catalog.AddMarket(m))
	candles := minutes(tb, m, n)
	return &Plan{
		Catalog: &catalog, Currency: eur, Deposits: []Deposit{{Asset: eur.ID, Money: cash}},
		Strategies: []StrategyPlan{{Name: "bench", Kind: kind, Values: values, Markets: []*market.Market{m}, Interval: market.Interval1m}},
		Feeds:      []Feed{{Market: m, Interval: market.Interval1m, Drive: true, Deliver: true}},
		Open:       func(Feed, market.Time, market.Time) (Source, error) { return &memory{candles}, nil },
		Fees:       Fees{Maker: 150_000, Taker: 250_000},
	}, candles
}

// flipper buys and sells in turn at every candle, without looking at it: nothing but the orders' round trips.
type flipper struct {
	strategy.Base
	long bool
}

func (f *flipper) OnCandle(d *strategy.Desk, c *market.Candle) {
	if f.long = !f.long; f.long {
		_, _ = d.Buy(c.Market, 1_000_000)
		return
	}
	_, _ = d.Sell(c.Market, 1_000_000)
}

var flip = strategy.Define("flip", "an order a candle", func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &flipper{}, nil })

// scan is the floor: one pass over the same candles that reads every price and the volume.
func scan(candles []market.Candle) (sum int64) {
	var high, low market.Price = 0, 1 << 62
	for i := range candles {
		c := &candles[i]
		high, low = max(high, c.High), min(low, c.Low)
		sum += int64(c.Open) + int64(c.Close) + int64(c.Volume)
	}
	return sum + int64(high) + int64(low)
}

var sink int64

// perCandle runs work over n candles a few times and returns the fewest nanoseconds of CPU a candle: the minimum is what the
// code costs, the rest is what the machine was doing.
func perCandle(b *testing.B, n int, work func()) float64 {
	best := time.Duration(1 << 62)
	for range 7 {
		runtime.GC()
		began := cpuTime(b)
		work()
		best = min(best, cpuTime(b)-began)
	}
	return float64(best) / float64(n)
}

// cpuTime is what the process has used so far.
func cpuTime(tb testing.TB) time.Duration {
	var usage unix.Rusage
	require.NoError(tb, unix.Getrusage(unix.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkBacktestLoop prints what a candle without an order costs beside a scan of the same candles, and what an order's
// round trip (ask, gate, venue, fill, fold, record) adds.
func BenchmarkBacktestLoop(b *testing.B) {
	const n = 1_000_000
	quiet, candles := planOver(b, n, 1, smacross.Kind, map[string]any{"fast": int64(20), "slow": int64(50)})
	busy, _ := planOver(b, n/10, 1_000_000_00, flip, nil)
	for b.Loop() {
		floor := perCandle(b, n, func() { sink += scan(candles) })
		candle := perCandle(b, n, func() { mustRun(b, quiet) })
		order := perCandle(b, n/10, func() { mustRun(b, busy) }) - candle
		b.ReportMetric(floor, "scan-ns/candle")
		b.ReportMetric(candle, "ns/candle")
		b.ReportMetric(candle/floor, "x-scan")
		b.ReportMetric(order, "ns/order")
		b.ReportMetric(order/floor, "order-x-scan")
	}
}

func mustRun(tb testing.TB, p *Plan) *Result {
	result, err := Run(context.Background(), p, Options{})
	require.NoError(tb, err)
	return result
}

func TestMemoryDoesNotGrowWithCandles(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three million candles")
	}
	mallocs := func(n int) uint64 {
		p, _ := planOver(t, n, 1_000_000_00, smacross.Kind, nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result := mustRun(t, p)
		runtime.ReadMemStats(&after)
		t.Log(fmt.Sprint(n, " candles, ", result.Orders.Orders, " orders: ", after.Mallocs-before.Mallocs, " mallocs"))
		return after.Mallocs - before.Mallocs
	}
	mallocs(1000)
	one, two := mallocs(1_000_000), mallocs(2_000_000)
	p, _ := planOver(t, 1_000_000, 1_000_000_00, smacross.Kind, nil)
	orders := uint64(mustRun(t, p).Orders.Orders)
	require.LessOrEqual(t, two, one+orders/10, "more than 100 allocations a thousand orders")
}
