package backtest

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// afraid buys and sells in turn, but not while a spike is among its last 300 candles.
type afraid struct {
	strategy.Base
	spike market.Price
	calm  int // candles since the last spike
	holds bool
}

func (a *afraid) OnCandle(d *strategy.Desk, c market.Candle) {
	if a.calm++; c.High >= a.spike {
		a.calm = 0
	}
	if a.calm < 300 {
		return
	}
	if a.holds = !a.holds; a.holds {
		_, _ = d.In(c.Market).Target(strategy.Amount(1_000_000))
		return
	}
	_, _ = d.In(c.Market).Target(strategy.Amount(0))
}

// afraidPlan has a spike at a candle, and a declared warm-up of 40 candles.
func afraidPlan(t *testing.T, n int, spikeAt func(start market.Time) bool) *Plan {
	const spike = 1 << 40
	definition := strategy.Define("afraid", "fears spikes", func(struct{}) strategy.Needs {
		return strategy.Needs{Warmup: 40}
	}, func(struct{}, strategy.Setup) (strategy.Strategy, error) {
		return &afraid{spike: spike, calm: 1000}, nil
	})
	p := fromTheStart(t, n, definition)
	open := p.Open
	p.Open = func(f Feed, from, to market.Time) (Source, error) {
		source, err := open(f, from, to)
		return &spiked{source, spike, spikeAt}, err
	}
	return p
}

type spiked struct {
	Source
	high market.Price
	at   func(start market.Time) bool
}

func (s *spiked) Next() ([]market.Candle, error) {
	batch, err := s.Source.Next()
	list := append([]market.Candle(nil), batch...)
	for i := range list {
		if s.at(list[i].Start) {
			list[i].High = s.high
		}
	}
	return list, err
}

// A start in the middle of the data sees nothing of what a short warm-up forgets elsewhere.
func TestTheWarmupCheckTriesManyStarts(t *testing.T) {
	never := func(market.Time) bool { return false }
	calm, err := CheckWarmup(t.Context(), afraidPlan(t, 6_000, never))
	require.NoError(t, err)
	require.Zero(t, calm.Enough)
	require.Len(t, calm.Starts, 12)
	for _, i := range []int{0, 5, 11} {
		start := calm.Starts[i]
		spike := market.Interval1m.StartOf(market.Interval1m.Index(start) - 100)
		report, err := CheckWarmup(t.Context(), afraidPlan(t, 6_000, func(at market.Time) bool { return at == spike }))
		require.NoError(t, err)
		require.Equal(t, calm.Starts, report.Starts)
		require.Equal(t, "120", report.Tried[report.Enough].History.String(), "%+v", report)
		require.Equal(t, 11, report.Tried[0].Agree)
	}
}

func TestTheWarmupCheckNamesNoMoreHistoryThanIsStored(t *testing.T) {
	report, err := CheckWarmup(t.Context(), afraidPlan(t, 600, func(market.Time) bool { return false }))
	require.NoError(t, err)
	require.True(t, report.Short)
	var tried []string
	for i := range report.Tried {
		tried = append(tried, report.Tried[i].History.String())
	}
	require.Equal(t, []string{"40", "80", "120", "200", "300"}, tried)

	_, err = CheckWarmup(t.Context(), afraidPlan(t, 60, func(market.Time) bool { return false }))
	require.ErrorContains(t, err, "only 30 1m candles are stored before")
	require.ErrorContains(t, err, "needs 40")
	_, err = CheckWarmup(t.Context(), afraidPlan(t, 80, func(market.Time) bool { return false }))
	require.ErrorContains(t, err, "only 40 candles are stored before")
}

// The cost of the check, in closes that its runs read, is bounded however long the warm-up is.
func TestTheWarmupCheckCostsAtMostFourRuns(t *testing.T) {
	for _, declared := range []int{1, 95, 1000, 20_000, 100_000} {
		for _, closes := range []market.Time{3_000, 300_000, 3_000_000} {
			candle := market.Interval1m.End(0)
			w := &warmupCheck{plan: &Plan{Feeds: []Feed{{Interval: market.Interval1m}}}, first: candle,
				last:      closes * candle,
				histories: historiesOf(declared),
				report:    &WarmupReport{Declared: History{{market.Interval1m, declared}}}}
			starts, length := w.starts()
			name := strconv.Itoa(declared) + " of " + strconv.Itoa(int(closes))
			require.NotEmpty(t, starts, name)
			require.LessOrEqual(t, len(starts), 12, name)
			history := market.Time(0)
			for _, times := range w.histories {
				history += market.Time(declared * times)
			}
			cost := market.Time(len(starts)) * (history + market.Time(len(w.histories))*length/candle)
			allowed := max(4*closes, 1_000_000)
			require.LessOrEqual(t, cost, max(allowed, history+closes), name)
			for i := 1; i < len(starts); i++ {
				require.LessOrEqual(t, starts[i-1]+length, starts[i]+candle, name)
			}
		}
	}
}

// oversold buys a low RSI(14) and sells a high one.
type oversold struct {
	strategy.Base
	rsi indicator.RSI
}

func (s *oversold) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	s.rsi.Push(c.Close)
	switch v := s.rsi.Value(); {
	case !s.rsi.Ready():
	case m.Flat() && v < 30:
		_, _ = m.Buy(strategy.CashShare(50 * market.Percent))
	case m.Held() > 0 && v > 60:
		_ = m.Close()
	}
}

func oversoldPlan(t *testing.T, candles, warmup int) *Plan {
	return fromTheStart(t, candles, strategy.Define("oversold", "buys a low RSI",
		func(struct{}) strategy.Needs { return strategy.Needs{Warmup: warmup} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) {
			return &oversold{rsi: indicator.NewRSI(14)}, nil
		}))
}

// A declared warm-up of a candle or two is checked against histories that are long by themselves,
// and the number that the check names passes it.
func TestTheNumberThatTheWarmupCheckNamesPassesIt(t *testing.T) {
	for _, declared := range []int{1, 2, 5, 15, 25, 30, 100} {
		report, err := CheckWarmup(t.Context(), oversoldPlan(t, 12_000, declared))
		require.NoError(t, err)
		last := report.Last()
		require.Zero(t, last.Enough, "%d: %+v", declared, last)
		require.Positive(t, last.Tried[len(last.Tried)-1].Of)
		named := last.Declared[0].Candles
		require.GreaterOrEqual(t, named, 25, "declared %d", declared)
		require.Less(t, named, 400, "declared %d", declared)
		if named == declared {
			continue
		}
		again, err := CheckWarmup(t.Context(), oversoldPlan(t, 12_000, named))
		require.NoError(t, err)
		require.Zero(t, again.Enough, "%d names %d: %+v", declared, named, again)
		require.Equal(t, last.Tried, again.Tried)
	}
}

// counter buys and sells in turn by the number of candles that it has seen.
type counter struct {
	strategy.Base
	seen int
}

func (s *counter) OnCandle(d *strategy.Desk, c market.Candle) {
	if s.seen++; s.seen%7 == 0 {
		_, _ = d.In(c.Market).Target(strategy.Amount(market.Qty(s.seen%2) * 1_000_000))
	}
}

func TestTheWarmupCheckNamesNoNumberForAStrategyThatNeverForgets(t *testing.T) {
	p := fromTheStart(t, 6_000, strategy.Define("counter", "counts candles",
		func(struct{}) strategy.Needs { return strategy.Needs{Warmup: 5} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &counter{}, nil }))
	report, err := CheckWarmup(t.Context(), p)
	require.NoError(t, err)
	last := report.Last()
	require.Negative(t, last.Enough)
	require.True(t, last.Short, "it has tried all that is stored")
	require.Greater(t, last.Tried[len(last.Tried)-1].History[0].Candles, 2_000)
}
