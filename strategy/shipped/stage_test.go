package shipped_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// stage has markets and a strategy in them.
type stage struct {
	*testing.T
	strategytest.Bench
	market   *market.Market // the first of markets
	markets  []*market.Market
	strategy strategy.Strategy
	desk     *strategy.Desk
	next     market.Time // start of the next candle
}

// begin makes a market for each amount of cash in EUR. Prices and amounts have so many decimals.
func begin(t *testing.T, price, amount uint8, cash ...market.Money) *stage {
	s := &stage{T: t}
	for i, name := range []string{"BTC-EUR", "ETH-EUR", "ADA-EUR"}[:len(cash)] {
		s.markets = append(s.markets, s.Market(name, price, amount, cash[i]))
	}
	s.market = s.markets[0]
	return s
}

// with makes the strategy; later values go before earlier ones.
func (s *stage) with(kind strategy.Definition, main market.Interval, values ...map[string]any) *stage {
	all := map[string]any{}
	for _, more := range values {
		maps.Copy(all, more)
	}
	made, err := kind.New(all, s.Setup(main))
	require.NoError(s, err)
	s.strategy, s.desk = made, s.Bench.Desk()
	return s
}

// close closes an hour at the price in every market.
func (s *stage) close(price market.Price) {
	for _, m := range s.markets {
		c := market.Candle{Open: price, High: price, Low: price, Close: price, Market: m.ID,
			Interval: market.Interval1h, Start: s.next}
		s.At = max(s.At, c.End())
		s.Bar(s.strategy, s.desk, c)
	}
	s.next += market.Time(market.Interval1h.Fixed())
}

// closes is close, and requires what the strategy asks for then.
func (s *stage) closes(price market.Price, want ...string) {
	s.Helper()
	s.close(price)
	require.Equal(s, want, s.Asked())
}
