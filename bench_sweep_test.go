package tidemark_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy/smacross"
)

// BenchmarkSweep measures the rows of the table that are about searches.
func BenchmarkSweep(b *testing.B) {
	if testing.Short() {
		b.Skip("BenchmarkTable measures the same rows")
	}
	for b.Loop() {
		t := &table{b: b}
		t.sweep()
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
	rounds := *t
	rounds.rounds = min(cmp.Or(t.rounds, 9), 4)
	took := rounds.least(func() { kept += scan(all) }, func() {
		fills = 0
		for _, p := range plans {
			fills += t.run(p).Orders.Fills
		}
	}, func() {
		for group := range slices.Chunk(plans, 24) {
			_, err := backtest.RunTogether(context.Background(), group, backtest.Together{})
			require.NoError(t.b, err)
		}
	})
	for i := range took {
		took[i] /= float64(n)
	}
	alone, together := took[1]/float64(sets), took[2]/float64(sets)
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

// pairs are plans of sets that are spread evenly over all pairs of averages, from a time on.
func (t *table) pairs(store *candles.Store, from market.Time, sets int) []*backtest.Plan {
	plan, _ := t.plan(0, million*100, smacross.Definition)
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
