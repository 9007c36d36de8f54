package runner

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// flooderKind asks for a thousand orders at once, with its first ticker.
var flooderKind = scripted("flooder", func() onTicker {
	var asked bool
	return func(d *strategy.Desk, t market.Ticker) {
		for i := 0; i < 1000 && !asked; i++ {
			_, _ = d.In(t.Market).Buy(strategy.Amount(40_000), strategy.At(t.Last/2-market.Price(i)*100))
		}
		asked = true
	}
})

// flooded is a stage on which a flooder without limits of its own trades beside a restless
// strategy, on a small weight budget. The exchange answers each place after four seconds. Orders go
// over HTTP: on a socket each answer waits for the one before.
func flooded(t *testing.T) *stage {
	s := newStage(t, 7, func(c *sandbox.Config) {
		c.Faults = []fault.Fault{{Kind: fault.DelayRequest, Delay: 4 * time.Second,
			Endpoints: []string{"POST /order"}, Probability: 1, Key: bottest.BotKey}}
	})
	s.hears = overPolls
	s.kinds = append(s.kinds, flooderKind)
	s.config = strings.Replace(s.config, "max_open_orders = 4\n", "", 1)
	s.config = strings.Replace(s.config, "orders_per_minute = 40\n", "", 1)
	s.config += `
[strategies.flooder]
kind = "flooder"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "9000"
operator_id = 8
`
	return s
}

func TestAFloodOfOrdersHoldsUpNoOtherStrategyAndAHaltTakesItBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := flooded(t)
		p := s.start()
		flood := strategyID(slices.Index(p.plan.Names(), "flooder") + 1)
		waiting, refused := 0, map[string]int64{}
		for waiting == 0 {
			time.Sleep(100 * time.Millisecond)
			p.look(func() { waiting = p.loop.Waiting(flood) })
		}
		p.look(func() {
			for _, c := range p.engine.Refused(flood) {
				refused[c.Reason] = c.N
			}
		})
		require.EqualValues(t, 900, refused["max_in_flight"], "%v", refused)
		time.Sleep(5 * time.Second)
		list, err := (&control{r: p.runner, ctx: context.Background()}).orders(t.Context(), &operator.Request{})
		require.NoError(t, err)
		waits := 0
		for _, o := range list.(*operator.Orders).Orders {
			switch {
			case o.Waits:
				waits++
				require.Equal(t, "place waits to be sent", o.StateText())
			}
		}
		require.Greater(t, waits, 20, "so many orders of the flood have not left")
		sent := strings.Count(s.log.String(), `"order sent"`)
		require.Less(t, sent, 60, "what waits is not called sent")
		require.Positive(t, strings.Count(s.log.String(), `"strategy":"restless","order"`),
			"the other strategy trades meanwhile")

		c := &control{r: p.runner, ctx: context.Background()}
		began := time.Now()
		report, err := c.act("halt", &operator.Request{Strategy: "flooder", WaitMS: 60_000}, c.halt)
		require.NoError(t, err)
		require.True(t, report.Done)
		require.Less(t, time.Since(began), 15*time.Second, "only what had left has to be cancelled")
		p.look(func() {
			require.Zero(t, p.account.OpenBy(flood))
			require.Zero(t, p.loop.Waiting(flood))
		})
		require.NoError(t, p.end())
		a := s.AgreeOnFile()
		require.Greater(t, a.Rejected, 20, "orders that never left are rejected in the books")
		require.NotContains(t, s.log.String(), `"level":"error"`)
	})
}
