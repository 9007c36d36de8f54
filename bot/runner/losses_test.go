package runner

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// A bot that loses money is killed again and again, until its limit is reached, afterwards, and
// over midnight. The traffic wants nothing opened any more: of a day's loss until the day ends, of
// a drawdown for ever. More seeds: -live-seeds.
func TestALimitOnTheEquityHoldsOverKillsAndMidnight(t *testing.T) {
	for _, l := range tight[1:] {
		reason := risk.ReasonDailyLoss
		if l.drawdown > 0 {
			reason = risk.ReasonDrawdown
		}
		t.Run(reason.String(), func(t *testing.T) {
			t.Parallel()
			told := 0 // plays in which the limit was passed by more than roundings
			for seed := range uint64(bottest.Rounds(2**liveSeeds, 1)) {
				synctest.Test(t, func(t *testing.T) {
					if loseAndDie(t, seed+1, reason) {
						told++
					}
				})
				if t.Failed() {
					t.Fatalf("seed %d", seed+1)
				}
			}
			require.True(t, told > 0 || testing.Short())
		})
	}
}

// evening is how long before midnight, on the exchange's clock, the play begins.
const evening = 30 * time.Minute

func loseAndDie(t *testing.T, seed uint64, reason risk.Reason) (told bool) {
	midnight := market.Time(time.Now().UnixNano()).Add(market.Duration(24 * time.Hour)) // the bubble begins at one
	s := newStage(t, seed, func(c *sandbox.Config) {
		c.Clock = sandbox.NewClock(midnight.Add(-market.Duration(evening)), 1)
		// so little that its fees are what it loses
		c.Markets[0].Source = prices.Synthetic{Price: "30000", Volatility: 0.1}
	})
	s.tighten(uint64(reason - risk.ReasonDailyLoss + 1))
	g, chance := &s.traffic.gauge, rand.New(rand.NewPCG(seed, 7))
	die := func() (reached bool) {
		p := s.start()
		time.Sleep(6*time.Second + time.Duration(chance.Int64N(int64(20*time.Second))))
		p.kill()
		p.bury()
		stand, _ := p.gate.Standing()
		return stand.Lost || stand.Drawn
	}
	for !die() {
		require.Less(t, s.Auditor.Now(), midnight, "the limit is reached on the first day")
	}
	for range 3 {
		require.True(t, die())
	}
	time.Sleep(time.Duration(midnight.Sub(s.Auditor.Now())) - 5*time.Second)
	die() // over midnight
	require.Greater(t, s.Auditor.Now(), midnight)
	for life := 0; !die() || life < 3; life++ {
		require.Less(t, life, 100, "the limit is reached on the second day, too")
	}
	p := s.start()
	time.Sleep(time.Minute)
	s.sameOpen(p)
	require.NoError(t, p.end())
	s.agree(p)
	stand, _ := p.gate.Standing()
	require.True(t, stand.Lost || stand.Drawn)
	require.Equal(t, reason == risk.ReasonDailyLoss, g.renewed > 0,
		"a new day opens again, and only after a day's loss")
	t.Logf("seed %d: %d lives, %d orders that opened nothing, %d that opened on the second day", seed, s.starts,
		g.reduced, g.renewed)
	return !g.lost.IsZero() || !g.drawn.IsZero()
}
