package stress

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// series is candles in memory as a backtest.Source, in batches of odd lengths.
type series struct{ left []market.Candle }

func (s *series) Next() ([]market.Candle, error) {
	if len(s.left) == 0 {
		return nil, io.EOF
	}
	n := min(37, len(s.left))
	batch := slices.Clone(s.left[:n])
	s.left = s.left[n:]
	return batch, nil
}

func (s *series) Close() error { return nil }

// made is the made-up market, in the units of a market with ID 1.
var made = sync.OnceValue(func() []market.Candle {
	candles, err := synthetic.BTCEUR(&market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}, 1)
	if err != nil {
		panic(err)
	}
	return candles
})

// world is a plan over made-up candles of one market or two, with coarser ones made of the hours.
type world struct {
	kinds   []strategy.Definition
	values  map[string]any
	hours   int
	markets int
	days    bool // the strategies receive days too
	from    market.Time
}

// ethereum are other candles: the first market's, backwards in price.
func ethereum(candles []market.Candle) (list []market.Candle) {
	for _, c := range candles {
		mirror := func(p market.Price) market.Price { return 10_000_000_000 / p }
		list = append(list, market.Candle{Market: 2, Interval: c.Interval, Start: c.Start, Volume: c.Volume,
			Open: mirror(c.Open), High: mirror(c.Low), Low: mirror(c.High), Close: mirror(c.Close)})
	}
	return list
}

// merge makes days of hours.
func merge(hours []market.Candle) (days []market.Candle) {
	for _, c := range hours {
		start := market.Interval1d.Floor(c.Start)
		if n := len(days); n > 0 && days[n-1].Start == start {
			d := &days[n-1]
			d.High, d.Low, d.Close, d.Volume = max(d.High, c.High), min(d.Low, c.Low), c.Close, d.Volume+c.Volume
			continue
		}
		c.Start, c.Interval = start, market.Interval1d
		days = append(days, c)
	}
	return days
}

func (w *world) plan() *backtest.Plan {
	var catalog market.Catalog
	eur, _ := catalog.AddAsset("EUR", 2)
	p := &backtest.Plan{Catalog: &catalog, Currency: eur, Fees: backtest.Fees{Maker: 150_000, Taker: 250_000},
		Deposits: []backtest.Deposit{{Asset: eur.ID, Money: 10_000_00}}, From: w.from}
	stored := map[market.ID][]market.Candle{1: made()[:w.hours]}
	if w.markets > 1 {
		stored[2] = ethereum(stored[1])
	}
	for _, base := range []string{"BTC", "ETH"}[:max(w.markets, 1)] {
		_, _ = catalog.AddAsset(base, 8)
		_ = catalog.AddMarket(&market.Market{Name: base + "-EUR", PriceDigits: 2, VolumeDigits: 8,
			Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2, TickSize: 1}})
	}
	for _, m := range catalog.Markets() {
		p.Feeds = append(p.Feeds, backtest.Feed{Market: m, Interval: market.Interval1h, Drive: true, Deliver: true})
		if w.days {
			p.Feeds = append(p.Feeds, backtest.Feed{Market: m, Interval: market.Interval1d, Deliver: true})
		}
	}
	slices.SortStableFunc(p.Feeds, func(a, b backtest.Feed) int { return int(a.Interval) - int(b.Interval) })
	for i, kind := range w.kinds {
		p.Strategies = append(p.Strategies, backtest.StrategyPlan{Name: fmt.Sprint("s", i), Kind: kind,
			Values:  w.values,
			Markets: catalog.Markets(), Interval: market.Interval1h})
	}
	p.Open = func(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
		list := stored[f.Market.ID]
		if f.Interval == market.Interval1d {
			list = merge(list)
		}
		return &series{slices.DeleteFunc(slices.Clone(list),
			func(c market.Candle) bool { return c.Start < from || to != 0 && c.Start >= to })}, nil
	}
	return p
}

func (w *world) job() Job {
	return Job{Workers: 2, Seed: 1, Resamples: 200, Worker: func() (Make, error) {
		p := w.plan()
		return func() (*backtest.Plan, error) { return p, nil }, nil
	}}
}

func jsonOf(t require.TestingT, p *backtest.Plan) string {
	result, err := backtest.Run(context.Background(), p, backtest.Options{})
	require.NoError(t, err)
	text, err := result.JSON()
	require.NoError(t, err)
	return string(text)
}

func (w *world) outcome(t *testing.T, job Job) string {
	o, err := Run(t.Context(), job)
	require.NoError(t, err)
	text, err := json.MarshalIndent(o, "", " ")
	require.NoError(t, err)
	return string(text)
}

// worlds are strategies that cross averages, rest orders, and hold several markets and intervals.
var worlds = []world{
	{kinds: []strategy.Definition{shipped.SMACross}, values: map[string]any{"fast": int64(10), "slow": int64(40)},
		hours: 3000},
	{kinds: []strategy.Definition{shipped.Grid}, hours: 2000},
	{kinds: []strategy.Definition{shipped.RSIRevert, shipped.RSIRevert}, hours: 2000, markets: 2},
	{kinds: []strategy.Definition{shipped.TrendFilter}, values: map[string]any{"fast": int64(10),
		"slow": int64(40), "days": int64(5)}, hours: 3000, days: true},
}

// The outcome has the same bytes on any number of workers, and for the same seed.
func TestTheOutcomeDependsOnNeitherWorkersNorTime(t *testing.T) {
	w := worlds[2]
	if testing.Short() {
		w.hours /= 2
	}
	job := w.job()
	want := w.outcome(t, job)
	for _, workers := range []int{1, 5} {
		job.Workers = workers
		require.Equal(t, want, w.outcome(t, job))
	}
	job.Seed = 2
	require.NotEqual(t, want, w.outcome(t, job))
}

// A change of size zero changes nothing: no raised cost, no noise, no entry left out.
func TestAChangeOfNothingIsThePlainRun(t *testing.T) {
	for i := range worlds {
		w := &worlds[i]
		want := jsonOf(t, w.plan())
		p := w.plan()
		raiseCosts(p, 100)
		require.Equal(t, want, jsonOf(t, p))
		p = w.plan()
		leaveOut(p, nil)
		require.Equal(t, want, jsonOf(t, p))
		moves, err := usualMoves(p)
		require.NoError(t, err)
		(&noise{seed: 3, moves: moves}).over(p)
		require.Equal(t, want, jsonOf(t, p), "coarser candles are made of the same finer ones")
		p = w.plan()
		(&noise{seed: 3, part: 0.5, moves: moves}).over(p)
		require.NotEqual(t, want, jsonOf(t, p))
	}
}

// Entries that are left out are not made: no position of theirs is opened until their exit, and
// nothing before the first of them changes.
func TestEntriesThatAreLeftOutAreNotMade(t *testing.T) {
	for i := range worlds {
		p := worlds[i].plan()
		w := &witness{}
		plain, err := backtest.Run(t.Context(), p, backtest.Options{Keep: true, Observer: w})
		require.NoError(t, err)
		entries := w.entries(p, plain.Trades)
		require.NotEmpty(t, entries)
		for j := 1; j < len(entries); j++ {
			require.GreaterOrEqual(t, entries[j-1].profit, entries[j].profit)
		}
		left := entries[:min(3, len(entries))]
		first := slices.MinFunc(left, func(a, b entry) int { return int(a.decided - b.decided) }).decided
		leaveOut(p, left)
		without, err := backtest.Run(t.Context(), p, backtest.Options{Keep: true})
		require.NoError(t, err)
		for _, trade := range without.Trades {
			for _, e := range left {
				s, m := &p.Strategies[e.strategy-1], p.Catalog.Market(e.market)
				if trade.Strategy == s.Name && trade.Market == m.Name && trade.Entered == e.entered {
					t.Fatalf("%s is in %s at %s all the same", s.Name, m.Name, e.entered)
				}
			}
		}
		early := func(trades []backtest.RoundTrip) (list []backtest.RoundTrip) {
			for _, trade := range trades {
				if trade.Exited < first {
					list = append(list, trade)
				}
			}
			return list
		}
		require.Equal(t, early(plain.Trades), early(without.Trades))
	}
}

// Candles with noise are candles: on the tick, above zero, high and low around open and close. The
// days are those of the hours.
func TestCandlesWithNoiseAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &market.Market{ID: 1,
			Rules: market.Rules{TickSize: market.Price(rapid.SampledFrom([]int64{1, 5}).Draw(t, "tick"))}}
		n := &noise{seed: rapid.Uint64().Draw(t, "seed"), part: rapid.Float64Range(0, 3).Draw(t, "part"),
			moves: map[market.ID]float64{1: rapid.Float64Range(0, 0.5).Draw(t, "move")}}
		var last market.Candle
		for i := range rapid.IntRange(1, 20).Draw(t, "candles") {
			price := func(label string) market.Price {
				return m.TickSize * market.Price(rapid.Int64Range(1, 60).Draw(t, label))
			}
			c := market.Candle{Market: 1, Interval: market.Interval1h, Open: price("open"), Close: price("close"),
				Start: market.Interval1h.StartOf(int64(i))}
			if i > 0 && rapid.Bool().Draw(t, "no gap") {
				c.Open = last.Close
			}
			c.High = max(c.Open, c.Close) + price("above") - m.TickSize
			c.Low = max(min(c.Open, c.Close)-price("below")+m.TickSize, m.TickSize)
			was := c
			n.candle(m, &c)
			require.NoError(t, c.Check())
			require.Positive(t, c.Low)
			for _, p := range []market.Price{c.Open, c.High, c.Low, c.Close} {
				require.Zero(t, p%m.TickSize)
			}
			again := was
			n.candle(m, &again)
			require.Equal(t, c, again, "a moment has one draw")
			last = was
		}
	})
}

// A close and the next open move together, and a move is the same for each market.
func TestNoiseIsJoint(t *testing.T) {
	n := &noise{seed: 1, part: 0.5, moves: map[market.ID]float64{1: 0.01, 2: 0.01}}
	var sum, square float64
	for i := range 10_000 {
		at := market.Time(i) * market.Time(time.Hour)
		a := n.shift(&market.Market{ID: 1}, 1_000_000_000, at)
		require.Equal(t, a, n.shift(&market.Market{ID: 2}, 1_000_000_000, at))
		by := n.draw(at)
		require.LessOrEqual(t, math.Abs(by), 3.5)
		sum, square = sum+by, square+by*by
	}
	require.InDelta(t, 0, sum/10_000, 0.03)
	require.InDelta(t, 1, square/10_000, 0.03)
}

// Coarse candles with noise are those that a naive merge makes of the fine ones.
func TestCoarseCandlesAreMadeOfTheMovedFineOnes(t *testing.T) {
	w := world{kinds: []strategy.Definition{shipped.SMACross}, hours: 500, days: true}
	p := w.plan()
	(&noise{seed: 1, part: 1, moves: map[market.ID]float64{1: 0.01}}).over(p)
	read := func(f backtest.Feed, from, to market.Time) (all []market.Candle) {
		source, err := p.Open(f, from, to)
		require.NoError(t, err)
		for {
			batch, err := source.Next()
			if err == io.EOF {
				require.NoError(t, source.Close())
				return all
			}
			require.NoError(t, err)
			all = append(all, batch...)
		}
	}
	hours, days := read(p.Feeds[0], 0, 0), read(p.Feeds[1], 0, 0)
	require.Equal(t, merge(hours), days)
	first := days[3].Start
	require.Equal(t, days[3:7], read(p.Feeds[1], first, days[7].Start-1), "a range has the candles of the whole")
	require.NotEqual(t, merge(made()[:500]), days)
}

// The round trips, one after the other, lead to the equity that their profits make.
func TestTheTripsOfARecordLeadToItsEquity(t *testing.T) {
	result, err := backtest.Run(t.Context(), worlds[0].plan(), backtest.Options{Keep: true})
	require.NoError(t, err)
	start, want := result.Performance.Start.Float(), result.Performance.Start.Float()
	list, whole := changes(start, result.Trades)
	require.True(t, whole)
	for i := range result.Trades {
		want += result.Trades[i].Profit.Float()
	}
	drawn := walk(list, nil, len(list))
	require.InDelta(t, want, start*drawn.equity[len(list)-1], 1e-6)
	_, whole = changes(1, result.Trades)
	require.False(t, whole)
}

// walk and losingRun against naive twins.
func TestAPathIsThatOfANaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		returns := rapid.SliceOfN(rapid.Float64Range(-0.3, 0.3), 1, 30).Draw(t, "returns")
		chosen := rapid.SliceOfN(rapid.IntRange(0, len(returns)-1), len(returns), 40).Draw(t, "chosen")
		days := rapid.IntRange(1, len(chosen)).Draw(t, "days")
		have := walk(returns, chosen, days)
		curve, deepest, longest := []float64{1}, 0.0, 0
		for _, at := range chosen {
			curve = append(curve, curve[len(curve)-1]*(1+returns[at]))
		}
		for i := range days {
			for j := range i + 2 {
				deepest = max(deepest, 1-curve[i+1]/curve[j])
			}
		}
		for i := range chosen {
			n := 0
			for n < len(chosen)-i && returns[chosen[i+n]] < 0 {
				n++
			}
			longest = max(longest, n)
		}
		require.Equal(t, curve[1:], have.equity)
		require.InDelta(t, deepest, have.drawdown, 1e-12)
		require.InDelta(t, longest, losingRun(returns, chosen), 0)
	})
}

// moody is a strategy that depends on something else than its candles.
type moody struct {
	strategy.Base
	runs *int
	at   int
}

func (s *moody) OnCandle(d *strategy.Desk, c market.Candle) {
	if s.at++; s.at%(48+*s.runs) == 0 {
		_, _ = d.In(c.Market).Target(strategy.Amount(market.Qty(s.at%2) * 1_000_000))
	}
}

func TestRunsThatCannotBeStressedAreRefused(t *testing.T) {
	runs := 0
	mood := strategy.Define("moody", "for a test", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) {
			runs++
			return &moody{runs: &runs}, nil
		})
	for _, c := range []struct {
		world world
		want  error
		text  string
	}{
		{world{kinds: []strategy.Definition{shipped.SMACross}, hours: 600, values: map[string]any{"fast": int64(5),
			"slow": int64(20)}}, ErrTooShort, "this one has 26, from 2021-01-01T00:00:00Z to"},
		{world{kinds: []strategy.Definition{shipped.SMACross}, hours: 900,
			values: map[string]any{"fast": int64(900), "slow": int64(999)}}, ErrNoFills, ""},
		{world{kinds: []strategy.Definition{mood}, hours: 2000}, ErrDiffers, ""},
		{world{kinds: []strategy.Definition{shipped.SMACross}, hours: 100, from: math.MaxInt64 - 1},
			backtest.ErrNoCandles, ""},
	} {
		job := c.world.job()
		job.Workers = 1
		_, err := Run(t.Context(), job)
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, c.text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	job := worlds[0].job()
	job.Began = func(Start) { cancel() }
	_, err := Run(ctx, job)
	require.ErrorIs(t, err, context.Canceled)
}

// What is left out says why, and what breaks the run stands in its order.
func TestTheTableNamesTheSmallestChangeFirst(t *testing.T) {
	if testing.Short() {
		t.Skip("a dozen seconds under the race detector; runs without -short")
	}
	book := world{kinds: []strategy.Definition{shipped.Maker}, values: map[string]any{"book": true}, hours: 1300}
	p := book.plan()
	why, err := needsBooks(p)
	require.NoError(t, err)
	require.Equal(t, "strategy s0 reads order books, and noise is made for candles alone", why)

	o, err := Run(t.Context(), worlds[0].job())
	require.NoError(t, err)
	require.Equal(t, "a loss", o.Broken)
	require.Empty(t, o.Breaks, "nothing can break it first")
	require.Equal(t, "no resting order was filled, so that there is nothing to miss", o.Again[fills].Missing)
	o, err = Run(t.Context(), worlds[1].job())
	require.NoError(t, err)
	require.Len(t, o.Breaks, int(lost), "nothing about signals: the run hears none")
	broken := true
	for i, b := range o.Breaks {
		require.True(t, broken || b.At == "", "what holds comes last")
		broken = b.At != ""
		if i > 0 && broken {
			require.LessOrEqual(t, o.Breaks[i-1].Grade, b.Grade)
		}
	}
	for _, quantiles := range o.Record.Fan.Paths {
		require.Len(t, quantiles, len(o.Record.Fan.Days))
	}
	require.Equal(t, o.Record.Days, o.Record.Fan.Days[len(o.Record.Fan.Days)-1])
}

// ExampleRun stresses a grid over made-up candles.
func ExampleRun() {
	w := world{kinds: []strategy.Definition{shipped.Grid}, hours: 900}
	o, err := Run(context.Background(), Job{Seed: 1, Worker: func() (Make, error) {
		p := w.plan()
		return func() (*backtest.Plan, error) { return p, nil }, nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("as it is: %s\n", o.Plain.Return.Percent(1))
	first := o.Breaks[0]
	fmt.Printf("%s, %s: %s\n", first.Title, first.At, first.Why)
	// Output:
	// as it is: 1.1 %
	// best entries left out, 1 of 1: a loss
}
