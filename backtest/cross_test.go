package backtest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// shifts buys in the hours of one parity and sells all in those of the other.
type shifts struct {
	strategy.Base
	parity, hour int
}

func (s *shifts) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	if s.hour++; s.hour/2%2 == s.parity {
		_, _ = m.Buy(strategy.Money(1000_00))
	} else {
		_, _ = m.Sell(strategy.PositionShare(100 * market.Percent))
	}
}

// The result says what changed hands; it is no part of what was traded at the exchange.
func TestABacktestSaysWhatChangedHands(t *testing.T) {
	results := map[bool]*Result{}
	for _, cross := range []bool{false, true} {
		p := alwaysInvested(t, 20, 0)
		p.Account.AllowSelfCross, p.Account.CrossOpposite = true, cross
		one := p.Strategies[0]
		p.Strategies = nil
		for parity := range 2 {
			one.Name = []string{"early", "late"}[parity]
			one.Kind = strategy.Define(one.Name, "for a test",
				func(struct{}) strategy.Needs { return strategy.Needs{} },
				func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &shifts{parity: parity}, nil })
			p.Strategies = append(p.Strategies, one)
		}
		res, err := Run(context.Background(), p, Options{Keep: true})
		require.NoError(t, err)
		results[cross] = res
	}
	allowed, crossed := results[false], results[true]
	require.Zero(t, allowed.Orders.Crossed)
	require.NotContains(t, strings.Join(allowed.Assumptions, " "), "change hands")
	require.Greater(t, crossed.Orders.Crossed, int64(500))
	require.Zero(t, crossed.Orders.Crossed%2, "there are two for each")
	require.Contains(t, strings.Join(crossed.Assumptions, " "), "change hands at the middle of bid and ask")
	require.Less(t, crossed.Orders.Fills, allowed.Orders.Fills/2, "the exchange gets less")
	require.Less(t, crossed.Performance.Turnover, allowed.Performance.Turnover/2)
	require.Len(t, crossed.Fills, int(crossed.Orders.Fills+crossed.Orders.Crossed))
	value := market.Money(0)
	for _, f := range crossed.Fills {
		if f.Crossed && f.Side == market.Buy {
			value += market.Money(f.Price.Float() * f.Amount.Float() * 100)
		}
	}
	require.InDelta(t, int64(value), int64(crossed.Performance.Crossed.Units), float64(crossed.Orders.Crossed))
	require.Contains(t, crossed.crossedRows()[0].Strategy, "EUR")
	require.Empty(t, allowed.crossedRows())
}
