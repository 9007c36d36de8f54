package shipped_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

const hour = market.Time(time.Hour)

func startDCA(t *testing.T, cash market.Money, values map[string]any) *stage {
	return begin(t, 0, 2, cash).with(shipped.DCA, market.Interval1h, values)
}

// hourly closes the candle that starts n hours after 1970.
func (s *stage) hourly(m *market.Market, n int) []string {
	c := market.Candle{Open: 100, High: 100, Low: 100, Close: 100, Market: m.ID, Interval: market.Interval1h,
		Start: market.Time(n) * hour}
	s.At = c.End()
	s.Bar(s.strategy, s.desk, c)
	return s.Asked()
}

func TestTheFirstCandleOfEachPeriodBuys(t *testing.T) {
	s := startDCA(t, 1000_00, map[string]any{"money": "12.5", "every_candles": int64(4)})
	cases := []struct {
		hour int
		buys bool
	}{
		{2, false}, // the run starts inside a period
		{3, false},
		{4, true},
		{5, false},
		{7, false},
		{9, true}, // the first candle of its period is missing
		{10, false},
		{20, true}, // two periods are missing: one purchase
	}
	for _, c := range cases {
		asked := s.hourly(s.market, c.hour)
		if c.buys {
			require.Equal(t, []string{"buy for 12.5 (scheduled)"}, asked, "hour %d", c.hour)
		} else {
			require.Empty(t, asked, "hour %d", c.hour)
		}
	}
}

func TestARunThatStartsWithAPeriodBuysAtOnce(t *testing.T) {
	s := startDCA(t, 1000_00, map[string]any{"every_candles": int64(4)})
	require.Equal(t, []string{"buy for 25 (scheduled)"}, s.hourly(s.market, 8))
}

func TestAShortPurchaseIsSkippedNotShrunk(t *testing.T) {
	s := startDCA(t, 24_99, map[string]any{"every_candles": int64(1)})
	require.Empty(t, s.hourly(s.market, 0))
	s.Deposit(s.market, 1)
	require.Equal(t, []string{"buy for 25 (scheduled)"}, s.hourly(s.market, 1))
}

func TestARefusedPurchaseIsNotMadeUpFor(t *testing.T) {
	s := startDCA(t, 1000_00, map[string]any{"every_candles": int64(4)})
	s.Refuse = func(*market.Command) error { return errors.New("halted") }
	require.Len(t, s.hourly(s.market, 0), 1)
	s.Refuse = nil
	require.Empty(t, s.hourly(s.market, 1))
}

func TestADurationBuysByTimer(t *testing.T) {
	s := startDCA(t, 1000_00, map[string]any{"every": "6h"})
	for n := 7; n < 10; n++ {
		require.Empty(t, s.hourly(s.market, n))
	}
	require.Equal(t, []strategytest.Timer{{At: 12 * hour, Name: int64(s.market.ID)}}, s.Timers) // one

	s.At = 12*hour + 1
	s.strategy.(strategy.TimerHandler).OnTimer(s.desk, s.Timers[0].Name)
	require.Equal(t, []string{"buy for 25 (scheduled)"}, s.Asked())
	require.Equal(t, 18*hour, s.Timers[1].At)

	s.At = 31 * hour // two hours of outage and more: one purchase, the schedule stands
	s.strategy.(strategy.TimerHandler).OnTimer(s.desk, s.Timers[1].Name)
	require.Len(t, s.Asked(), 1)
	require.Equal(t, 36*hour, s.Timers[2].At)
}

func TestEachMarketBuysForItself(t *testing.T) {
	s := begin(t, 0, 2, 1000_00, 0).with(shipped.DCA, market.Interval1h, map[string]any{"every_candles": int64(2)})
	require.Equal(t, []string{"buy for 25 on BTC-EUR (scheduled)"}, s.hourly(s.market, 0))
	require.Equal(t, []string{"buy for 25 on ETH-EUR (scheduled)"}, s.hourly(s.markets[1], 0))
	require.Empty(t, s.hourly(s.market, 1))
}

func TestMoneyMustFitTheQuoteAsset(t *testing.T) {
	var b strategytest.Bench
	b.Market("BTC-EUR", 0, 2, 0)
	_, err := shipped.DCA.New(map[string]any{"money": "0.001"}, b.Setup(market.Interval1h))
	require.ErrorIs(t, err, market.ErrInexact)
	require.ErrorContains(t, err, "parameter money: 0.001 quote in BTC-EUR, which has 2 decimals")
	_, err = shipped.DCA.Needs(map[string]any{"every": "1ms"})
	require.EqualError(t, err, "strategy dca: parameter every: 1ms is below 1s")
}
