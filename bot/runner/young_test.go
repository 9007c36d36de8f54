package runner

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine/warmup"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// youngKind asks at each close of a minute. The exchange has 12 candles of five minutes when the
// bot starts, and it needs 14.
var youngKind = strategy.Define("young", "needs more candles than there are",
	func(struct{}) strategy.Needs {
		return strategy.Needs{Warmup: 20, Intervals: strategy.Intervals{market.Interval5m: 14}}
	},
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &young{}, nil })

type young struct{ strategy.Base }

func (s *young) OnCandle(d *strategy.Desk, c market.Candle) {
	if m := d.In(c.Market); m.Flat() {
		m.Buy(strategy.Amount(100_000), strategy.At(c.Close.Below(10*market.Percent)))
	}
}

// youngStage is a stage with youngKind.
func youngStage(t *testing.T) *stage {
	return stageOf(t, "young", youngKind)
}

func TestAYoungMarketBeginsWithItsLiveCandlesAlsoAfterARestart(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := youngStage(t)
		p := s.start()
		time.Sleep(6 * time.Minute)
		require.Contains(t, s.log.String(), `"needs":"BTC-EUR needs 2 more 5m candles"`)
		require.True(t, p.engine.Warming(1))
		require.NoError(t, p.end())

		p = s.start() // the candles of the first run are history now
		time.Sleep(2 * time.Minute)
		require.True(t, p.engine.Warming(1))
		require.Contains(t, s.log.String(), `"needs":"BTC-EUR needs 1 more 5m candle"`)
		require.Zero(t, p.account.OpenBy(1))
		require.NotContains(t, s.log.String(), warmup.Message)
		time.Sleep(10 * time.Minute)
		require.False(t, p.engine.Warming(1))
		require.Equal(t, 1, p.account.OpenBy(1))
		require.Equal(t, 1, strings.Count(s.log.String(), warmup.Message))
		require.NoError(t, p.end())

		p = s.start() // all is history now: it begins at once
		time.Sleep(10 * time.Second)
		require.False(t, p.engine.Warming(1))
		require.NoError(t, p.end())
	})
}
