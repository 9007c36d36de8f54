package accumulate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/accumulate"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// stage has a market with 100 EUR, and buys for 25 each two hours.
type stage struct {
	*testing.T
	strategytest.Bench
	market   *market.Market
	strategy strategy.Strategy
	start    market.Time
}

func start(t *testing.T) *stage {
	s := &stage{T: t}
	s.market = s.Market("BTC-EUR", 2, 4, 100_00)
	made, err := accumulate.Definition.New(map[string]any{"every": "2h", "candles": int64(3)},
		s.Setup(market.Interval1h))
	require.NoError(t, err)
	s.strategy = made
	return s
}

// close lets an hour close at a price.
func (s *stage) close(price market.Price, want ...string) {
	s.Helper()
	c := market.Candle{Market: s.market.ID, Interval: market.Interval1h, Start: s.start, Open: price, High: price,
		Low: price, Close: price}
	s.start = c.End()
	s.At = c.End()
	s.strategy.OnCandle(s.Desk(), c)
	require.Equal(s, want, s.Asked())
}

const how = ", maker first every 30s, taken after 1h0m0s or beyond 0.5%"

func TestEachPeriodBuysOnceAsAMakerFirst(t *testing.T) {
	s := start(t)
	s.close(100_00)
	s.close(100_00, "buy for 25"+how)
	s.Fill(1, 100_00, 2500)
	s.close(100_00)
	s.close(100_00, "buy for 25"+how)
}

func TestADipBuysMore(t *testing.T) {
	s := start(t)
	s.close(100_00)
	s.close(90_01, "buy for 25"+how)
	s.Fill(1, 90_01, 2500)
	s.close(90_01)
	s.close(81_00, "buy for 50"+how) // 10 % below 90.01 is 81.009; the hour at 100 is over
}

func TestAnUnfinishedBuyEndsFirstAndTooLittleCashBuysNothing(t *testing.T) {
	s := start(t)
	s.close(100_00)
	s.close(100_00, "buy for 25"+how)
	s.close(100_00)
	s.close(100_00, "cancel 1", "buy for 25"+how)
	s.Fill(2, 100_00, 2500)
	s.Deposit(s.market, -60_00)
	s.close(100_00)
	s.close(100_00)
}

func TestParametersThatDoNotFitAreRefused(t *testing.T) {
	s := start(t)
	for _, values := range []map[string]any{{"every": "1h"}, {"money": "25.001"}, {"money": "20% equity"}} {
		_, err := accumulate.Definition.New(values, s.Setup(market.Interval4h))
		require.Error(t, err)
	}
}
