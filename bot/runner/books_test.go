package runner

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
)

// Between two samples a strategy buys: whichever way the profit is asked for, it is that of now.
func TestTheBooksOfARunningBotEndWithThePresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := buyers(t)
		p := s.start()
		time.Sleep(20 * time.Second) // the first sample was taken before the buy, the next one comes later
		c := &control{r: p.runner, ctx: context.Background()}
		ask := &operator.Request{Books: &profit.Query{}}
		var unrealised []float64
		for _, ask.Books.By = range []string{profit.ByDay, profit.ByStrategy, profit.ByMarket} {
			answer, err := c.profit(t.Context(), ask)
			require.NoError(t, err)
			number, err := strconv.ParseFloat(answer.(*profit.ProfitReport).Total.Unrealised, 64)
			require.NoError(t, err)
			unrealised = append(unrealised, number)
		}
		require.NotZero(t, unrealised[1])
		require.InDelta(t, unrealised[1], unrealised[0], 0.02, "equity is rounded to the cent")
		require.InDelta(t, unrealised[1], unrealised[2], 1e-9)
		answer, err := c.equity(t.Context(), ask)
		require.NoError(t, err)
		curve := answer.(*profit.Curve)
		p.look(func() {
			equity, err := p.account.Equity(p.plan.Currency.ID)
			require.NoError(t, err)
			require.Equal(t, market.FormatFixed(int64(equity), p.plan.Currency.Digits),
				curve.Samples[len(curve.Samples)-1].Equity)
		})
		require.NoError(t, p.end())
	})
}
