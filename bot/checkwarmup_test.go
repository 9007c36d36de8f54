package bot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// memory trades by the last closes: buys below their mean, sells above it. Of all, it counts them.
type memory struct {
	strategy.Base
	closes []market.Price
	keeps  int // 0: it counts candles from its start on
	seen   int
}

func (s *memory) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	if s.keeps == 0 {
		if s.seen++; s.seen%7 == 0 {
			_, _ = m.Target(strategy.Amount(market.Qty(s.seen%2) * 1_000_000))
		}
		return
	}
	s.closes = append(s.closes, c.Close)
	if len(s.closes) > s.keeps {
		s.closes = s.closes[1:]
	}
	sum := market.Price(0)
	for _, x := range s.closes {
		sum += x
	}
	switch mean := sum / market.Price(len(s.closes)); {
	case m.Flat() && c.Close < mean:
		_, _ = m.Buy(strategy.CashShare(50 * market.Percent))
	case m.Held() > 0 && c.Close > mean:
		_ = m.Close()
	}
}

// What bot backtest --check-warmup prints, and fails with: a warm-up that passes, one for which
// sixteen times as much is not enough and the check goes on until a number passes, and a strategy
// that never forgets.
func TestTheWarmupCheckSaysInWordsWhatSuffices(t *testing.T) {
	bottest.Unraced(t)
	for name, c := range map[string]struct {
		declared, keeps int
		code            int
		prints          []string
		fails           string
	}{
		"it passes": {40, 30, 0, []string{"declares a warm-up of 40 candles; tried at ",
			"From 40 candles of history on nothing changes at these "}, ""},
		"sixteen times is not enough": {1, 30, exitFailed, []string{"declares a warm-up of 1 candles; tried at ",
			"candles instead; tried at ", " candles of history: the first "},
			"the declared warm-up of 1 candles is too short; declare "},
		"none suffices": {5, 0, exitFailed, []string{"declares a warm-up of 5 candles; tried at ",
			"longer histories were not tried"},
			"the declared warm-up of 5 candles is too short, and so is the longest history that was tried, "},
	} {
		t.Run(name, func(t *testing.T) {
			kind := strategy.Define("memory", "remembers",
				func(struct{}) strategy.Needs { return strategy.Needs{Warmup: c.declared} },
				func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &memory{keeps: c.keeps}, nil })
			var stderr shared
			code, out := command(t.Context(), &stderr, kind, "backtest", "--check-warmup")
			require.Equal(t, c.code, code, stderr.text())
			for _, text := range c.prints {
				require.Contains(t, out, text)
			}
			require.Contains(t, stderr.text(), c.fails)
			require.NotContains(t, stderr.text()+out, "16×")
			if c.fails != "" {
				require.Contains(t, stderr.text(), "bot: ")
			}
		})
	}
}
