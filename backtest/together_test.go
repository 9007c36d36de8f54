package backtest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// Any plans over the same candles, stepped in blocks of any size, end with the bytes of Run.
func TestPlansRunTogetherEndAsTheyDoAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := forkPlan(t)
		first, last := base.firstAndLast(t)
		if rapid.Bool().Draw(t, "changes") {
			m := base.Catalog.Markets()[0]
			base.Changes = []MarketChange{{Market: m.ID, Rules: &m.Rules},
				{At: market.Time(rapid.Int64Range(int64(first), int64(last)).Draw(t, "at")), Market: m.ID,
					Delisted: true}}
			base.Haircut = 200_000_000
		}
		for _, m := range base.Catalog.Markets() {
			if rapid.IntRange(0, 3).Draw(t, "base") == 0 { // its price may be that of a candle to come
				base.Deposits = append(base.Deposits, Deposit{Asset: m.Base, Money: 1_000_000})
			}
		}
		plans := []*Plan{base}
		for range rapid.IntRange(0, 4).Draw(t, "others") {
			plans = append(plans, variant(t, base, first, last))
		}
		o := LockstepOptions{block: rapid.SampledFrom([]int{1, 7, 64, 256, 700}).Draw(t, "block")}
		if rapid.Bool().Draw(t, "from") {
			from, err := CommonFrom(slices.Values(plans))
			require.NoError(t, err)
			o.From = min(from, first+(last-first)/2)
		}
		if rapid.IntRange(0, 3).Draw(t, "memory of another call") == 0 {
			o.Memory = &Memory{}
			_, err := RunTogether(context.Background(), plans[len(plans)/2:], o)
			require.NoError(t, err)
		}
		all, err := RunTogether(context.Background(), plans, o)
		require.NoError(t, err)
		for i, p := range plans {
			alone := *p
			if o.From != 0 {
				alone.From = o.From
			}
			sameAsAlone(t, &alone, &all[i])
		}
		if all[0].Err == nil && o.From == 0 {
			plain, err := Run(context.Background(), base, Options{})
			require.NoError(t, err)
			require.Equal(t, textOf(t, plain), textOf(t, all[0].Result), "nor does collecting the days change a figure")
		}
	})
}

// sameAsAlone compares a run with Run of its plan.
func sameAsAlone(t require.TestingT, p *Plan, ran *RunEnd) {
	var halts []Halted
	var days days
	d, want, err := run(context.Background(), p, Options{Halted: func(h Halted) { halts = append(halts, h) }}, &days)
	if err != nil {
		require.EqualError(t, ran.Err, err.Error())
		require.Nil(t, ran.Result)
		return
	}
	require.NoError(t, ran.Err)
	require.Equal(t, textOf(t, want), textOf(t, ran.Result))
	require.Len(t, ran.Halts, len(halts))
	for i := range halts {
		require.Equal(t, halts[i].Halt, ran.Halts[i].Halt)
	}
	require.Equal(t, d.recorder.track(), ran.Track)
	require.Len(t, ran.Track.Returns, int(want.Performance.Days))
}

func textOf(t require.TestingT, r *Result) string {
	text, err := r.JSON()
	require.NoError(t, err)
	return string(text)
}

// variant is a plan over the candles of another that differs in nearly everything else.
func variant(t *rapid.T, base *Plan, first, last market.Time) *Plan {
	p := *base
	p.Strategies = slices.Clone(base.Strategies)
	for i := range p.Strategies {
		s := &p.Strategies[i]
		s.Values = valuesOf(t, s.Kind.Name, s.Values)
		if rapid.Bool().Draw(t, "another kind") {
			s.Kind = rapid.SampledFrom(shipped.Definitions()).Draw(t, "variant")
			s.Values = valuesOf(t, s.Kind.Name, nil)
		}
		if rapid.IntRange(0, 3).Draw(t, "universe") == 0 {
			s.Universe = []strategy.Membership{{From: first, Markets: []market.ID{s.Markets[0].ID}},
				{From: (first + last) / 2}}
		}
	}
	p.Fees = Fees{Maker: 0, Taker: market.Rate(rapid.Int64Range(0, 500_000).Draw(t, "taker"))}
	p.Venue.Path = rapid.SampledFrom([]sim.Path{sim.Adaptive, sim.Pessimistic, sim.Optimistic}).Draw(t, "other path")
	p.Venue.HalfSpread = rapid.SampledFrom([]market.Rate{0, 20_000}).Draw(t, "other spread")
	p.Venue.MissProbability, p.Venue.MissSeed = rapid.SampledFrom([]market.Rate{0, 40_000_000, 100_000_000}).Draw(t,
		"missed"), 2
	p.OneByOne, p.ColdStart = rapid.Bool().Draw(t, "one by one too"), rapid.Bool().Draw(t, "cold")
	if rapid.Bool().Draw(t, "later") {
		p.From = market.Time(rapid.Int64Range(int64(first), int64(last)).Draw(t, "own from"))
	}
	if rapid.Bool().Draw(t, "drawdown") {
		p.Account = risk.AccountLimits{Currency: p.Currency.ID, MaxDrawdown: 100_00}
	}
	return &p
}

// valuesOf draws parameters of a shipped strategy.
func valuesOf(t *rapid.T, kind string, values map[string]any) map[string]any {
	n := func(name string, low, high int64) int64 { return rapid.Int64Range(low, high).Draw(t, name) }
	switch kind {
	case "smacross":
		return map[string]any{"fast": n("fast", 1, 20), "slow": n("slow", 21, 90)}
	case "trendfilter":
		return map[string]any{"fast": n("fast", 2, 20), "slow": n("slow", 21, 90), "days": int64(0)}
	case "breakout":
		return map[string]any{"channel": n("channel", 3, 60), "stop_atr": 1.5, "target_atr": 2.5}
	case "rsirevert":
		return map[string]any{"period": n("period", 3, 20), "low": 40.0, "high": 60.0, "expire": n("expire", 1, 9)}
	case "bandrevert":
		return map[string]any{"closes": n("closes", 5, 50), "gain": "0.1%"}
	case "grid":
		return map[string]any{"levels": n("levels", 1, 20), "spacing_bps": "8", "recentre_bps": "20", "money": "20"}
	case "dca":
		return map[string]any{"money": "7", "every_candles": n("every", 3, 60)}
	case "maker":
		return map[string]any{"half_spread_bps": "5", "money": "40", "book": rapid.Bool().Draw(t, "book")}
	case "rotation":
		return map[string]any{"every": "5m", "candles": n("candles", 2, 9), "top": int64(1)}
	case "accumulate":
		return map[string]any{"every": "1h", "candles": n("candles", 2, 60)}
	}
	return values
}

// spoiler panics, or ends its goroutine, at a candle.
type spoiler struct {
	strategy.Base
	at   int
	goes bool
}

func (s *spoiler) OnCandle(d *strategy.Desk, c market.Candle) {
	switch s.at--; {
	case s.at > 0:
		_, _ = d.In(c.Market).Target(strategy.Amount(market.Qty(s.at%2) * 1_000_000))
	case s.at == 0 && s.goes:
		runtime.Goexit()
	case s.at == 0:
		panic("spoilt")
	}
}

func TestOneRunThatBreaksLeavesTheOthersAlone(t *testing.T) {
	base, _ := planOver(t, 3_000, 1_000_000_00, shipped.SMACross, nil)
	var plans []*Plan
	for i := range 6 {
		p := *base
		p.Strategies = slices.Clone(p.Strategies)
		s := &p.Strategies[0]
		if i%2 == 1 {
			s.Kind = strategy.Define("spoiler", "for a test", func(struct{}) strategy.Needs { return strategy.Needs{} },
				func(struct{}, strategy.Setup) (strategy.Strategy, error) {
					return &spoiler{at: 300 * i, goes: i == 3}, nil
				})
		} else {
			s.Values = map[string]any{"slow": int64(30 + i)}
		}
		plans = append(plans, &p)
	}
	broken := *base
	broken.Strategies = []StrategyPlan{base.Strategies[0]}
	broken.Strategies[0].Values = map[string]any{"fast": int64(70)} // not below slow
	late := *base
	late.From = 1e18 * 9
	all, err := RunTogether(context.Background(), append(plans, &broken, &late), LockstepOptions{})
	require.NoError(t, err)
	for i, p := range plans {
		require.Len(t, all[i].Halts, i%2, "the two that broke were halted")
		sameAsAlone(t, p, &all[i])
	}
	require.ErrorContains(t, all[6].Err, "is not below slow")
	require.ErrorIs(t, all[7].Err, ErrNoCandles)
}

func TestPlansThatReadOtherCandlesAreRefused(t *testing.T) {
	ask := func(change func(p *Plan)) error {
		base, _ := planOver(t, 100, 1_000_000_00, shipped.SMACross, nil)
		p := *base
		p.Feeds = slices.Clone(p.Feeds)
		change(&p)
		_, err := RunTogether(context.Background(), []*Plan{base, &p}, LockstepOptions{})
		return err
	}
	require.NoError(t, ask(func(*Plan) {}))
	require.EqualError(t, ask(func(p *Plan) { p.Feeds = append(p.Feeds, p.Feeds[0]) }),
		"run plans together: plan 2 reads 2 series of candles, the first 1")
	require.EqualError(t, ask(func(p *Plan) { p.Feeds[0].Interval = market.Interval1h }),
		"run plans together: plan 2 reads BTC-EUR 1h, or delivers it otherwise, where the first reads BTC-EUR 1m")
	require.EqualError(t, ask(func(p *Plan) { p.To = 1640995200_000_000_000 }),
		"run plans together: plan 2 ends at 2022-01-01T00:00:00Z, the first at –")
	require.EqualError(t, ask(func(p *Plan) { p.Changes = []MarketChange{{Market: 1}} }),
		"run plans together: plan 2 shares a catalog with another plan, but not its changes of markets")
	none, err := RunTogether(context.Background(), nil, LockstepOptions{})
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestCandlesThatCannotBeReadEndAllRuns(t *testing.T) {
	p, candles := planOver(t, 1_000, 1_000_000_00, shipped.SMACross, nil)
	lost := errors.New("the disk is gone")
	p.Open = func(Feed, market.Time, market.Time) (Source, error) {
		return &failing{&memory{candles[:600]}, lost}, nil
	}
	_, err := RunTogether(context.Background(), []*Plan{p, p}, LockstepOptions{})
	require.ErrorIs(t, err, lost)
	p.Open = func(Feed, market.Time, market.Time) (Source, error) { return nil, lost }
	_, err = RunTogether(context.Background(), []*Plan{p, p}, LockstepOptions{})
	require.ErrorIs(t, err, lost)
	_, err = CommonFrom(slices.Values([]*Plan{p}))
	require.ErrorIs(t, err, lost)
}

func TestRunsTogetherEndWhereTheyAreCancelled(t *testing.T) {
	p, _ := planOver(t, 3_000, 1_000_000_00, shipped.SMACross, nil)
	ctx, cancel := context.WithCancel(context.Background())
	var reached []market.Time
	_, err := RunTogether(ctx, []*Plan{p, p}, LockstepOptions{Progress: func(at market.Time) {
		if reached = append(reached, at); len(reached) == 3 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, reached, 3)
	require.True(t, slices.IsSorted(reached))
}

func TestACommonStartHasTheLongestWarmUpBehindIt(t *testing.T) {
	base, _ := planOver(t, 10_000, 1_000_000_00, shipped.SMACross, nil)
	start := market.Time(1640995200_000_000_000)
	after := func(slow, from int64, cold bool) market.Time {
		p := *base
		p.From, p.ColdStart = market.Time(from), cold
		p.Strategies = slices.Clone(p.Strategies)
		p.Strategies[0].Values = map[string]any{"slow": slow}
		at, err := CommonFrom(slices.Values([]*Plan{base, &p}))
		require.NoError(t, err)
		return at - start
	}
	require.Equal(t, dayLength, after(60, 0, false))
	require.Equal(t, dayLength, after(1439, 0, false), "1440 minutes end at midnight")
	require.Equal(t, 2*dayLength, after(1440, 0, false))
	require.Equal(t, 3*dayLength, after(60, int64(start+3*dayLength), false), "a plan begins no earlier than it says")
	require.Equal(t, dayLength, after(1440, 0, true), "a cold start has no warm-up before its range")
	base.Open = func(Feed, market.Time, market.Time) (Source, error) { return &memory{}, nil }
	require.Equal(t, -start, after(60, 0, false), "without candles there is nothing to wait for")
}

// Sets of a search take no more memory where there are more candles.
func TestRunsTogetherTakeNoMoreMemoryForMoreCandles(t *testing.T) {
	mallocs := func(n int) (count, bytes uint64) {
		base, _ := planOver(t, n, 1_000_000_00, shipped.SMACross, nil)
		plans := make([]*Plan, 8)
		for i := range plans {
			p := *base
			p.Strategies = slices.Clone(p.Strategies)
			p.Strategies[0].Values = map[string]any{"fast": int64(150), "slow": int64(400 + i)}
			plans[i] = &p
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		all, err := RunTogether(context.Background(), plans, LockstepOptions{})
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.NotZero(t, all[0].Result.Orders.Fills)
		return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
	}
	mallocs(1000)
	one, small := mallocs(20_000)
	two, large := mallocs(80_000)
	t.Logf("%d and %d allocations, %d and %d bytes", one, two, small, large)
	require.Less(t, two, one+8*200, "a few for each set: the days, the latest orders")
	require.Less(t, large, small+8*32<<10)
}
