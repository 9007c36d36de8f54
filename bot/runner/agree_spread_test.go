package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// stairs is a price that stands still for a minute and then jumps by thousands: 10 bps are a whole
// tick. It trades again in the middle of the minute, so that its close is that price whatever the
// bot has traded meanwhile, at bid or ask.
type stairs struct{ seed uint64 }

// Movements walks the stairs.
func (s stairs) Movements(start prices.Start) (prices.Movements, error) {
	chance := rand.New(rand.NewPCG(s.seed, 1))
	step, at := market.Price(30_000_00), market.Interval1m.Floor(start.Beginning)
	return func(m *prices.Movement) (bool, error) {
		for {
			*m = prices.Movement{At: at, Price: step, Amount: 1_00000000, Side: market.Buy}
			if at = at.Add(30 * time.Second); at == market.Interval1m.Floor(at) {
				step = min(60_000_00, max(10_000_00, step+market.Price(chance.IntN(7)-3)*1_000_00))
			}
			if m.At >= start.From {
				return true, nil
			}
		}
	}, nil
}

// The house keeps a spread, which a backtest is told of: smacross trades two hours live and then
// over the very candles that the exchange tells of them.
func TestASpreadIsPaidTheSameLiveAndInABacktest(t *testing.T) {
	bottest.Unraced(t)
	p := play{weather: weather{seed: 3}, backtest: `half_spread_bps = "10"`,
		strategies: section("trend", "smacross", bitcoin, "1m",
			`allocation = "10000"`+"\n"+`params = { fast = 3, slow = 8, share = "0.9" }`)}
	var live *trail
	var candles []market.Candle
	var from, to market.Time
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, func(c *sandbox.Config) {
			c.Markets[0].Source = stairs{p.seed}
			c.Markets[0].Liquidity = sandbox.Liquidity{Levels: 1, HalfSpread: 100_000, Size: "1000"}
		})
		s.kinds = shipped.Definitions()
		s.config, s.traffic.limits = fmt.Sprintf(liveHead,
			config.ModeLive)+"[poll]\ntickers = \"10s\"\n"+p.strategies, limits{value: 20_000}
		time.Sleep(10 * time.Second)
		from = market.Interval1m.Floor(s.ex.Clock().Now())
		to = from.Add(2 * time.Hour)
		live = newTrail(to)
		b := s.trade(live, 0)
		time.Sleep(to.Sub(s.ex.Clock().Now()) - 2*time.Second)
		require.NoError(t, b.end())
		live.Ended(b.account)
		s.agree(b)
		var err error
		candles, err = s.Auditor.Candles(context.Background(), s.Market(), market.Interval1m, from.Add(-hour), to, 1440,
			nil)
		require.NoError(t, err)
	})
	require.Greater(t, live.counts["fill"], 10)
	p.compare(t, p.tested(t,
		[]stored{{name: "BTC-EUR", tick: "1",
			candles: map[market.Interval][]market.Candle{market.Interval1m: candles}}}, from, to), live)
}
