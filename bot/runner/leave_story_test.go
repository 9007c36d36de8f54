package runner

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// onceKind buys once with a bracket, and closes once the stop rests.
var onceKind = strategy.Define("once", "buys once and closes",
	func(struct{}) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &once{}, nil })

type once struct {
	strategy.Base
	bought bool
}

func (s *once) OnTicker(d *strategy.Desk, t market.Ticker) {
	m := d.In(t.Market)
	open := m.OpenOrders()
	switch {
	case !s.bought:
		_, err := m.Buy(strategy.Amount(1_000_000), strategy.Exits(t.Last-5_000_00, t.Last+5_000_00))
		s.bought = err == nil
	case len(open) == 1 && open[0].Status == market.StatusAwaitingTrigger:
		_ = m.Close(strategy.Tag("signal"))
	}
}

func TestTheStoryOfACloseIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 7, nil)
		s.kinds = append(s.kinds, onceKind)
		s.config = strings.NewReplacer("strategies.restless", "strategies.once", `"restless"`, `"once"`,
			"params.seed = 7\n", "").Replace(s.config)
		p := s.start()
		time.Sleep(20 * time.Second)
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
