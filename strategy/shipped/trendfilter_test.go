package shipped_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// startTrend is over one and two hours and two days.
func startTrend(t *testing.T) *stage {
	return begin(t, 0, 2, 1000_00).with(shipped.TrendFilter, market.Interval1h, map[string]any{"fast": int64(1),
		"slow": int64(2), "days": int64(2), "size": "50% cash"})
}

// day closes a candle of a day.
func (s *stage) day(price market.Price) {
	s.Helper()
	s.Bar(s.strategy, s.desk, market.Candle{Open: price, High: price, Low: price, Close: price, Market: s.market.ID,
		Interval: market.Interval1d})
	require.Empty(s, s.Asked())
}

func TestItBuysOnlyWhileTheDaysRise(t *testing.T) {
	s := startTrend(t)
	s.closes(100)
	s.closes(110) // the fast average is above the slow one, and no day is known
	s.day(100)
	s.closes(120)
	s.day(110) // above the average of 105
	s.closes(125, "buy 4 (days rise)")
	s.closes(130) // the buy is open
}

func TestItLeavesWhenTheTrendEndsOrTheDaysFall(t *testing.T) {
	s := startTrend(t)
	s.day(100)
	s.day(110)
	s.closes(100)
	s.closes(125, "buy 4 (days rise)")
	s.Fill(1, 125, 4_00)
	s.closes(126)
	s.closes(100, "close all (trend over)")
	s.closes(99) // the sell is open
	s.Fill(2, 99, 4_00)
	s.closes(120, "buy 3.73 (days rise)") // 448 EUR for 120
	s.Fill(3, 120, 3_73)
	s.day(50)
	s.closes(130, "close all (trend over)")
}

func TestTheMainIntervalIsShorterThanADay(t *testing.T) {
	var b strategytest.Bench
	b.Market("BTC-EUR", 0, 2, 1000_00)
	_, err := shipped.TrendFilter.New(nil, b.Setup(market.Interval1d))
	require.EqualError(t, err, "strategy trendfilter: interval 1d: the main interval must be shorter than a day")
	_, err = shipped.TrendFilter.Needs(map[string]any{"fast": int64(50)})
	require.ErrorContains(t, err, "parameter fast: 50 is not below slow, which is 48")
	needs, err := shipped.TrendFilter.Needs(nil)
	require.NoError(t, err)
	require.Equal(t, []strategy.Candles{{Interval: market.Interval1h, Warmup: 166},
		{Interval: market.Interval1d, Warmup: 70}}, needs.Of(market.Interval1h))
}
