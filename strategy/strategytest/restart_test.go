package strategytest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// seated is a strategy with its parameters.
type seated struct {
	kind   strategy.Definition
	values map[string]any
}

var kinds = []seated{
	{shipped.SMACross, map[string]any{"fast": int64(2), "slow": int64(4)}},
	{shipped.Breakout, map[string]any{"channel": int64(2), "atr": int64(2)}},
	{shipped.RSIRevert, map[string]any{"period": int64(2), "low": 45.0, "high": 55.0, "expire": int64(2)}},
	{shipped.Grid, map[string]any{"levels": int64(2), "spacing_bps": "100", "recentre_bps": "200"}},
	{shipped.DCA, map[string]any{"every_candles": int64(3)}},
	{shipped.DCA, map[string]any{"every": "90m"}},
	{shipped.Maker, nil},
	{shipped.TrendFilter, map[string]any{"fast": int64(1), "slow": int64(3), "days": int64(0)}},
	{shipped.Rotation, map[string]any{"top": int64(1), "candles": int64(2), "every": "4h"}},
	{shipped.BandRevert, map[string]any{"closes": int64(4), "width": 0.5, "gain": "0%", "atr": int64(2)}},
	{shipped.Accumulate, map[string]any{"candles": int64(4), "every": "4h"}},
	{rules.Definition, map[string]any{"rules.entry": "close < sma(n)", "n": int64(3), "rules.stop": "4%",
		"rules.exit": "close > highest_since_entry - 0.2 * atr(2)", "rules.cooldown": int64(2), "rules.add": int64(1)}},
	{rules.Definition, map[string]any{"rules.entry": "close < close[1] and bars_since_exit > 2",
		"rules.at": "close - 0.1", "rules.exit": "entry_price < low", "rules.exit_after": int64(5)}},
	{shipped.Follow, map[string]any{"stop": "3%", "size": "50% cash"}},
	{shipped.Follow, map[string]any{"limit": "1%", "target": "3%"}},
}

func TestARestartedStrategyAsksWhatItWouldHaveAsked(t *testing.T) {
	for _, kind := range shipped.Definitions() {
		require.True(t, slices.ContainsFunc(kinds, func(one seated) bool { return one.kind.Name == kind.Name }),
			"%s has no row in kinds", kind.Name)
	}
	for i, one := range kinds {
		t.Run(fmt.Sprint(one.kind.Name, i), func(t *testing.T) {
			require.Equal(t, life(t, one.kind, one.values, 0), life(t, one.kind, one.values, 7))
			require.Equal(t, life(t, one.kind, one.values, 0), life(t, one.kind, one.values, 1))
			require.NotEmpty(t, life(t, one.kind, one.values, 0))
		})
	}
}

// life is what a strategy asks for in a while in which it is killed on every so many candles; 0:
// never.
func life(t *testing.T, kind strategy.Definition, values map[string]any, every int) (asked []string) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 2, 4, 10_000_00)
	fresh := func() strategy.Strategy {
		s, err := kind.New(values, b.Setup(market.Interval1h))
		require.NoError(t, err)
		return s
	}
	s, r := fresh(), rand.New(rand.NewPCG(5, 6))
	hour := market.Time(market.Interval1h.Fixed())
	var history []market.Candle
	for i := range 120 {
		price := market.Price(9_000 + r.IntN(2000))
		c := market.Candle{Open: price, High: price + 50, Low: price - 50, Close: price, Start: market.Time(i) * hour,
			Market: m.ID, Interval: market.Interval1h}
		b.At = c.End()
		history = append(history, c)
		b.Group(s, b.Desk(), c)
		b.Book(s, b.Desk(), market.OrderBook{Market: m.ID, Bids: []market.Level{{Price: price - 5, Amount: 1}},
			Asks: []market.Level{{Price: price + 5, Amount: 1}}})
		if one, hears := s.(strategy.SignalHandler); hears && r.IntN(3) == 0 {
			heard := strategytest.RandomSignal(r.IntN, 1)
			heard.Time = b.At
			b.Signal(one, b.Desk(), heard)
		}
		for _, timer := range b.Timers {
			s.(strategy.TimerHandler).OnTimer(b.Desk(), timer.Name)
		}
		b.Timers = b.Timers[:0]
		for _, o := range b.Desk().In(m.ID).OpenOrders() {
			if amount := o.AmountRemaining; r.IntN(3) == 0 && amount > 0 &&
				(o.Side == market.Buy || b.Position(m).Amount >= amount) {
				b.Fill(o.ID, price, amount)
			}
		}
		if every > 0 && i%every == 0 {
			next := fresh()
			require.NoError(t, b.Restart(s, next, history))
			s = next
		}
		asked = append(asked, b.Asked()...)
	}
	return asked
}
