package backtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/view/page"
)

// noter writes down what it is called with, and acts on it.
type noter struct {
	strategy.Base
	seen *[]string
	act  func(d *strategy.Desk, c market.Candle)
}

func (n *noter) OnCandle(d *strategy.Desk, c market.Candle) {
	*n.seen = append(*n.seen, fmt.Sprintf("%s %d %s", d.Now().Std().Format("15:04"), c.Market, c.Interval))
	if n.act != nil {
		n.act(d, c)
	}
}

func (n *noter) OnFill(d *strategy.Desk, f market.Fill) {
	*n.seen = append(*n.seen, fmt.Sprintf("%s fill %d @ %d at %s", d.Now().Std().Format("15:04"), f.Market, f.Price,
		f.Time.Std().Format("15:04:05")))
}

// stage is a plan with whole prices and amounts, no fees, and candles written out in the test.
type stage struct {
	plan    *Plan
	candles map[Feed][]market.Candle
	seen    []string
}

// newStage has markets A-EUR and B-EUR and so many strategies that act in turn.
func newStage(t *testing.T, acts ...func(d *strategy.Desk, c market.Candle)) *stage {
	var catalog market.Catalog
	s := &stage{candles: map[Feed][]market.Candle{}}
	for _, asset := range []string{"A", "B", "EUR"} {
		_, err := catalog.AddAsset(asset, 0)
		require.NoError(t, err)
	}
	eur := catalog.AssetNamed("EUR")
	for _, name := range []string{"A-EUR", "B-EUR"} {
		require.NoError(t, catalog.AddMarket(&market.Market{Name: name}))
	}
	s.plan = &Plan{Catalog: &catalog, Currency: eur, Deposits: []Deposit{{Asset: eur.ID, Money: 1000}}}
	s.plan.Open = func(f Feed, _, _ market.Time) (Source, error) { return &memory{s.candles[f]}, nil }
	for i, act := range acts {
		kind := strategy.Define("noter", "for a test", func(struct{}) strategy.Needs { return strategy.Needs{} },
			func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &noter{seen: &s.seen, act: act}, nil })
		s.plan.Strategies = append(s.plan.Strategies,
			StrategyPlan{Name: fmt.Sprint("s", i+1), Kind: kind, Interval: market.Interval1h})
	}
	return s
}

// feed adds a series; each row is the minute at which a candle starts, and its open, high, low and
// close.
func (s *stage) feed(m market.ID, interval market.Interval, drive, deliver bool, rows ...[5]int64) {
	f := Feed{Market: s.plan.Catalog.Market(m), Interval: interval, Drive: drive, Deliver: deliver}
	for _, r := range rows {
		s.candles[f] = append(s.candles[f], market.Candle{
			Market: m, Interval: interval, Start: market.Time(r[0]) * market.Interval1m.End(0),
			Open: market.Price(r[1]), High: market.Price(r[2]), Low: market.Price(r[3]), Close: market.Price(r[4]),
		})
	}
	s.plan.Feeds = append(s.plan.Feeds, f)
}

func (s *stage) run(t *testing.T, o Options) *Result {
	result, err := Run(context.Background(), s.plan, o)
	require.NoError(t, err)
	return result
}

// once acts on the first candle it sees.
func once(act func(d *strategy.Desk, c market.Candle)) func(d *strategy.Desk, c market.Candle) {
	done := false
	return func(d *strategy.Desk, c market.Candle) {
		if !done {
			done = true
			act(d, c)
		}
	}
}

func buyAt(price market.Price) func(d *strategy.Desk, c market.Candle) {
	return once(func(d *strategy.Desk, c market.Candle) {
		_, _ = d.In(c.Market).Buy(strategy.Amount(1), strategy.At(price))
	})
}

func TestFinerCandlesAreThePathAndACoarseOneFillsTheirHoles(t *testing.T) {
	s := newStage(t, buyAt(90))
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
	s.feed(1, market.Interval30m, true, false,
		[5]int64{0, 100, 100, 100, 100}, [5]int64{30, 100, 100, 100, 100},
		[5]int64{60, 100, 110, 100, 105}, [5]int64{90, 105, 105, 89, 100}) // the low comes in the second half
	s.feed(1, market.Interval1h, false, true,
		[5]int64{0, 100, 100, 100, 100}, [5]int64{60, 100, 110, 89, 100},
		[5]int64{120, 100, 120, 100, 120}) // no finer candles here
	s.run(t, Options{})
	require.Equal(t, []string{"01:00 1 1h", "01:59 fill 1 @ 90 at 01:49:22", "02:00 1 1h", "03:00 1 1h"},
		minutesOf(s.seen))

	s = newStage(t, buyAt(90))
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
	s.feed(1, market.Interval30m, true, false, [5]int64{0, 100, 100, 100, 100}, [5]int64{30, 100, 100, 100, 100})
	// its path is all there is
	s.feed(1, market.Interval1h, false, true, [5]int64{0, 100, 100, 100, 100}, [5]int64{60, 100, 110, 89, 100})
	require.EqualValues(t, 1, s.run(t, Options{}).Orders.Fills)
}

// minutesOf leaves the moment at which a fill is heard of to the driver: inside the path, before
// the next close.
func minutesOf(seen []string) []string {
	out := append([]string(nil), seen...)
	for i, line := range out {
		if len(line) > 10 && line[6:10] == "fill" {
			out[i] = "01:59" + line[5:]
		}
	}
	return out
}

func TestCandlesOfOneInstantComeShorterFirstThenByMarket(t *testing.T) {
	s := newStage(t, nil)
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()
	s.plan.Strategies[0].Kind = strategy.Define("noter", "for a test",
		func(struct{}) strategy.Needs {
			return strategy.Needs{Intervals: strategy.Intervals{market.Interval30m: 0}}
		},
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &noter{seen: &s.seen}, nil })
	flat := func(minutes ...int64) (rows [][5]int64) {
		for _, m := range minutes {
			rows = append(rows, [5]int64{m, 10, 10, 10, 10})
		}
		return rows
	}
	s.feed(1, market.Interval30m, true, true, flat(0, 30, 60)...)
	s.feed(2, market.Interval30m, true, true, flat(0, 30)...)
	s.feed(1, market.Interval1h, false, true, flat(0)...)
	s.feed(2, market.Interval1h, false, true, flat(0)...)
	s.run(t, Options{})
	require.Equal(t, []string{"00:30 1 30m", "00:30 2 30m", "01:00 1 30m", "01:00 2 30m", "01:00 1 1h", "01:00 2 1h",
		"01:30 1 30m"}, s.seen)
}

func TestAnAllocationIsSpentByItsOwnerAlone(t *testing.T) {
	bought := make([]market.Qty, 3)
	all := func(at int) func(d *strategy.Desk, c market.Candle) {
		return once(func(d *strategy.Desk, c market.Candle) {
			bought[at] = market.Qty(int64(d.In(c.Market).Cash()) / int64(c.Close))
			_, err := d.In(c.Market).Buy(strategy.Amount(bought[at]))
			require.Equal(t, bought[at] == 0, err != nil)
		})
	}
	s := newStage(t, all(0), all(1), all(2))
	for i := range s.plan.Strategies {
		s.plan.Strategies[i].Markets = s.plan.Catalog.Markets()[:1]
	}
	s.plan.Strategies[1].Own = true
	s.plan.Deposits = append(s.plan.Deposits, Deposit{Asset: s.plan.Currency.ID, Money: 300, Owner: 2})
	s.feed(1, market.Interval1h, true, true, [5]int64{0, 10, 10, 10, 10}, [5]int64{60, 10, 20, 10, 20})
	result := s.run(t, Options{})
	require.Equal(t, []market.Qty{100, 30, 0}, bought,
		"the first takes the common pool, the second its own, the third finds nothing")
	require.Equal(t, "2600", result.Performance.Final.String())
}

func TestDataLatencyAndOrderLatencyAddUp(t *testing.T) {
	s := newStage(t, once(func(d *strategy.Desk, c market.Candle) { _, _ = d.In(c.Market).Buy(strategy.Amount(1)) }))
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
	s.plan.DataLatency, s.plan.Venue = 10*market.Duration(market.Interval1m.End(0)), sim.Config{Latency: 20 *
		market.Duration(market.Interval1m.End(0)), Path: sim.OHLC}
	s.feed(1, market.Interval1h, true, true, [5]int64{0, 100, 100, 100, 100}, [5]int64{60, 100, 160, 80, 120})
	s.run(t, Options{})
	// Seen at 01:10, there at 01:30: half way from the high at 01:20 to the low at 01:40, where it
	// is heard of.
	require.Equal(t, []string{"01:10 1 1h", "01:40 fill 1 @ 120 at 01:40:00", "02:10 1 1h"}, s.seen)
}

func TestAnErrorLeavesNoFiles(t *testing.T) {
	s := newStage(t, once(func(d *strategy.Desk, c market.Candle) { _, _ = d.In(c.Market).Buy(strategy.Amount(1)) }))
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
	s.feed(1, market.Interval1h, true, true, [5]int64{0, 100, 100, 100, 100}, [5]int64{60, 100, 100, 100, 100})
	broken := fmt.Errorf("the disk is gone")
	open := s.plan.Open
	s.plan.Open = func(f Feed, from, to market.Time) (Source, error) {
		source, err := open(f, from, to)
		return &failing{source, broken}, err
	}
	dir := t.TempDir()
	_, err := Run(context.Background(), s.plan, Options{Out: filepath.Join(dir, "out")})
	require.ErrorIs(t, err, broken)
	left, err := os.ReadDir(filepath.Join(dir, "out"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// failing ends with an error instead of io.EOF.
type failing struct {
	Source
	err error
}

func (f *failing) Next() ([]market.Candle, error) {
	batch, err := f.Source.Next()
	if err != nil {
		err = f.err
	}
	return batch, err
}

func TestAnEmptyRangeIsAnErrorOfItsOwn(t *testing.T) {
	s := newStage(t, nil)
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
	s.feed(1, market.Interval1h, true, true)
	_, err := Run(context.Background(), s.plan, Options{})
	require.ErrorIs(t, err, ErrNoCandles)
}

// TestWhatIsOwnedAtTheStartHasAPriceThere or its whole worth would appear as a gain with the first
// candle of its market.
func TestWhatIsOwnedAtTheStartHasAPriceThere(t *testing.T) {
	stageWith := func(interval market.Interval, rows ...[5]int64) *stage {
		s := newStage(t, func(*strategy.Desk, market.Candle) {})
		s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()
		s.plan.Deposits = append(s.plan.Deposits, Deposit{Asset: s.plan.Catalog.AssetNamed("B").ID, Money: 10})
		s.feed(1, market.Interval30m, true, true, [5]int64{0, 10, 10, 10, 10}, [5]int64{30, 10, 10, 10, 10},
			[5]int64{60, 10, 10, 10, 10})
		s.feed(2, interval, true, true, rows...)
		return s
	}
	for _, s := range []*stage{
		stageWith(market.Interval30m, [5]int64{0, 50, 50, 50, 50}, [5]int64{30, 50, 60, 50, 60}),
		stageWith(market.Interval1h, [5]int64{0, 50, 60, 50, 60}), // closes when two of the others have
	} {
		result := s.run(t, Options{})
		require.Equal(t, "1500", result.Performance.Start.String())
		require.Equal(t, "1600", result.Performance.Final.String())
	}

	_, err := Run(context.Background(), stageWith(market.Interval30m, [5]int64{30, 50, 60, 50, 60}).plan, Options{})
	require.ErrorContains(t, err, "start with B: no candle at 1970-01-01T00:00:00Z gives it a price")
}

// The charted candles move the market and go to the strategy: the chart counts each once.
func TestTheChartOfSeveralFeedsHasEachCandleOnce(t *testing.T) {
	s := newStage(t, nil)
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()
	s.feed(1, market.Interval1h, true, true, [5]int64{0, 100, 110, 90, 105}, [5]int64{60, 105, 105, 105, 105})
	s.feed(2, market.Interval1h, true, true, [5]int64{0, 50, 50, 50, 50}, [5]int64{60, 50, 50, 50, 50})
	out := t.TempDir()
	s.run(t, Options{Out: out})
	text, err := os.ReadFile(filepath.Join(out, "report.html"))
	require.NoError(t, err)
	packed, err := page.Find(text, "candles-0")
	require.NoError(t, err)
	var head struct{ Market string }
	columns, err := page.Unpack(packed, &head)
	require.NoError(t, err)
	require.Equal(t, "A-EUR", head.Market)
	// start in hours, gap from the close before, body, above and below the body
	require.Equal(t, [][]int64{{0, 1}, {100, 0}, {5, 0}, {5, 0}, {10, 0}}, columns)
}

// groups is a strategy that notes its groups and buys A with the first.
type groups struct{ noter }

func (n *groups) OnCandles(d *strategy.Desk, g strategy.Group) {
	*n.seen = append(*n.seen, fmt.Sprintf("%s group of %d, missing %v", d.Now().Std().Format("15:04"), len(g.Candles),
		g.Missing))
	d.In(1).Target(strategy.Amount(1))
}

func TestAGroupHasAllMarketsOfItsCloseAndItsAsksMeetTheNextOpen(t *testing.T) {
	s := newStage(t, func(*strategy.Desk, market.Candle) {})
	s.plan.Strategies[0].Kind = strategy.Define("groups", "for a test",
		func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &groups{noter{seen: &s.seen}}, nil })
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()
	s.feed(1, market.Interval1h, true, true, [5]int64{0, 10, 10, 10, 10}, [5]int64{60, 11, 11, 11, 11},
		[5]int64{120, 12, 12, 12, 12})
	s.feed(2, market.Interval1h, true, true, [5]int64{0, 20, 20, 20, 20}, [5]int64{120, 20, 20, 20, 20})
	s.run(t, Options{})
	require.Equal(t, []string{"01:00 1 1h", "01:00 2 1h", "01:00 group of 2, missing []",
		"01:00 fill 1 @ 11 at 01:00:00", "02:00 1 1h", "02:00 group of 1, missing [2]",
		"03:00 1 1h", "03:00 2 1h", "03:00 group of 2, missing []"}, s.seen)
}
