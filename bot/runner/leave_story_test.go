package runner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// onceKind buys once with a bracket, and closes ten tickers after its stop rests.
var onceKind = scripted("once", func() onTicker {
	var bought bool
	var rested int // tickers with the stop
	return func(d *strategy.Desk, t market.Ticker) {
		m := d.In(t.Market)
		open := m.OpenOrders()
		switch {
		case !bought:
			_, err := m.Buy(strategy.Amount(1_000_000), strategy.Exits(t.Last-5_000_00, t.Last+5_000_00))
			bought = err == nil
		case len(open) == 1 && open[0].Status == market.StatusAwaitingTrigger:
			if rested++; rested == 10 {
				_ = m.Close(strategy.Tag("signal"))
			}
		}
	}
})

func TestTheStoryOfACloseIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stageOf(t, "once", onceKind)
		p := s.start()
		c := &control{r: p.runner, ctx: t.Context()}
		seen := func() *operator.Market {
			answer, err := c.market(t.Context(), &operator.Request{})
			require.NoError(t, err)
			return answer.(*operator.Market)
		}
		time.Sleep(6 * time.Second)
		have := seen()
		require.Len(t, have.Orders, 1, "the stop rests, the target does not")
		require.Len(t, have.Watched, 1)
		require.Equal(t, operator.Watched{Strategy: "once", Entry: 1, Kind: "target", Amount: "0.01",
			Price: have.Watched[0].Price}, have.Watched[0])
		require.Greater(t, have.Watched[0].Price, have.Last, "prices of five digits")
		time.Sleep(24 * time.Second)
		require.Empty(t, seen().Watched)
		require.NoError(t, p.end())
		require.Regexp(t, `(?s)decided   cancel order 2
 +risk      close signal 0\.01 to 0
 +request   DELETE .*answer    cancel accepted
.*state     awaitingTrigger to canceled`, s.told(nil, "explain", "2"))
		require.Regexp(t, `(?s)event     report BTC-EUR .*decided   place sell market 0\.01
.* +risk      close signal 0\.01 to 0
 +request   POST .*state     filled, filled 0\.01`, s.told(nil, "explain", "3"))
		require.Zero(t, p.account.Position(1, 1).Amount)
	})
}
