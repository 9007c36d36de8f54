package shipped_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// startRSI is over two changes; an order expires after two candles.
func startRSI(t *testing.T) *stage {
	return begin(t, 2, 2, 1000_00).with(shipped.RSIRevert, market.Interval1h, map[string]any{"period": int64(2),
		"low": 20.0, "high": 80.0, "offset_bps": "100", "target_bps": "500", "expire": int64(2), "share": "1"})
}

func TestALowIndexBuysBelowTheClose(t *testing.T) {
	s := startRSI(t)
	s.closes(102_00)
	s.closes(101_00)                              // one change: not ready
	s.closes(100_00, "buy 10.1 at 99 (oversold)") // only losses: 0
}

func TestAnEntryExpiresAndIsPlacedAnewAfterTheCancel(t *testing.T) {
	s := startRSI(t)
	s.closes(102_00)
	s.closes(101_00)
	s.closes(100_00, "buy 10.1 at 99 (oversold)")
	s.closes(100_00)
	s.Pending = true
	s.closes(100_00, "cancel 1") // the second candle after it
	s.closes(100_00, "cancel 1") // not confirmed: it stays open and is asked again
	s.Drop(1)
	s.closes(100_00, "buy 10.1 at 99 (oversold)")
}

func TestAPositionIsOfferedAtItsTarget(t *testing.T) {
	s := startRSI(t)
	s.closes(102_00)
	s.closes(101_00)
	s.closes(100_00, "buy 10.1 at 99 (oversold)")
	s.Fill(1, 99_00, 10_10)
	s.closes(100_00, "sell 10.1 at 103.95 (target)") // 99 and 5 %
	s.closes(100_00)
	s.closes(100_00, "cancel 2")
	s.closes(100_00, "sell 10.1 at 103.95 (target)") // expired, and placed anew
}

func TestAHighIndexSellsAtTheClose(t *testing.T) {
	s := startRSI(t)
	s.closes(102_00)
	s.closes(101_00)
	s.closes(100_00, "buy 10.1 at 99 (oversold)")
	s.Fill(1, 99_00, 10_10)
	s.closes(110_00, "sell 10.1 at 110 (overbought)")
	s.Fill(2, 110_00, 10_10)
	s.closes(111_00) // nothing held, index high
}

func TestARestingTargetMovesDownToTheCloseWhenTheIndexIsHigh(t *testing.T) {
	s := startRSI(t)
	s.closes(102_00)
	s.closes(101_00)
	s.closes(100_00, "buy 10.1 at 99 (oversold)")
	s.Fill(1, 99_00, 10_10)
	s.closes(100_00, "sell 10.1 at 103.95 (target)")
	s.closes(103_00, "update 2 price 103")
	s.closes(103_00) // counted anew since it moved
	s.closes(103_00, "cancel 2")
}

func TestAPartOfAnEntryThatExpiredIsSold(t *testing.T) {
	s := startRSI(t)
	s.closes(102_00)
	s.closes(101_00)
	s.closes(100_00, "buy 10.1 at 99 (oversold)")
	s.Fill(1, 99_00, 3_00)
	s.closes(100_00)
	s.closes(100_00, "cancel 1")
	s.closes(100_00, "sell 3 at 103.95 (target)")
}

func TestDustIsNoPosition(t *testing.T) {
	s := startRSI(t)
	s.market.MinOrderInQuote = 5_00
	s.closes(102_00)
	s.closes(101_00)
	s.closes(100_00, "buy 10.1 at 99 (oversold)")
	s.Fill(1, 99_00, 4)
	s.closes(100_00)
	s.closes(100_00, "cancel 1")
	s.closes(100_00, "buy 10.06 at 99 (oversold)")
}

func TestARefusalIsTriedAgainAtTheNextClose(t *testing.T) {
	s := startRSI(t)
	s.closes(102_00)
	s.closes(101_00)
	s.Refuse = func(*market.Command) error { return errors.New("collar") }
	s.closes(100_00, "buy 10.1 at 99 (oversold) refused")
	s.Refuse = nil
	s.closes(99_00, "buy 10.2 at 98.01 (oversold)")
}

func TestPricesAreOnTheTick(t *testing.T) {
	s := startRSI(t)
	s.market.TickSize = 50
	s.closes(102_00)
	s.closes(101_00)
	s.closes(98_00, "buy 10.3 at 97 (oversold)") // 97.02 down
	s.Fill(1, 97_00, 10_30)
	s.closes(98_00, "sell 10.3 at 102 (target)") // 101.85 up
}

func TestLowMustBeBelowHigh(t *testing.T) {
	_, err := shipped.RSIRevert.Needs(map[string]any{"low": 70.0})
	require.EqualError(t, err, "strategy rsirevert: parameter low: 70 is not below high, which is 70")
}
