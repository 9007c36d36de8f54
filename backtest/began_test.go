package backtest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// eager buys at every close of the main interval, and notes the first close at which it may.
type eager struct {
	strategy.Base
	first map[market.ID]market.Time
	early int64 // asks in a market that was Warming
	wrong int   // that were not refused as warm_up, or others that were
}

func (s *eager) OnCandle(d *strategy.Desk, c market.Candle) {
	warming := d.In(c.Market).Warming()
	_, err := d.In(c.Market).Buy(strategy.Money(10_00))
	if warming {
		s.early++
	}
	if warming != (err != nil && strings.Contains(err.Error(), "warm_up")) {
		s.wrong++
	}
	if s.first[c.Market] == 0 && err == nil {
		s.first[c.Market] = c.End()
	}
}

// eagerPlan is a plan over minutes and candles of five minutes of three markets, of which the last
// begins after so many minutes.
func eagerPlan(t *testing.T, needs strategy.Needs, late int) (*Plan, *eager) {
	p, s := rotationPlan(t, 0, 3_000, 1), &eager{first: map[market.ID]market.Time{}}
	for i := range p.Feeds {
		p.Feeds[i].Deliver = true
	}
	open := p.Open
	p.Open = func(f Feed, from, to market.Time) (Source, error) {
		if f.Market.ID == 3 {
			from = max(from, market.Time(1640995200_000_000_000+int64(late)*60e9))
		}
		return open(f, from, to)
	}
	p.Strategies = []StrategyPlan{{Name: "eager", Markets: p.Catalog.Markets(), Interval: market.Interval1m,
		Kind: strategy.Define("eager", "for a test", func(struct{}) strategy.Needs { return needs },
			func(struct{}, strategy.Setup) (strategy.Strategy, error) { return s, nil })}}
	return p, s
}

// An average of 50 candles of the longer interval needs so many of these, and not as many times
// those of the main interval.
func TestEachMarketBeginsWithTheLastCandleThatItLacks(t *testing.T) {
	slow := indicator.NewEMA(50)
	needs := strategy.Needs{Warmup: 30, Intervals: strategy.Intervals{market.Interval5m: slow.Warmup()}}
	begin, minute := market.Time(1640995200_000_000_000), market.Time(60e9)
	coarse := market.Time(slow.Warmup()) * 5 * minute
	p, s := eagerPlan(t, needs, 1_000)
	result, err := Run(context.Background(), p, Options{})
	require.NoError(t, err)
	require.Equal(t, []Began{{Market: "BTC-EUR", At: Moment(begin + coarse), HeldBy: "5m"},
		{Market: "ETH-EUR", At: Moment(begin + coarse), HeldBy: "5m"},
		{Market: "ADA-EUR", At: Moment(begin + 1_000*minute + coarse), HeldBy: "5m"}}, result.Strategies[0].Began)
	require.Equal(t, map[market.ID]market.Time{1: begin + coarse, 2: begin + coarse, 3: begin + 1_000*minute + coarse},
		s.first)
	require.Equal(t, "eager could trade BTC-EUR, ETH-EUR from 2022-01-01 on (its warm-up waited for 5m candles); "+
		"ADA-EUR from 2022-01-02 on (its warm-up waited for 5m candles). "+
		fmt.Sprintf("Asked during the warm-up, and refused as it should be: %d.",
			s.early), result.Strategies[0].BeganText())
	require.Zero(t, s.wrong)
	require.Equal(t, s.early, result.Strategies[0].AskedEarly)
	for _, r := range result.Refusals {
		require.NotContains(t, r.Reason, "warm_up", "no refusals")
	}
}

func TestARangeBeginsAtOnceWhereTheCandlesBeforeItSuffice(t *testing.T) {
	needs := strategy.Needs{Warmup: 30, Intervals: strategy.Intervals{market.Interval5m: 100}}
	begin, minute := market.Time(1640995200_000_000_000), market.Time(60e9)
	p, s := eagerPlan(t, needs, 2_980)
	p.From = begin + 1_000*minute
	require.Equal(t, p.From-30*minute, p.ReadFrom(p.Feeds[0]))
	require.Equal(t, p.From-500*minute, p.ReadFrom(p.Feeds[3]))
	result, err := Run(context.Background(), p, Options{})
	require.NoError(t, err)
	require.Equal(t, []Began{{Market: "BTC-EUR", At: Moment(p.From + minute)},
		{Market: "ETH-EUR", At: Moment(p.From + minute)},
		{Market: "ADA-EUR", HeldBy: "5m", Missing: 96}}, result.Strategies[0].Began)
	require.Equal(t, map[market.ID]market.Time{1: p.From + minute, 2: p.From + minute}, s.first)
	require.Equal(t, "eager could trade BTC-EUR, ETH-EUR from 2022-01-01 on; "+
		"ADA-EUR at no time (its warm-up needed 96 more 5m candles). "+
		fmt.Sprintf("Asked during the warm-up, and refused as it should be: %d.",
			s.early), result.Strategies[0].BeganText())
}

func TestAPortfolioLeavesAMarketInItsWarmUpAsItIs(t *testing.T) {
	var log bytes.Buffer
	p := rotationPlan(t, 0, 3_000, 1)
	open := p.Open
	p.Open = func(f Feed, from, to market.Time) (Source, error) {
		if f.Market.ID == 3 {
			from = 1640995200_000_000_000 + 1_495*60e9
		}
		return open(f, from, to)
	}
	p.Log = zerolog.New(&log).Level(zerolog.DebugLevel)
	result, err := Run(context.Background(), p, Options{Keep: true})
	require.NoError(t, err)
	began := result.Strategies[0].Began[2]
	require.Equal(t, Began{Market: "ADA-EUR", At: 1640995200_000_000_000 + 1_530*60e9, HeldBy: "5m"}, began)
	early := 0
	for _, f := range result.Fills {
		require.False(t, f.Market == "ADA-EUR" && f.Time < market.Time(began.At), "bought in its warm-up")
		if f.Time < market.Time(began.At) {
			early++
		}
	}
	require.NotZero(t, early, "the others trade meanwhile")
	require.True(t, strings.Contains(log.String(),
		"the market keeps its units: warm-up: ADA-EUR needs 6 more 5m candles"))
	require.False(t, strings.Contains(log.String(), "refused: exchange"))
}
