package runner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
)

// trailers is a stage with one strategy that buys once, with a stop far away.
func trailers(t *testing.T) *stage {
	return stageOf(t, "trailing", trailingKind)
}

func TestTheBracketPlacesAnExitAgainThatBotCancelHasCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := trailers(t)
		p := s.start()
		time.Sleep(15 * time.Second)
		c := &control{r: p.runner, ctx: t.Context()}
		ask := &operator.Request{Order: "2", Reason: "by mistake", WaitMS: 5000, By: "a test"}
		report, err := c.act("cancel", ask, c.cancel)
		require.NoError(t, err)
		require.True(t, report.Done)
		require.Equal(t, 1, report.Cancelled)
		require.Len(t, report.Protecting, 1, "the report names the new exit")
		require.Equal(t, int64(3), report.Protecting[0].Number)
		require.Regexp(t, `^1 order cancelled\nleft to protect: 3 trailing BTC-EUR sell stopLoss 0\.01 when`,
			report.Words(operator.PathCancel, ask))
		time.Sleep(time.Second)
		p.look(func() {
			require.Equal(t, market.Qty(1_000_000), p.account.Position(1, 1).Amount)
			require.True(t, p.engine.Brackets().IsExit(3))
			require.Equal(t, market.StatusAwaitingTrigger, p.account.Own(3).Status, "it rests at the exchange")
			require.Empty(t, p.engine.Brackets().Bare())
		})
		require.NoError(t, p.end())
		require.Regexp(t, `(?s)DELETE .*state     awaitingTrigger to canceled`, s.told(nil, "explain", "2"))
		require.Regexp(t, `(?s)sell stopLoss 0\.01.*state     awaitingTrigger`, s.told(nil, "explain", "3"))
		s.agree(p)
		s.replayed()
	})
}
