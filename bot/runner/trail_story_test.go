package runner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// trailingKind buys once, with a stop far away that follows prices at 5 %.
var trailingKind = scripted("trailing", buysOnce(func(m strategy.MarketDesk, last market.Price) error {
	_, err := m.Buy(strategy.Amount(1_000_000), strategy.StopAt(last-5_000_00), strategy.Trail(5*market.Percent),
		strategy.ByPrices(), strategy.ExitAfterTime(30*time.Second))
	return err
}))

func TestTheStoryOfExitsThatFollowIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := trailers(t)
		p := s.start()
		time.Sleep(60 * time.Second)
		require.NoError(t, p.end())
		require.Regexp(t, `risk      exits fixed to trail 5%, by prices, exit after 30s`, s.told(nil, "explain", "1"))
		require.Regexp(t, `(?s)event     ticker .*decided   update order 2 to sell stopLoss 0\.01 when (\d+)
.* +risk      stop follows \d+ to \d+
 +request   PUT .*answer    update accepted
.*event     timer .*decided   cancel order 2
 +risk      close exit after 0\.01 to 0
 +request   DELETE .*state     awaitingTrigger to canceled`, s.told(nil, "explain", "2"))
		require.Regexp(t, `(?s)place sell market 0\.01.* +risk      close exit after 0\.01 to 0
 +request   POST .*state     filled, filled 0\.01`, s.told(nil, "explain", "3"))
		require.Zero(t, p.account.Position(1, 1).Amount)
	})
}
