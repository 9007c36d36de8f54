package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// advised keeps what it hears and buys at each "buy".
type advised struct {
	script
	heard []string
	asked []error
}

func (l *advised) OnSignal(d *strategy.Desk, s market.Signal) {
	now, holds := d.In(1).Signal(s.Source)
	l.heard = append(l.heard, fmt.Sprint(s.Source, " ", s.Number, " in ", s.Market, ": ", now.Number, " ", holds))
	switch {
	case s.Text == "panic":
		panic("at a signal")
	case s.Action == market.ActBuy:
		_, err := d.In(1).Buy(strategy.Amount(btc))
		l.asked = append(l.asked, err)
	}
}

// signal enters a signal now, and hands the commands to the venue.
func (b *bench) signal(s market.Signal) {
	s.Known = b.now
	b.send(b.engine.Enter(&market.Input{Kind: market.InputSignal, At: b.now, Signal: &s}).Commands)
}

func TestStrategiesHearTheSignalsOfTheirSourcesAndMarkets(t *testing.T) {
	one, two := &advised{}, &advised{}
	b := newBench(t, setup{markets: 2, slots: []engine.StrategyConfig{
		{Strategy: one, Signals: []string{"model", "mood"}},
		{Strategy: two, Markets: []market.ID{2}, Signals: []string{"model"}}}})
	b.signal(market.Signal{Source: "model", Market: 1, Number: 1, Time: 5})
	b.signal(market.Signal{Source: "model", Market: 2, Number: 2, Time: 5})
	b.signal(market.Signal{Source: "mood", Number: 3, Time: 5})
	b.signal(market.Signal{Source: "other", Number: 4, Time: 5})
	b.signal(market.Signal{Source: "model", Number: 5, Time: 6})
	b.signal(market.Signal{Source: "model", Market: 1, Number: 6, Time: 3}) // a revision of the past
	b.signal(market.Signal{Source: "model", Market: 1, Number: 7, Time: 5}) // 5 of all markets is about a later time
	require.Equal(t, []string{"model 1 in 1: 1 true", "mood 3 in 0: 3 true", "model 5 in 0: 5 true",
		"model 6 in 1: 5 true", "model 7 in 1: 5 true"}, one.heard)
	require.Equal(t, []string{"model 2 in 2: 1 true", "model 5 in 0: 5 true"}, two.heard)
}

// A signal after the start ends the wait for the first event, as a ticker does.
func TestASignalIsHeardBeforeTheFirstCandle(t *testing.T) {
	s := &advised{}
	b := newBench(t, setup{from: start + 1, slots: []engine.StrategyConfig{{Strategy: s, Signals: []string{"model"}}}})
	buy := market.Signal{Source: "model", Market: 1, Action: market.ActBuy}
	b.signal(buy)
	require.ErrorContains(t, s.asked[0], "warm_up")
	b.now = start + 1
	b.signal(buy)
	require.NoError(t, s.asked[1])
}

// A signal is advice: what a strategy asks on it passes the gate, and a panic halts that one alone.
func TestTheGateDecidesWhatFollowsASignal(t *testing.T) {
	one, two := &advised{}, &advised{}
	b := newBench(t, setup{limits: []risk.Limits{{MaxOrderValue: 150 * eur}}, slots: []engine.StrategyConfig{
		{Strategy: one, Signals: []string{"model"}}, {Strategy: two, Signals: []string{"model"}}}})
	buy := market.Signal{Source: "model", Market: 1, Action: market.ActBuy}
	var sent []market.OrderID
	one.order = func(_ *strategy.Desk, o market.Order, _ market.Report) { sent = append(sent, o.ID) }
	b.candle(100, 100, 100, 100)
	b.signal(buy)
	require.Equal(t, []market.OrderID{1}, sent, "it hears of its order at once")
	b.candle(200, 200, 200, 200)
	require.EqualValues(t, btc, b.account.Position(1, 1).Amount)
	require.EqualValues(t, btc, b.account.Position(2, 1).Amount)
	b.signal(buy)
	require.ErrorContains(t, one.asked[1], "max_order_value")
	require.NoError(t, two.asked[1])
	b.signal(market.Signal{Source: "model", Market: 1, Text: "panic"})
	require.Len(t, b.engine.Halts(), 2)
	b.signal(buy)
	require.Len(t, one.asked, 2)
}

// What was heard last outlives a restart, and ends at its time.
func TestTheLatestSignalsAreSaved(t *testing.T) {
	b := newBench(t, setup{markets: 2,
		slots: []engine.StrategyConfig{{Strategy: &advised{}, Signals: []string{"model"}}}})
	b.candle(100, 100, 100, 100)
	b.signal(market.Signal{Source: "model", Market: 1, Number: 1, Time: 5, Value: 0.1, HasValue: true, Text: "why",
		Stance: market.StanceLong, Until: b.now + minute})
	b.signal(market.Signal{Source: "model", Number: 2, Time: 4})
	fresh := &advised{}
	b.restartNow(nil, fresh)
	b.signal(market.Signal{Source: "model", Market: 1, Number: 3, Time: 3})
	require.Equal(t, []string{"model 3 in 1: 1 true"}, fresh.heard)
	b.candle(100, 100, 100, 100)
	b.signal(market.Signal{Source: "model", Market: 1, Number: 4, Time: 3})
	require.Equal(t, "model 4 in 1: 0 false", slices.Max(fresh.heard))
}
