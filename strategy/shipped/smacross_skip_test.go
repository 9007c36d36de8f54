package shipped_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// late uses the candle of a cross too.
type late struct{ strategy.Strategy }

func (s late) Skip(series []market.Candle) int {
	n := s.Strategy.(strategy.Skipper).Skip(series)
	return min(n+1, len(series))
}

func TestSkipAsksWhatOnCandleAsks(t *testing.T) {
	series, r := make([]market.Candle, 2000), rand.New(rand.NewPCG(1, 2))
	price := market.Price(1000)
	for i := range series {
		price = max(100, price+market.Price(r.IntN(21)-10))
		series[i] = market.Candle{Market: 1, Interval: market.Interval1h, Open: price, High: price, Low: price,
			Close: price, Start: market.Interval1h.End(0) * market.Time(i)}
	}
	made := func(b *strategytest.Bench) strategy.Strategy {
		b.Market("BTC-EUR", 0, 8, 1_000_000_00)
		s, err := shipped.SMACross.New(map[string]any{"fast": int64(3), "slow": int64(8)},
			b.Setup(market.Interval1h))
		require.NoError(t, err)
		return s
	}
	require.NoError(t, strategytest.CheckSkip(made, series))
	require.ErrorContains(t, strategytest.CheckSkip(func(b *strategytest.Bench) strategy.Strategy {
		return late{made(b)}
	}, series), "the candle that starts at 1970-01-01T", "OnCandle alone asks for")
}
