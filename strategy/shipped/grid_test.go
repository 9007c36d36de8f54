package shipped_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// startGrid has two rungs a side, 1 % apart, that follow a close 2 % away; each is over 100 EUR.
// Prices are tenths of a euro.
func startGrid(t *testing.T, cash market.Money) *stage {
	return begin(t, 1, 2, cash).with(shipped.Grid, market.Interval1h, map[string]any{"levels": int64(2),
		"spacing_bps": "100", "recentre_bps": "200", "money": "100"})
}

func TestTheFirstCloseBuildsTheLadderBelow(t *testing.T) {
	s := startGrid(t, 1000_00)
	s.closes(100_0, "buy 1.01 at 99 post-only (rung below)", "buy 1.02 at 98 post-only (rung below)")
	s.closes(100_0)
	s.closes(101_9) // not far enough
}

func TestWhatWasBoughtIsOfferedAbove(t *testing.T) {
	s := startGrid(t, 1000_00)
	s.closes(100_0, "buy 1.01 at 99 post-only (rung below)", "buy 1.02 at 98 post-only (rung below)")
	s.Fill(1, 99_0, 1_01)
	s.closes(98_5, // the filled rung stays empty: the close has passed it
		"sell 0.99 at 101 post-only (rung above)", "sell 0.02 at 102 post-only (rung above)")
	s.closes(99_5, "buy 1.01 at 99 post-only (rung below)")
	s.Fill(3, 101_0, 99)
	s.closes(101_5) // nothing free to offer, and the close has passed the rung
}

func TestTheLadderMovesByUpdate(t *testing.T) {
	s := startGrid(t, 1000_00)
	s.closes(100_0, "buy 1.01 at 99 post-only (rung below)", "buy 1.02 at 98 post-only (rung below)")
	s.Fill(1, 99_0, 1_01)
	s.closes(100_0, "buy 1.01 at 99 post-only (rung below)",
		"sell 0.99 at 101 post-only (rung above)", "sell 0.02 at 102 post-only (rung above)")
	// upwards: sells first
	s.closes(110_0, "update 4 price 111.1", "update 5 price 112.2", "update 3 price 108.9", "update 2 price 107.8")
	// downwards: buys first
	s.closes(100_0, "update 3 price 99", "update 2 price 98", "update 4 price 101", "update 5 price 102")
}

func TestAnOrderWithoutAnAnswerIsLeftAlone(t *testing.T) {
	s := startGrid(t, 1000_00)
	s.closes(100_0, "buy 1.01 at 99 post-only (rung below)", "buy 1.02 at 98 post-only (rung below)")
	s.Change(1, func(o *market.Order) { o.Status = 0 })
	s.closes(110_0, "update 2 price 107.8")
	s.Change(1, func(o *market.Order) { o.Status = market.StatusNew })
	s.closes(110_0, "update 1 price 108.9")
}

func TestRungsWithoutCashStayEmpty(t *testing.T) {
	s := startGrid(t, 150_00)
	s.closes(100_0, "buy 1.01 at 99 post-only (rung below)")
	s.closes(100_0)
}

func TestARefusedRungIsTriedAgain(t *testing.T) {
	s := startGrid(t, 1000_00)
	s.Refuse = func(c *market.Command) error {
		if c.Order.Price == 98_0 {
			return errors.New("too many open orders")
		}
		return nil
	}
	s.closes(100_0, "buy 1.01 at 99 post-only (rung below)", "buy 1.02 at 98 post-only (rung below) refused")
	s.Refuse = nil
	s.closes(100_0, "buy 1.02 at 98 post-only (rung below)")
}

func TestRungsStandOnTheTick(t *testing.T) {
	s := startGrid(t, 1000_00)
	s.market.TickSize = 5
	// 101.97 and 100.94 down
	s.closes(103_0, "buy 0.98 at 101.5 post-only (rung below)", "buy 0.99 at 100.5 post-only (rung below)")
	// they stand where they should
	s.closes(103_0)
}

func TestRungsBelowZeroAreNoParameters(t *testing.T) {
	_, err := shipped.Grid.Needs(map[string]any{"levels": int64(2), "spacing_bps": int64(5000)})
	require.EqualError(t, err, "strategy grid: parameter levels: 2 levels of 50% reach below a price of zero")
}
