package runner

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/bottest"
	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/market"
)

// A strategy that holds what it has in brackets, with stops that follow, partial targets, exits
// after a time and Closes, is stopped at any moment and starts again. What is held has its exit at
// the exchange while no bot runs, or is told; a few seconds after the start it has it again.
func TestAPositionHasItsExitOverEveryStop(t *testing.T) {
	bottest.Unraced(t)
	for seed := range uint64(3 * *liveSeeds) {
		for _, keep := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s, chance := closers(t, "quitter", seed+1, nil), rand.New(rand.NewPCG(seed, 25))
				if keep {
					s.edit("keep_exits = false", "keep_exits = true")
				}
				left := 0
				for range 5 {
					p := s.start()
					time.Sleep(5 * time.Second)
					s.guarded(p)
					time.Sleep(time.Duration(1000+chance.IntN(60_000)) * time.Millisecond)
					require.NoError(t, p.end())
					s.onlyExits(p)
					open := len(s.OpenAtTheExchange())
					left += open
					if !keep {
						require.Zero(t, open)
					}
					time.Sleep(time.Duration(chance.IntN(60)) * time.Second)
				}
				require.Equal(t, keep, left > 0)
				if keep {
					s.edit("keep_exits = true", "keep_exits = false")
				}
				p := s.start()
				time.Sleep(20 * time.Second)
				s.guarded(p)
				require.NoError(t, p.end())
				s.onlyExits(p)
				require.Positive(t, s.agree(p).Orders)
			})
		}
	}
}

// The last lines of a run name what only a running bot does.
func TestTheLastLinesOfARunSayWhatIsNotWatched(t *testing.T) {
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, AmountDigits: 8}
	both := bracket.Saved{Stop: 90_00, Target: 110_00, Amount: 1e8, Exit: 2}
	for _, c := range []struct {
		change func(b *bracket.Saved)
		exit   market.Qty
		want   string
	}{
		{func(*bracket.Saved) {}, 1e8,
			"the exchange has its stop at 90; not watched while the bot is away: target at 110"},
		{func(b *bracket.Saved) { b.Leg = market.KeepTarget }, 1e8,
			"the exchange has its target at 110; not watched while the bot is away: stop at 90"},
		{func(b *bracket.Saved) { b.Target = 0 }, 1e8, "the exchange has its stop at 90"},
		{func(b *bracket.Saved) { b.Target = 0 }, 4e7,
			"the exchange has its stop at 90 over 0.4; 0.6 have no exit until the next start"},
		{func(b *bracket.Saved) { b.Exit = 0 }, 0,
			"it has no exit until the next start; not watched while the bot is away: stop at 90, target at 110"},
		{func(b *bracket.Saved) { b.Target, b.Follow.Trail, b.Follow.Candles = 0, 5*market.Percent, 20 }, 1e8,
			"the exchange has its stop at 90; not watched while the bot is away: trail 5%, exit after 20 candles"},
	} {
		b := both
		c.change(&b)
		require.Equal(t, c.want, b.Away(m, c.exit))
	}
}
