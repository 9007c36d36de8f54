package runner

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// quotedAt lets the house quote around a price.
func (s *stage) quotedAt(last string) {
	s.admin(http.MethodPost, "price", map[string]any{"market": "BTC-EUR", "price": last, "amount": "0.01"})
}

// A target has sold a part since the copy of the state file. The start with the copy books the part
// and leaves the one exit over the rest. Where the owner has cancelled it, the start places it
// again.
func TestABackupFromBeforeAnExitSoldAPartKeepsTheRestGuarded(t *testing.T) {
	bottest.Unraced(t)
	for name, hears := range hearings {
		for _, taken := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s taken %t", name, taken), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := meeting(t, hears, market.DecrementAndCancel, 0)
					p := s.start()
					time.Sleep(10 * time.Second)
					file, exit := p.copyState(), s.resting()
					s.raise()
					other, _ := s.client(bottest.OtherKey, "secret of the other")
					s.place(other, 7, market.Buy, "0.004", s.Market().FormatPrice(exit.Price))
					time.Sleep(30 * time.Second)
					require.EqualValues(t, 600_000, s.resting().AmountRemaining)
					p.kill()
					p.bury()
					if taken {
						s.byHand(s.resting(), market.CommandCancel, 0)
					}
					s.putBack(file)
					for range 2 {
						p = s.start()
						time.Sleep(time.Minute)
						rest := s.resting()
						require.Equal(t, !taken, rest.ClientOrderID == exit.ClientOrderID)
						require.EqualValues(t, 600_000, rest.AmountRemaining)
						require.Equal(t, exit.Price, rest.Price)
						p.look(func() {
							require.EqualValues(t, 600_000, p.account.Position(2, 1).Amount)
							require.Empty(t, p.engine.Brackets().Bare())
							_, halted := p.engine.Halted(2)
							require.False(t, halted)
						})
						require.NoError(t, p.end())
						s.onlyExits(p)
					}
					s.AgreeOnFile()
				})
			})
		}
	}
}

// following is a stage of a bot that holds a position with a trailing stop.
func following(t *testing.T, paper bool) *stage {
	s := newStage(t, 7, func(c *sandbox.Config) {
		c.Admin = "open"
		c.Markets[0].Source = prices.Fixed("30000")
		c.Markets[0].Liquidity = sandbox.Liquidity{Levels: 1, HalfSpread: 5_000, Endless: true}
	})
	s.kinds = append(s.kinds, holderKind)
	s.config = fmt.Sprintf(lifeHead, false) + fmt.Sprintf(lifeStrategy, "held", "holder", `"BTC-EUR"`, 7, 7) +
		"params.style = 2\n"
	if paper {
		s.onPaper()
	}
	return s
}

// A trailing stop has risen since the copy of the state file. The start with the copy never lowers
// it, also where it has to place it again, and it goes on rising.
func TestABackupFromBeforeAStopRoseDoesNotLowerIt(t *testing.T) {
	bottest.Unraced(t)
	for _, paper := range []bool{false, true} {
		t.Run(fmt.Sprintf("paper %t", paper), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := following(t, paper)
				p := s.start()
				time.Sleep(10 * time.Second)
				file, first := p.copyState(), p.rests()
				s.quotedAt("31000")
				time.Sleep(30 * time.Second)
				risen := p.rests()
				require.Greater(t, risen.TriggerAmount, first.TriggerAmount)
				s.quotedAt("30500")
				time.Sleep(30 * time.Second)
				require.NoError(t, p.end())
				s.putBack(file)
				for range 2 {
					p = s.start()
					time.Sleep(time.Minute)
					require.Equal(t, risen.ClientOrderID, p.rests().ClientOrderID)
					require.Equal(t, risen.TriggerAmount, p.rests().TriggerAmount)
					p.look(func() {
						require.Empty(t, p.engine.Brackets().Bare())
						_, halted := p.engine.Halted(1)
						require.False(t, halted)
					})
					require.NoError(t, p.end())
				}
				p = s.start()
				s.quotedAt("31500")
				time.Sleep(30 * time.Second)
				require.Greater(t, p.rests().TriggerAmount, risen.TriggerAmount)
				require.NoError(t, p.end())
			})
		})
	}
}

// On paper the copy is from before the exit was placed: the exchange in the process has it, and it
// is the one exit of the position.
func TestABackupFromBeforeTheExitOnPaperKeepsTheOneExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := following(t, true)
		p, err := s.open()
		require.NoError(t, err)
		require.NoError(t, p.journal.Commit(p.trading.Now()))
		file := p.copyState()
		ctx := p.ctx()
		go func() { p.done <- p.trade(ctx) }()
		time.Sleep(10 * time.Second)
		exit := p.rests()
		require.NoError(t, p.end())
		s.putBack(file)
		for range 2 {
			p = s.start()
			time.Sleep(time.Minute)
			require.Equal(t, exit.ClientOrderID, p.rests().ClientOrderID)
			p.look(func() { require.Equal(t, exit.AmountRemaining, p.account.Position(1, 1).Amount) })
			require.NoError(t, p.end())
		}
	})
}
