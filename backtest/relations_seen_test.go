package backtest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// M16: touches that all miss are limit_fill through, also beside prices that the engine watches.
func TestTouchesThatAllMissAreLimitFillThrough(t *testing.T) {
	check := func(seed uint64) {
		run := func(fill sim.LimitFill, missed market.Rate) []market.Fill {
			p := (&transcript{to: io.Discard}).plan(t, seed)
			p.Venue.LimitFill, p.Venue.MissProbability, p.Venue.MissSeed = fill, missed, seed
			h, _ := played(t, seed, p)
			return h.fills
		}
		require.Equal(t, run(sim.Through, 0), run(sim.Touch, 100_000_000), "seed %d", seed)
	}
	for _, seed := range []uint64{161, 217, 219, 281} { // a miss let a watched price come before other entries
		check(seed)
	}
	inWorlds(t, check)
}

// M18: a strategy sees the same beside others as alone: its history is as long as it needs, not as
// they need.
func TestAStrategySeesTheSameBesideOthersAsAlone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p, seen := watched(t, rapid.Uint64().Draw(r, "seed"))
		mustRun(t, p)
		together := slices.Clone(*seen)
		for i := range p.Strategies {
			alone := *p
			alone.Strategies, *seen = p.Strategies[i:i+1], make([][]string, len(together))
			mustRun(t, &alone)
			require.NotEmpty(r, together[i])
			require.Equal(r, (*seen)[i], together[i], "strategy %d", i)
		}
	})
}

// witness notes what a strategy is called with, and sets timers from its start on.
type witness struct {
	strategy.Base
	seen *[]string
}

func (w *witness) note(d *strategy.Desk, format string, args ...any) {
	*w.seen = append(*w.seen, d.Now().String()+": "+fmt.Sprintf(format, args...))
}

func (w *witness) OnStart(d *strategy.Desk) {
	w.note(d, "start")
	d.Timer(d.Now().Add(1020e9), 1) // at the close of a candle: inside, it would move the tickers
}

func (w *witness) OnTimer(d *strategy.Desk, _ int64) {
	w.note(d, "timer")
	d.Timer(d.Now().Add(1020e9), 1) // at the close of a candle: inside, it would move the tickers
}

func (w *witness) OnCandle(d *strategy.Desk, c market.Candle) {
	w.note(d, "%s candle of %d from %s, %d", c.Interval, c.Market, c.Start, c.Close)
}

func (w *witness) OnTicker(d *strategy.Desk, k market.Ticker) {
	w.note(d, "ticker %d, %d", k.Market, k.Last)
}

func (w *witness) OnCandles(d *strategy.Desk, g strategy.Group) {
	w.note(d, "group of %d", len(g.Candles))
}

// watched is a run of witnesses with different needs in the same markets, and what each has seen.
func watched(t *testing.T, seed uint64) (*Plan, *[][]string) {
	r := rand.New(rand.NewPCG(seed, 6))
	p, _ := planOver(t, 1, 1_000_00, shipped.Definitions()[0], nil)
	p.Feeds, p.Strategies = nil, nil
	all := map[market.ID]map[market.Interval][]market.Candle{}
	for _, m := range p.Catalog.Markets() {
		all[m.ID] = map[market.Interval][]market.Candle{market.Interval1m: minutes(t, m, 900)}
		all[m.ID][market.Interval5m] = coarser(all[m.ID][market.Interval1m])
		p.Feeds = append(p.Feeds, Feed{Market: m, Interval: market.Interval1m, Drive: true, Deliver: true},
			Feed{Market: m, Interval: market.Interval5m, Deliver: true})
		p.From = all[m.ID][market.Interval1m][600+5*r.IntN(4)].Start
	}
	p.Open = func(f Feed, from, _ market.Time) (Source, error) {
		list := all[f.Market.ID][f.Interval]
		return &memory{list[sort.Search(len(list), func(i int) bool { return list[i].Start >= from }):]}, nil
	}
	seen := make([][]string, 2+r.IntN(3))
	for i := range seen {
		needs := strategy.Needs{Warmup: r.IntN(4) * r.IntN(90), Ticker: r.IntN(3) == 0,
			Intervals: strategy.Intervals{market.Interval5m: r.IntN(2) * r.IntN(40)}}
		if needs.Ticker { // quotes come from the finest candles that are read, also for others
			needs.Warmup = max(needs.Warmup, 5*needs.Intervals[market.Interval5m])
		}
		kind := strategy.Define("witness", "notes all calls", func(struct{}) strategy.Needs { return needs },
			func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &witness{seen: &seen[i]}, nil })
		p.Strategies = append(p.Strategies, StrategyPlan{Name: fmt.Sprintf("s%d", i), Kind: kind,
			Markets: p.Catalog.Markets(), Interval: market.Interval1m})
	}
	return p, &seen
}
