package rsirevert_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rsirevert"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// stage has a market with 1000 EUR and the strategy over two changes; an order expires after two
// candles.
type stage struct {
	*testing.T
	strategytest.Bench
	market   *market.Market
	strategy strategy.Strategy
	desk     *strategy.Desk
}

func start(t *testing.T) *stage {
	s := &stage{T: t}
	s.market = s.Market("BTC-EUR", 2, 2, 1000_00)
	made, err := rsirevert.Definition.New(map[string]any{
		"period": int64(2), "low": 20.0, "high": 80.0, "offset_bps": "100", "target_bps": "500", "expire": int64(2),
		"share": "1",
	}, s.Setup(market.Interval1h))
	require.NoError(t, err)
	s.strategy, s.desk = made, s.Bench.Desk()
	return s
}

// closeAt closes a candle at a price in whole euros.
func (s *stage) closeAt(price market.Price, want ...string) {
	s.Helper()
	s.Candle(s.strategy, s.desk, s.market, price*100)
	require.Equal(s, want, s.Asked())
}

func TestALowIndexBuysBelowTheClose(t *testing.T) {
	s := start(t)
	s.closeAt(102)
	s.closeAt(101)                              // one change: not ready
	s.closeAt(100, "buy 10.1 at 99 (oversold)") // only losses: 0
}

func TestAnEntryExpiresAndIsPlacedAnewAfterTheCancel(t *testing.T) {
	s := start(t)
	s.closeAt(102)
	s.closeAt(101)
	s.closeAt(100, "buy 10.1 at 99 (oversold)")
	s.closeAt(100)
	s.Pending = true
	s.closeAt(100, "cancel 1") // the second candle after it
	s.closeAt(100, "cancel 1") // not confirmed: it stays open and is asked again
	s.Drop(1)
	s.closeAt(100, "buy 10.1 at 99 (oversold)")
}

func TestAPositionIsOfferedAtItsTarget(t *testing.T) {
	s := start(t)
	s.closeAt(102)
	s.closeAt(101)
	s.closeAt(100, "buy 10.1 at 99 (oversold)")
	s.Fill(1, 99_00, 10_10)
	s.closeAt(100, "sell 10.1 at 103.95 (target)") // 99 and 5 %
	s.closeAt(100)
	s.closeAt(100, "cancel 2")
	s.closeAt(100, "sell 10.1 at 103.95 (target)") // expired, and placed anew
}

func TestAHighIndexSellsAtTheClose(t *testing.T) {
	s := start(t)
	s.closeAt(102)
	s.closeAt(101)
	s.closeAt(100, "buy 10.1 at 99 (oversold)")
	s.Fill(1, 99_00, 10_10)
	s.closeAt(110, "sell 10.1 at 110 (overbought)")
	s.Fill(2, 110_00, 10_10)
	s.closeAt(111) // nothing held, index high
}

func TestARestingTargetMovesDownToTheCloseWhenTheIndexIsHigh(t *testing.T) {
	s := start(t)
	s.closeAt(102)
	s.closeAt(101)
	s.closeAt(100, "buy 10.1 at 99 (oversold)")
	s.Fill(1, 99_00, 10_10)
	s.closeAt(100, "sell 10.1 at 103.95 (target)")
	s.closeAt(103, "update 2 price 103")
	s.closeAt(103) // counted anew since it moved
	s.closeAt(103, "cancel 2")
}

func TestAPartOfAnEntryThatExpiredIsSold(t *testing.T) {
	s := start(t)
	s.closeAt(102)
	s.closeAt(101)
	s.closeAt(100, "buy 10.1 at 99 (oversold)")
	s.Fill(1, 99_00, 3_00)
	s.closeAt(100)
	s.closeAt(100, "cancel 1")
	s.closeAt(100, "sell 3 at 103.95 (target)")
}

func TestDustIsNoPosition(t *testing.T) {
	s := start(t)
	s.market.MinOrderInQuote = 5_00
	s.closeAt(102)
	s.closeAt(101)
	s.closeAt(100, "buy 10.1 at 99 (oversold)")
	s.Fill(1, 99_00, 4)
	s.closeAt(100)
	s.closeAt(100, "cancel 1")
	s.closeAt(100, "buy 10.06 at 99 (oversold)")
}

func TestARefusalIsTriedAgainAtTheNextClose(t *testing.T) {
	s := start(t)
	s.closeAt(102)
	s.closeAt(101)
	s.Refuse = func(*market.Command) error { return errors.New("collar") }
	s.closeAt(100, "buy 10.1 at 99 (oversold) refused")
	s.Refuse = nil
	s.closeAt(99, "buy 10.2 at 98.01 (oversold)")
}

func TestPricesAreOnTheTick(t *testing.T) {
	s := start(t)
	s.market.TickSize = 50
	s.closeAt(102)
	s.closeAt(101)
	s.closeAt(98, "buy 10.3 at 97 (oversold)") // 97.02 down
	s.Fill(1, 97_00, 10_30)
	s.closeAt(98, "sell 10.3 at 102 (target)") // 101.85 up
}

func TestLowMustBeBelowHigh(t *testing.T) {
	_, err := rsirevert.Definition.Needs(map[string]any{"low": 70.0})
	require.EqualError(t, err, "strategy rsirevert: parameter low: 70 is not below high, which is 70")
}
