package runner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// swapKind rests an order, replaces it, and then replaces the new one and takes that back.
var swapKind = scripted("swap", func() onTicker {
	var step int
	var id market.OrderID
	return func(d *strategy.Desk, t market.Ticker) {
		m, size, price := d.In(t.Market), strategy.Amount(1_000_000), t.Last.Below(10*market.Percent)
		if o, open := d.Order(id); step > 2 || step > 0 && (!open || o.Status == 0) {
			return
		}
		switch step++; step {
		case 1:
			id, _ = m.Buy(size, strategy.At(price))
		case 2:
			id, _ = m.Buy(size, strategy.At(price), strategy.PostOnly(), strategy.Replacing(id))
		case 3:
			id, _ := m.Buy(size, strategy.At(price), strategy.Replacing(id))
			_ = d.Cancel(id)
		}
	}
})

func TestTheStoryOfAReplacementIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stageOf(t, "swap", swapKind)
		p := s.start()
		time.Sleep(20 * time.Second)
		require.NoError(t, p.end())
		require.Regexp(t, `(?s)decided   cancel order 1
 +risk      replace order 1 to order 2
 +request   DELETE .*state     new to canceled`, s.told(nil, "explain", "1"))
		require.Regexp(t, `(?s)decided   place buy limit 0\.01 .*risk      replace order 1 to order 2
 +request   POST .*refused   place buy limit 0\.01 .*: replace: its strategy cancelled it`, s.told(nil, "explain", "2"))
		require.Contains(t, s.told(nil, "explain", "--refused"), "its strategy cancelled it")
	})
}
