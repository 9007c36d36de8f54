package shipped_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// startBreakout is over three candles, the stop one true range away and the target two.
func startBreakout(t *testing.T, more map[string]any) *stage {
	return begin(t, 0, 2, 1000_00).with(shipped.Breakout, market.Interval1h, map[string]any{"channel": int64(3),
		"atr": int64(2), "stop_atr": 1.0, "target_atr": 2.0, "share": "1", "risk": "0"}, more)
}

// bar closes a candle of ±5 around the price.
func (s *stage) bar(price market.Price, want ...string) {
	s.Helper()
	s.Bar(s.strategy, s.desk, market.Candle{Open: price, High: price + 5, Low: price - 5, Close: price,
		Market: s.market.ID})
	require.Equal(s, want, s.Asked())
}

// bought fills the entry and lets an exit rest, as the engine does.
func (s *stage) bought(price market.Price, amount market.Qty) {
	s.Fill(1, price, amount)
	_, err := s.desk.In(s.market.ID).Sell(strategy.Amount(amount), strategy.StopLoss(97))
	require.NoError(s, err)
	s.Asked()
}

func TestACloseAboveTheChannelBuysWithExits(t *testing.T) {
	s := startBreakout(t, nil)
	s.bar(100)
	s.bar(100)
	s.bar(100)
	s.bar(105)                                         // equal to the highest high: not above it
	s.bar(111, "buy 9 stop 100 target 132 (breakout)") // reach 10.5
}

func TestNothingIsBoughtBeforeTheChannelIsFull(t *testing.T) {
	s := startBreakout(t, nil)
	s.bar(100)
	s.bar(110)
	s.bar(130)                                            // the third candle: only two before it
	s.bar(150, "buy 6.66 stop 128 target 194 (breakout)") // ranges 10, 15, 25, 25: reach 21.875
}

func TestTheStopFollowsUpwardsOnly(t *testing.T) {
	s := startBreakout(t, nil)
	for range 3 {
		s.bar(100)
	}
	s.bar(110, "buy 9.09 stop 97 target 135 (breakout)") // reach 12.5
	s.bar(112)                                           // not filled yet: nothing to trail
	s.Fill(1, 111, 4_00)                                 // a part
	s.bar(115, "update 1 stop 104 target 135")           // reach 10.625
	s.bar(105)                                           // would be lower
	s.bar(125, "update 1 stop 106 target 135")           // reach 18.9
}

func TestItDrawsTheChannelAndTheStop(t *testing.T) {
	s := startBreakout(t, nil)
	for range 3 {
		s.bar(100)
	}
	s.bar(110, "buy 9.09 stop 97 target 135 (breakout)")
	s.Plotted()
	s.bought(111, 9_09)
	s.bar(115, "update 1 stop 103 target 135")
	require.Equal(t, []string{"channel 115", "stop 97"}, s.Plotted())
	s.Fill(2, 97, 9_09)
	s.bar(95)
	require.Equal(t, []string{"channel 120", "stop NaN"}, s.Plotted())
}

func TestARefusedMoveIsAskedForAgain(t *testing.T) {
	s := startBreakout(t, nil)
	for range 3 {
		s.bar(100)
	}
	s.bar(110, "buy 9.09 stop 97 target 135 (breakout)")
	s.bought(111, 9_09)
	s.Refuse = func(*market.Command) error { return errors.New("halted") }
	s.bar(115, "update 1 stop 103 target 135 refused")
	s.Refuse = nil
	s.bar(115, "update 1 stop 104 target 135")
}

func TestAfterTheExitTheNextBreakoutBuysAgain(t *testing.T) {
	s := startBreakout(t, nil)
	for range 3 {
		s.bar(100)
	}
	s.bar(110, "buy 9.09 stop 97 target 135 (breakout)")
	s.bought(111, 9_09)
	s.Fill(2, 97, 9_09)
	s.bar(95)
	s.bar(100)
	s.bar(100)
	s.bar(106, "buy 8.23 stop 94 target 129 (breakout)") // the highs before it: 100, 105, 105; 872.74 EUR are left
}

func TestARefusedEntryWaitsForTheNextBreakout(t *testing.T) {
	s := startBreakout(t, nil)
	for range 3 {
		s.bar(100)
	}
	s.Refuse = func(*market.Command) error { return errors.New("stale") }
	s.bar(110, "buy 9.09 stop 97 target 135 (breakout) refused")
	s.Refuse = nil
	s.bar(115)
	s.bar(121, "buy 8.26 stop 109 target 144 (breakout)")
}

func TestAPositionThatLostItsExitsIsSold(t *testing.T) {
	s := startBreakout(t, nil)
	for range 3 {
		s.bar(100)
	}
	s.bar(110, "buy 9.09 stop 97 target 135 (breakout)")
	s.bought(111, 9_09)
	s.bar(105)
	s.Drop(2)
	s.bar(110, "sell 9.09 (lost exits)")
	s.bar(110) // the sale waits
}

func TestRiskLimitsTheAmount(t *testing.T) {
	s := startBreakout(t, map[string]any{"risk": "0.01"})
	for range 3 {
		s.bar(100)
	}
	s.bar(110, "buy 0.76 stop 97 target 135 (breakout)") // 10 EUR over a distance of 13
}

func TestATargetOfZeroLeavesItOut(t *testing.T) {
	s := startBreakout(t, map[string]any{"target_atr": int64(0)})
	for range 3 {
		s.bar(100)
	}
	s.bar(110, "buy 9.09 stop 97 target 0 (breakout)")
}

func TestAStopBelowZeroBuysNothing(t *testing.T) {
	s := startBreakout(t, map[string]any{"stop_atr": 50.0})
	for range 3 {
		s.bar(100)
	}
	s.bar(110)
}

func TestDustDoesNotKeepItFromBuying(t *testing.T) {
	s := startBreakout(t, nil)
	s.market.MinOrderInQuote = 5_00
	for range 3 {
		s.bar(100)
	}
	s.bar(110, "buy 9.09 stop 97 target 135 (breakout)")
	s.bought(110, 9_09)
	s.Fill(2, 97, 9_05)
	s.Drop(2) // 0.04 are left
	s.bar(100)
	s.bar(100)
	s.bar(100)
	s.bar(110, "buy 7.98 stop 97 target 136 (breakout)")
}

func TestTheWarmupCoversChannelAndReach(t *testing.T) {
	needs, err := shipped.Breakout.Needs(map[string]any{"channel": int64(5000)})
	require.NoError(t, err)
	require.Equal(t, 5001, needs.Warmup)
	needs, err = shipped.Breakout.Needs(nil)
	require.NoError(t, err)
	require.Equal(t, 95, needs.Warmup, "an ATR of 14 candles forgets in 95")
}

// The exits are on the ticks beyond what the multiples give, in whatever units the prices are kept:
// a backtest keeps them in those that its candles need, a live bot in those of the exchange.
func TestTheExitsAreTheSamePricesInFinerUnits(t *testing.T) {
	for _, digits := range []uint8{0, 2} {
		s := &stage{T: t}
		s.market = s.Market("BTC-EUR", digits, 2, 1000_00)
		unit := market.Price(market.Pow10(digits))
		s.market.TickSize = unit
		made, err := shipped.Breakout.New(map[string]any{"channel": int64(3), "atr": int64(2), "stop_atr": 1.05,
			"target_atr": 2.1, "share": "1", "risk": "0"}, s.Setup(market.Interval1h))
		require.NoError(t, err)
		s.strategy, s.desk = made, s.Bench.Desk()
		var asked []string
		for _, close := range []market.Price{100, 100, 100, 105, 111} { // the reach is 10.5 then
			s.Bar(s.strategy, s.desk, market.Candle{Open: close * unit, High: (close + 5) * unit,
				Low: (close - 5) * unit, Close: close * unit, Market: s.market.ID})
			asked = append(asked, s.Asked()...)
		}
		require.Equal(t, []string{"buy 9 stop 99 target 134 (breakout)"}, asked, "%d decimals", digits)
	}
}
