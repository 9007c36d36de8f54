package recipes_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

func TestARecipeThatIsRestartedAfterEachCandleAsksForTheSame(t *testing.T) {
	for name, closes := range map[string][]market.Price{
		"scale":  {100, 100, 99, 95, 95, 92, 91, 96, 100, 101, 104, 104, 103, 98, 97},
		"memory": {100, 100, 100, 104, 104, 103, 101, 99, 98, 100, 103, 103, 97, 95},
		"leave":  {100, 100, 100, 100, 100, 103, 104, 106, 107, 107, 104, 101, 100},
	} {
		asked := life(t, definitions[name], closes, false)
		require.Greater(t, len(asked), 1, name)
		require.Equal(t, asked, life(t, definitions[name], closes, true), name)
	}
}

// life is what a recipe asks for over some closes. Each order fills at the close at which it was
// decided. restarted: the recipe is restarted after each candle.
func life(t *testing.T, definition strategy.Definition, closes []market.Price, restarted bool) []string {
	t.Helper()
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 2, 4, 10_000_00)
	fresh := func() strategy.Strategy {
		s, err := definition.New(nil, b.Setup(market.Interval1h))
		require.NoError(t, err)
		return s
	}
	s := fresh()
	var history []market.Candle
	for i, price := range closes {
		price *= 100
		start := market.Interval1h.StartOf(int64(i))
		c := market.Candle{Market: m.ID, Interval: market.Interval1h, Start: start, Open: price, High: price,
			Low:   price,
			Close: price}
		b.At, history = c.End(), append(history, c)
		b.Bar(s, b.Desk(), c)
		for _, o := range slices.Clone(b.Desk().In(m.ID).OpenOrders()) {
			b.Fill(o.ID, price, o.AmountRemaining)
			if handler, can := s.(strategy.FillHandler); can {
				handler.OnFill(b.Desk(), market.Fill{Order: o.ID, Market: m.ID, Side: o.Side, Price: price,
					Amount: o.Amount})
			}
		}
		if restarted {
			old := s
			s = fresh()
			require.NoError(t, b.Restart(old, s, history))
		}
	}
	return b.Asked()
}
