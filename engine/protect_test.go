package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// protector buys at its first candle and protects what it holds at the close of the candle in which
// the buy filled.
func protector(t *testing.T, act func(d *strategy.Desk, minute int)) *script {
	minute := 0
	return &script{candle: func(d *strategy.Desk, _ market.Candle) {
		switch minute++; minute {
		case 1:
			_, err := d.In(1).Protect(strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
			require.ErrorIs(t, err, strategy.ErrNoPosition)
			_, err = d.In(1).Buy(strategy.Amount(btc))
			require.NoError(t, err)
		case 2:
			id, err := d.In(1).Protect(strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
			require.NoError(t, err)
			require.Equal(t, market.OrderID(2), id)
			_, err = d.In(1).Protect(strategy.StopAt(80*at1), strategy.TargetAt(120*at1))
			require.ErrorIs(t, err, strategy.ErrNoPosition, "what is protected is not protected twice")
		}
		if act != nil {
			act(d, minute)
		}
	}}
}

func TestProtectionOfAPositionBeginsAtTheNextOpen(t *testing.T) {
	for _, l := range []struct {
		name     string
		path     sim.Path
		bars     []bar // tradeFrom the entry's candle on
		realised market.Money
	}{
		{"the entry's own candle does not count", sim.Adaptive, []bar{{100, 130, 70, 100}, {100, 101, 99, 100}}, 0},
		{"stop", sim.Adaptive, []bar{{100, 100, 100, 100}, {100, 101, 85, 87}}, -10 * eur},
		{"target", sim.Adaptive, []bar{{100, 100, 100, 100}, {100, 115, 99, 112}}, 10 * eur},
		{"both, the stop first", sim.Pessimistic, []bar{{100, 100, 100, 100}, {100, 120, 75, 100}}, -10 * eur},
		{"both, the target first", sim.Optimistic, []bar{{100, 100, 100, 100}, {100, 125, 80, 100}}, 10 * eur},
		{"gap through the stop", sim.Adaptive, []bar{{100, 100, 100, 100}, {70, 72, 65, 70}}, -30 * eur},
		{"gap through the target", sim.Adaptive, []bar{{100, 100, 100, 100}, {130, 131, 129, 130}}, 30 * eur},
		{"the target passed before it was asked for: sold at the next open", sim.Adaptive,
			[]bar{{100, 120, 100, 120}, {121, 125, 85, 90}}, 21 * eur},
		{"passed before, the open below: the close it was asked on does not count", sim.Adaptive,
			[]bar{{100, 120, 100, 120}, {105, 106, 104, 105}}, 0},
		{"the stop passed before: sold at the next open", sim.Adaptive, []bar{{100, 100, 80, 80}, {79, 120, 79, 100}},
			-21 * eur},
	} {
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: protector(t, nil)}},
			venue: sim.Config{Path: l.path}})
		b.oneSell = true
		b.flat(1, 100)
		for _, c := range l.bars {
			b.candle(c.open, c.high, c.low, c.close)
		}
		require.Equal(t, l.realised, b.realised(), l.name)
		if l.realised != 0 {
			require.Zero(t, b.position(), l.name)
			require.Equal(t, market.Watch{}, b.engine.Watches()[1], l.name)
		}
	}
}

func TestProtectionMovesAndEndsByItsName(t *testing.T) {
	b := one(t, protector(t, func(d *strategy.Desk, minute int) {
		switch minute {
		case 3:
			require.NoError(t, d.Update(2, strategy.Exits(95*at1, 120*at1)))
		case 4:
			require.NoError(t, d.Cancel(2))
		}
	}))
	b.flat(5, 100)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90", "update 3 stop 95", "cancel 3"}, b.sent)
	require.Empty(t, b.account.Open(nil, 0, 0))
	require.Equal(t, market.Qty(btc), b.position())
}
