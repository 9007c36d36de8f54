package shipped_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// startAccumulate has 100 EUR, and buys for 25 each two hours.
func startAccumulate(t *testing.T) *stage {
	return begin(t, 2, 4, 100_00).with(shipped.Accumulate, market.Interval1h,
		map[string]any{"every": "2h", "candles": int64(3)})
}

const how = ", maker first every 30s, taken after 1h0m0s or beyond 0.5%"

func TestEachPeriodBuysOnceAsAMakerFirst(t *testing.T) {
	s := startAccumulate(t)
	s.closes(100_00)
	s.closes(100_00, "buy for 25"+how)
	s.Fill(1, 100_00, 2500)
	s.closes(100_00)
	s.closes(100_00, "buy for 25"+how)
}

func TestADipBuysMore(t *testing.T) {
	s := startAccumulate(t)
	s.closes(100_00)
	s.closes(90_01, "buy for 25"+how)
	s.Fill(1, 90_01, 2500)
	s.closes(90_01)
	s.closes(81_00, "buy for 50"+how) // 10 % below 90.01 is 81.009; the hour at 100 is over
}

func TestAnUnfinishedBuyEndsFirstAndTooLittleCashBuysNothing(t *testing.T) {
	s := startAccumulate(t)
	s.closes(100_00)
	s.closes(100_00, "buy for 25"+how)
	s.closes(100_00)
	s.closes(100_00, "cancel 1", "buy for 25"+how)
	s.Fill(2, 100_00, 2500)
	s.Deposit(s.market, -60_00)
	s.closes(100_00)
	s.closes(100_00)
}

func TestParametersThatDoNotFitAreRefused(t *testing.T) {
	s := startAccumulate(t)
	for _, values := range []map[string]any{{"every": "1h"}, {"money": "25.001"}, {"money": "20% equity"}} {
		_, err := shipped.Accumulate.New(values, s.Setup(market.Interval4h))
		require.Error(t, err)
	}
}
