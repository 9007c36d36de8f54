package bot

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

func TestBooksEqualTheExchangesToTheLastUnitWhereFeesComeLate(t *testing.T) {
	for _, later := range []time.Duration{3 * time.Second, 40 * time.Second} {
		t.Run(later.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 3, func(c *sandbox.Config) { c.Rules.SettleAfter = later })
				p := s.start()
				time.Sleep(3 * time.Minute)
				p.kill() // with fees outstanding
				p.bury()
				p = s.start()
				time.Sleep(2 * time.Minute)
				require.NoError(t, p.end())
				time.Sleep(later)
				p = s.start() // what ended with the last run and lacked a fee is asked for now
				time.Sleep(90 * time.Second)
				report, err := s.flatten(p)
				require.NoError(t, err)
				require.True(t, report.Done, "%+v", report)
				if later < time.Duration(feePatience) {
					require.Zero(t, report.Unsettled)
				}
				time.Sleep(later)
				time.Sleep(time.Minute)
				require.NoError(t, p.end())
				require.Positive(t, s.agree(p).fills)
				require.Empty(t, s.concluded())
			})
		})
	}
}

func TestFlattenTellsWhatIsEarnedOnceTheFeesAreKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 5, func(c *sandbox.Config) { c.Rules.SettleAfter = 3 * time.Second })
		p := s.start()
		for held := market.Qty(0); held == 0; {
			time.Sleep(10 * time.Second)
			p.look(func() { held = p.account.Position(1, 1).Amount })
		}
		report, err := s.flatten(p)
		require.NoError(t, err)
		require.True(t, report.Done)
		told, err := positionsOf(p.store, noPrice)
		require.NoError(t, err)
		require.Len(t, told.Positions, 1)
		require.NoError(t, p.end())
		after, err := positionsOf(s.stored(), noPrice)
		require.NoError(t, err)
		require.Equal(t, told.Positions, after.Positions, "nothing came behind what was told")
		s.agree(p)
	})
}

// flatten asks a running bot to sell all.
func (s *stage) flatten(p *process) (*actReport, error) {
	c := &control{r: p.runner, ctx: context.Background()}
	return c.act(&operatorAsk{WaitMS: 60_000}, c.flatten)
}

// noPrice knows no price.
func noPrice(market.ID) market.Price { return 0 }
