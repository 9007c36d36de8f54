package backtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// sink keeps what benchmarks compute.
var sink int64

// still is a strategy that does nothing.
type still struct{ strategy.Base }

func stillKind(n strategy.Needs) strategy.Definition {
	return strategy.Define("still", "for a benchmark", func(struct{}) strategy.Needs { return n },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return still{}, nil })
}

// benchCandles is the length of a run in a benchmark.
const benchCandles = 100_000

// runPlan measures runs of a plan, in ns per part: a candle, a ticker.
func runPlan(b *testing.B, p *Plan, parts int, unit string) {
	b.Helper()
	for b.Loop() {
		sink += mustRun(b, p).Candles.Groups
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(parts), "ns/"+unit)
}

// BenchmarkScan is the floor: each field of a candle is read.
func BenchmarkScan(b *testing.B) {
	_, candles := planOver(b, benchCandles, 1, shipped.SMACross, nil)
	for b.Loop() {
		for i := range candles {
			c := &candles[i]
			sink += int64(c.Start) + int64(c.Open) + int64(c.High) + int64(c.Low) + int64(c.Close) + int64(c.Volume)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchCandles, "ns/candle")
}

// BenchmarkTickers gives a strategy that does nothing the four tickers of each candle.
func BenchmarkTickers(b *testing.B) {
	p, _ := planOver(b, benchCandles, 1_000_000_00, stillKind(strategy.Needs{Ticker: true}), nil)
	runPlan(b, p, 4*benchCandles, "ticker")
}

// BenchmarkMaker quotes on made-up books: four books and four tickers a candle.
func BenchmarkMaker(b *testing.B) {
	p, _ := planOver(b, benchCandles, 1_000_000_00, shipped.Maker, nil)
	p.SyntheticBook = true
	runPlan(b, p, benchCandles, "candle")
}

// BenchmarkMerge merges feeds of several markets for a strategy that does nothing.
func BenchmarkMerge(b *testing.B) {
	for _, n := range []int{1, 2, 10, 50} {
		b.Run(fmt.Sprint("feeds=", n), func(b *testing.B) {
			p, _ := planOver(b, benchCandles/n, 1_000_000_00, stillKind(strategy.Needs{}), nil)
			p.OneByOne = true
			all := map[*market.Market][]market.Candle{p.Feeds[0].Market: minutes(b, p.Feeds[0].Market, benchCandles/n)}
			for i := 1; i < n; i++ {
				_, err := p.Catalog.AddAsset(fmt.Sprint("A", i), 8)
				require.NoError(b, err)
				m := &market.Market{Name: fmt.Sprintf("A%d-EUR", i), PriceDigits: 2, VolumeDigits: 4}
				require.NoError(b, p.Catalog.AddMarket(m))
				all[m] = minutes(b, m, benchCandles/n)
				p.Strategies[0].Markets = append(p.Strategies[0].Markets, m)
				p.Feeds = append(p.Feeds, Feed{Market: m, Interval: market.Interval1m, Drive: true, Deliver: true})
			}
			p.Open = func(f Feed, _, _ market.Time) (Source, error) { return &memory{all[f.Market]}, nil }
			runPlan(b, p, benchCandles, "candle")
		})
	}
}
