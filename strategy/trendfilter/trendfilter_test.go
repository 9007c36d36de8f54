package trendfilter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
	"github.com/tidemark-trading/tidemark/strategy/trendfilter"
)

// stage has a market with 1000 EUR and the strategy over one and two hours and two days.
type stage struct {
	*testing.T
	strategytest.Bench
	market   *market.Market
	strategy strategy.Strategy
	desk     *strategy.Desk
}

func start(t *testing.T) *stage {
	s := &stage{T: t}
	s.market = s.Market("BTC-EUR", 0, 2, 1000_00)
	made, err := trendfilter.Definition.New(map[string]any{"fast": int64(1), "slow": int64(2), "days": int64(2),
		"size": "50% cash"}, s.Setup(market.Interval1h))
	require.NoError(t, err)
	s.strategy, s.desk = made, s.Bench.Desk()
	return s
}

// closes closes a candle of the interval at the price.
func (s *stage) closes(i market.Interval, price market.Price, want ...string) {
	s.Helper()
	s.Bar(s.strategy, s.desk, market.Candle{Open: price, High: price, Low: price, Close: price, Market: s.market.ID,
		Interval: i})
	require.Equal(s, want, s.Asked())
}

func (s *stage) hour(price market.Price, want ...string) {
	s.Helper()
	s.closes(market.Interval1h, price, want...)
}
func (s *stage) day(price market.Price) { s.Helper(); s.closes(market.Interval1d, price) }

func TestItBuysOnlyWhileTheDaysRise(t *testing.T) {
	s := start(t)
	s.hour(100)
	s.hour(110) // the fast average is above the slow one, and no day is known
	s.day(100)
	s.hour(120)
	s.day(110) // above the average of 105
	s.hour(125, "buy 4 (days rise)")
	s.hour(130) // the buy is open
}

func TestItLeavesWhenTheTrendEndsOrTheDaysFall(t *testing.T) {
	s := start(t)
	s.day(100)
	s.day(110)
	s.hour(100)
	s.hour(125, "buy 4 (days rise)")
	s.Fill(1, 125, 4_00)
	s.hour(126)
	s.hour(100, "close all (trend over)")
	s.hour(99) // the sell is open
	s.Fill(2, 99, 4_00)
	s.hour(120, "buy 3.73 (days rise)") // 448 EUR for 120
	s.Fill(3, 120, 3_73)
	s.day(50)
	s.hour(130, "close all (trend over)")
}

func TestTheMainIntervalIsShorterThanADay(t *testing.T) {
	var b strategytest.Bench
	b.Market("BTC-EUR", 0, 2, 1000_00)
	_, err := trendfilter.Definition.New(nil, b.Setup(market.Interval1d))
	require.EqualError(t, err, "strategy trendfilter: interval 1d: the main interval must be shorter than a day")
	_, err = trendfilter.Definition.Needs(map[string]any{"fast": int64(50)})
	require.ErrorContains(t, err, "parameter fast: 50 is not below slow, which is 48")
	needs, err := trendfilter.Definition.Needs(nil)
	require.NoError(t, err)
	require.Equal(t, []strategy.Candles{{Interval: market.Interval1h, Warmup: 166},
		{Interval: market.Interval1d, Warmup: 70}}, needs.Of(market.Interval1h))
}
