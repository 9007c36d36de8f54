package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
)

// beside has BTC-EUR, traded, and ETH-EUR with prices of two decimals, read; both traded if told.
func beside(t *testing.T, both bool, values map[string]any) (s *stage, eth *market.Market) {
	s = &stage{T: t, values: values}
	s.market, eth = s.Market("BTC-EUR", 0, 2, 1000_00), s.Market("ETH-EUR", 2, 2, 0)
	setup := s.Setup(market.Interval1h)
	if setup.Reads = setup.Markets[1:]; !both {
		setup.Markets = setup.Markets[:1]
	}
	needs, err := rules.Definition.Needs(values)
	require.NoError(t, err)
	require.Equal(t, []string{"ETH-EUR"}, needs.Reads)
	s.strategy, err = rules.Definition.New(values, setup)
	require.NoError(t, err)
	s.strategy.(strategy.Watcher).Watch()
	return s, eth
}

// together closes hours of markets at one instant, in this order.
func (s *stage) together(of []*market.Market, prices []market.Price, want ...string) {
	s.Helper()
	var list []market.Candle
	for i, m := range of {
		list = append(list, market.Candle{Open: prices[i], High: prices[i], Low: prices[i], Close: prices[i], Volume: 1,
			Market: m.ID, Interval: market.Interval1h, Start: s.next})
	}
	s.next += hour
	s.At = s.next
	s.Group(s.strategy, s.Desk(), list...)
	require.Equal(s, want, s.Asked())
}

func TestRulesReadAnotherMarketInItsUnitsWhicheverCandleComesFirst(t *testing.T) {
	s, eth := beside(t, false, map[string]any{"rules.entry": `close("ETH-EUR") > 20.5 and close > 10 * close("ETH-EUR")`,
		"rules.exit": `close("ETH-EUR") < close("ETH-EUR")[1]`})
	btc := s.market
	s.together([]*market.Market{btc}, []market.Price{300}) // nothing is known of the other one
	s.together([]*market.Market{btc, eth}, []market.Price{300, 2051},
		`buy 3.16 on BTC-EUR (entry: close("ETH-EUR") 20.51 > 20.5, close 300 > 10 * close("ETH-EUR") 205.1)`)
	s.Drop(1)
	s.together([]*market.Market{eth, btc}, []market.Price{2052, 300},
		`buy 3.16 on BTC-EUR (entry: close("ETH-EUR") 20.52 > 20.5, close 300 > 10 * close("ETH-EUR") 205.2)`)
	s.fill(2, market.Buy, 300, 3_16)
	s.together([]*market.Market{btc}, []market.Price{300})  // no trade there: its last candle counts
	s.together([]*market.Market{eth}, []market.Price{2000}) // and here: no close, no decision
	s.together([]*market.Market{btc, eth}, []market.Price{300, 1999},
		`close all on BTC-EUR (exit: close("ETH-EUR") 19.99 < close("ETH-EUR")[1] 20)`)
}

func TestAMarketMayBeReadAndTraded(t *testing.T) {
	s, eth := beside(t, true, map[string]any{"rules.entry": `close > close("ETH-EUR")[1]`, "rules.exit": "false",
		"rules.size": "1 base"})
	s.Deposit(eth, 1000_00)
	both := []*market.Market{s.market, eth}
	s.together(both, []market.Price{20, 2100})
	s.together(both, []market.Price{21, 2200}, `buy 1 on ETH-EUR (entry: close 22 > close("ETH-EUR")[1] 21)`)
	s.together(both, []market.Price{23, 2150}, `buy 1 on BTC-EUR (entry: close 23 > close("ETH-EUR")[1] 22)`)
}

// The longer candle of the other market closes at the same instant, and comes later or never.
func TestALateCandleOfAnotherMarketIsAwaited(t *testing.T) {
	s, eth := beside(t, false, map[string]any{"rules.entry": `close("ETH-EUR", "1d") > 20`, "rules.exit": "false"})
	day := func(m *market.Market, price market.Price) {
		s.strategy.OnCandle(s.Desk(), market.Candle{Open: price, High: price, Low: price, Close: price, Market: m.ID,
			Interval: market.Interval1d, Start: s.next - 24*hour})
	}
	both := []*market.Market{s.market, eth}
	for range 24 {
		s.together(both, []market.Price{100, 2100})
	}
	day(s.market, 100)
	require.Empty(t, s.Asked())
	day(eth, 2100)
	want := `buy 9.5 on BTC-EUR (entry: close("ETH-EUR", "1d") 21 > 20)`
	require.Equal(t, []string{want}, s.Asked())
	s.Drop(1)
	s.Timers = nil
	for range 23 {
		s.together(both, []market.Price{100, 2100}, want)
		s.Drop(s.Desk().OpenOrders()[0].ID)
	}
	s.together(both, []market.Price{100, 2100})
	s.rings(want)
	require.NotContains(t, s.strategy.(strategy.Noter).Notes()[0], "not decided")
}

func TestASignalWaitsForTheOtherMarketToo(t *testing.T) {
	s, eth := beside(t, false, map[string]any{"rules.on": "model", "rules.entry": `close("ETH-EUR") > 20`,
		"rules.exit": "false"})
	both, want := []*market.Market{s.market, eth}, `buy 9.5 on BTC-EUR (entry: close("ETH-EUR") 21 > 20)`
	s.together(both, []market.Price{100, 2000})
	s.hears(s.next+1, market.Signal{})
	s.hears(s.next+hour+1, market.Signal{})
	s.together(both, []market.Price{100, 2100}, want)
	s.Drop(1)
	s.Timers = nil
	s.hears(s.next+hour+1, market.Signal{})
	s.together(both[:1], []market.Price{100})
	s.rings(want)
}
