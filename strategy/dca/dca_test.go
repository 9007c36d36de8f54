package dca_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/dca"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

const hour = market.Time(time.Hour)

// hourly closes the candle that starts n hours after 1970.
func hourly(b *strategytest.Bench, s strategy.Strategy, d *strategy.Desk, m *market.Market, n int) []string {
	c := market.Candle{Open: 100, High: 100, Low: 100, Close: 100, Market: m.ID, Interval: market.Interval1h,
		Start: market.Time(n) * hour}
	b.At = c.End()
	b.Bar(s, d, c)
	return b.Asked()
}

func start(t *testing.T, b *strategytest.Bench, values map[string]any) (strategy.Strategy, *strategy.Desk) {
	s, err := dca.Definition.New(values, b.Setup(market.Interval1h))
	require.NoError(t, err)
	return s, b.Desk()
}

func TestTheFirstCandleOfEachPeriodBuys(t *testing.T) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 0, 2, 1000_00)
	s, d := start(t, &b, map[string]any{"money": "12.5", "every_candles": int64(4)})
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
		asked := hourly(&b, s, d, m, c.hour)
		if c.buys {
			require.Equal(t, []string{"buy for 12.5 (scheduled)"}, asked, "hour %d", c.hour)
		} else {
			require.Empty(t, asked, "hour %d", c.hour)
		}
	}
}

func TestARunThatStartsWithAPeriodBuysAtOnce(t *testing.T) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 0, 2, 1000_00)
	s, d := start(t, &b, map[string]any{"every_candles": int64(4)})
	require.Equal(t, []string{"buy for 25 (scheduled)"}, hourly(&b, s, d, m, 8))
}

func TestAShortPurchaseIsSkippedNotShrunk(t *testing.T) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 0, 2, 24_99)
	s, d := start(t, &b, map[string]any{"every_candles": int64(1)})
	require.Empty(t, hourly(&b, s, d, m, 0))
	b.Deposit(m, 1)
	require.Equal(t, []string{"buy for 25 (scheduled)"}, hourly(&b, s, d, m, 1))
}

func TestARefusedPurchaseIsNotMadeUpFor(t *testing.T) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 0, 2, 1000_00)
	s, d := start(t, &b, map[string]any{"every_candles": int64(4)})
	b.Refuse = func(*market.Command) error { return errors.New("halted") }
	require.Len(t, hourly(&b, s, d, m, 0), 1)
	b.Refuse = nil
	require.Empty(t, hourly(&b, s, d, m, 1))
}

func TestADurationBuysByTimer(t *testing.T) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 0, 2, 1000_00)
	s, d := start(t, &b, map[string]any{"every": "6h"})
	for n := 7; n < 10; n++ {
		require.Empty(t, hourly(&b, s, d, m, n))
	}
	require.Equal(t, []strategytest.Timer{{At: 12 * hour, Name: int64(m.ID)}}, b.Timers) // one, at the next period

	b.At = 12*hour + 1
	s.(strategy.TimerHandler).OnTimer(d, b.Timers[0].Name)
	require.Equal(t, []string{"buy for 25 (scheduled)"}, b.Asked())
	require.Equal(t, 18*hour, b.Timers[1].At)

	b.At = 31 * hour // two hours of outage and more: one purchase, the schedule stands
	s.(strategy.TimerHandler).OnTimer(d, b.Timers[1].Name)
	require.Len(t, b.Asked(), 1)
	require.Equal(t, 36*hour, b.Timers[2].At)
}

func TestEachMarketBuysForItself(t *testing.T) {
	var b strategytest.Bench
	btc := b.Market("BTC-EUR", 0, 2, 1000_00)
	eth := b.Market("ETH-EUR", 0, 2, 0)
	s, d := start(t, &b, map[string]any{"every_candles": int64(2)})
	require.Equal(t, []string{"buy for 25 on BTC-EUR (scheduled)"}, hourly(&b, s, d, btc, 0))
	require.Equal(t, []string{"buy for 25 on ETH-EUR (scheduled)"}, hourly(&b, s, d, eth, 0))
	require.Empty(t, hourly(&b, s, d, btc, 1))
}

func TestMoneyMustFitTheQuoteAsset(t *testing.T) {
	var b strategytest.Bench
	b.Market("BTC-EUR", 0, 2, 0)
	_, err := dca.Definition.New(map[string]any{"money": "0.001"}, b.Setup(market.Interval1h))
	require.ErrorIs(t, err, market.ErrInexact)
	require.ErrorContains(t, err, "parameter money: 0.001 quote in BTC-EUR, which has 2 decimals")
	_, err = dca.Definition.Needs(map[string]any{"every": "1ms"})
	require.EqualError(t, err, "strategy dca: parameter every: 1ms is below 1s")
}
