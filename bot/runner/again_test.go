package runner

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// halfKind rests one bid over 0.015, in a bracket, between bid and ask.
var halfKind = scripted("half", half)

var half = whenFlat(func(m strategy.MarketDesk, last market.Price) {
	units := last / 100_00 * 100
	_, _ = m.Buy(strategy.Amount(1_500_000), strategy.At(last/100*100), strategy.StopAt(units*80))
})

// halfStage is a stage of such a bot, at a price that stays.
func halfStage(t *testing.T) *stage {
	s := newStage(t, 7, func(c *sandbox.Config) { c.Markets[0].Source = prices.Fixed("30000") })
	s.kinds = append(s.kinds, halfKind)
	s.config = strings.NewReplacer("strategies.restless", "strategies.half", `"restless"`, `"half"`,
		"params.seed = 7\n", "", "keep_exits = false", "keep_exits = true").Replace(s.config)
	return s
}

// halfBought is a stage whose bot has bought a third of what its bid is for.
func halfBought(t *testing.T) (*stage, *process) {
	s := halfStage(t)
	p := s.start()
	time.Sleep(3 * time.Second)
	s.sellInto("0.005")
	time.Sleep(15 * time.Second)
	require.Len(t, s.OpenAtTheExchange(), 2)
	return s, p
}

// sellInto lets another account sell at the market.
func (s *stage) sellInto(amount string) {
	other, _ := s.client(bottest.OtherKey, "secret of the other")
	s.place(other, 7, market.Sell, amount, "10000")
}

// A second Ctrl-C cancels the rest of an entry and leaves the exit of what the entry has bought: at
// the exchange, and in the books of the next start.
func TestASecondCtrlCKeepsTheExitOfWhatAnEntryHasBought(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := halfBought(t)
		tools := *p.armed.Load()
		tools.client = s.Auditor // what it sends is in direct.log
		p.armed.Store(&tools)
		report, err := p.runSwitch("a second Ctrl-C", switchTimeout)
		require.NoError(t, err)
		require.True(t, report.Done)
		require.Equal(t, 1, report.Cancelled)
		exit := s.resting()
		require.Equal(t, market.TypeStopLoss, exit.Type)
		p.kill()
		p.bury()
		require.Equal(t, exit.ClientOrderID, s.resting().ClientOrderID)
		p = s.start()
		time.Sleep(20 * time.Second)
		require.Equal(t, exit.ClientOrderID, s.resting().ClientOrderID, "it is the same")
		p.look(func() {
			require.Empty(t, p.engine.Brackets().Bare())
			require.False(t, p.engine.Brackets().Withdrawn(1))
			require.Equal(t, market.Qty(500_000), p.engine.Brackets().Covered(1, 1))
		})
		require.NoError(t, p.end())
		s.onlyExits(p)
	})
}

// The exchange's list lacks an order that it has confirmed: a second Ctrl-C asks for the order
// itself, and cancels it.
func TestASecondCtrlCAsksForAConfirmedOrderThatAListLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := halfBought(t)
		tools := *p.armed.Load()
		tools.client, _ = s.clientOver(&falsifier{next: &wire{traffic: s.traffic, quiet: true},
			one: func(path string, answer any) any {
				if path == "GET /v2/ordersOpen" {
					return []any{}
				}
				return answer
			}}, bottest.AuditorKey, "secret of the auditor")
		p.armed.Store(&tools)
		report, err := p.runSwitch("a second Ctrl-C", switchTimeout)
		require.NoError(t, err)
		require.True(t, report.Done)
		require.Equal(t, 1, report.Cancelled)
		require.Equal(t, market.TypeStopLoss, s.resting().Type, "the exit stays")
		p.kill()
		p.bury()
	})
}

// copyState copies the state file aside, as bot state backup does.
func (p *process) copyState() (file string) {
	file = filepath.Join(p.stage.T.TempDir(), statedir.StateFile)
	require.NoError(p.stage.T, p.store.Backup(file))
	return file
}

// putBack puts a copy of the state file in its place.
func (s *stage) putBack(file string) {
	text, err := os.ReadFile(file)
	require.NoError(s.T, err)
	require.NoError(s.T, os.WriteFile(filepath.Join(s.Folder, statedir.StateFile), text, 0o600))
}

// Whatever took the exit of a position away, each start places it again before all else.
func TestEachStartHasTheExitsOfPositionsAgain(t *testing.T) {
	bottest.Unraced(t)
	for name, c := range map[string]struct {
		keep bool
		away func(s *stage, p *process)
	}{
		"keep_exits = false": {false, func(s *stage, p *process) { require.NoError(s.T, p.end()) }},
		"a backup from before a stop that took the exit away": {false, func(s *stage, p *process) {
			file := p.copyState()
			time.Sleep(time.Minute)
			require.NoError(s.T, p.end())
			s.putBack(file)
		}},
		"a backup from before a person took the exit away": {true, func(s *stage, p *process) {
			file := p.copyState()
			time.Sleep(time.Minute)
			require.NoError(s.T, p.end())
			s.byHand(s.resting(), market.CommandCancel, 0)
			s.putBack(file)
		}},
		"another machine, and a person": {true, func(s *stage, p *process) {
			require.NoError(s.T, p.end())
			s.byHand(s.resting(), market.CommandCancel, 0)
			there := filepath.Join(s.T.TempDir(), "there")
			require.NoError(s.T, os.CopyFS(there, os.DirFS(s.Folder)))
			s.Folder = there
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := inBracket(t, c.keep)
				c.away(s, p)
				require.Empty(t, s.OpenAtTheExchange())
				p = s.start()
				time.Sleep(10 * time.Second)
				s.guards(p)
				require.NoError(t, p.end())
			})
		})
	}
}

// The dead-man timer ends the rest of an entry that fills on while no bot runs. The next start has
// an exit over all that was bought.
func TestAnEntryThatATimerEndsHasItsExitAtTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := halfBought(t)
		p.kill()
		p.bury()
		s.sellInto("0.004")
		time.Sleep(10 * time.Minute)
		require.Equal(t, market.Qty(500_000), s.resting().AmountRemaining, "the timer took the rest of the entry")
		p = s.start()
		time.Sleep(20 * time.Second)
		require.Equal(t, market.Qty(900_000), s.resting().AmountRemaining)
		p.look(func() { require.Empty(t, p.engine.Brackets().Bare()) })
		require.NoError(t, p.end())
	})
}

// switchOff is bot cancel-all --direct --flatten beside a bot that is dead.
func (s *stage) switchOff(at func(point string)) *killswitch.SwitchResult {
	client, units := s.client(bottest.AuditorKey, "secret of the auditor")
	log, err := OpenSwitchLog(filepath.Join(s.Folder, killswitch.LogFile))
	require.NoError(s.T, err)
	wants := []killswitch.Want{{Strategy: "patient", Market: 1, Amount: 1_000_000, Operator: 7}}
	w := &killswitch.Switch{Exchange: client, Catalog: units, Log: log, Operator: 7, Fault: at,
		Own: func(*market.Order) bool { return true }, Say: func(string, ...any) {}}
	ctx := context.Background()
	require.NoError(s.T, w.Begin("bot cancel-all --direct --flatten", true))
	w.KeepExits(ctx, wants)
	require.NoError(s.T, w.Cancel(ctx))
	require.NoError(s.T, w.Sell(ctx, wants))
	w.Leave(wants)
	report, err := w.End()
	require.NoError(s.T, errors.Join(err, log.Close()))
	return report
}

// rule changes the rules of the exchange's market.
func (s *stage) rule(change func(m *market.Market)) {
	m := *s.Market()
	change(&m)
	require.NoError(s.T, s.ex.SetRules(m.Name, &m))
}

// The kill switch sells a position of any size, and takes an exit only where a sale could replace
// it: what stays is told, and nothing is confirmed.
func TestTheKillSwitchLeavesNoPositionBareForItsSize(t *testing.T) {
	bottest.Unraced(t)
	for name, c := range map[string]struct {
		change func(m *market.Market)
		sold   bool
	}{
		"above the maximum":   {func(m *market.Market) { m.MaxOrderInQuote = 100_00 }, true},
		"below a new minimum": {func(m *market.Market) { m.MinOrderInQuote = 2000_00 }, false},
		"cancelOnly":          {func(m *market.Market) { m.Status = market.CancelOnly }, false},
		"halted":              {func(m *market.Market) { m.Status = market.Halted }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := inBracket(t, true)
				p.kill()
				p.bury()
				s.rule(c.change)
				report := s.switchOff(nil)
				require.Equal(t, c.sold, report.Done)
				require.Empty(t, report.Bare)
				if c.sold {
					require.Greater(t, len(report.Sold), 1)
					require.Empty(t, report.Unsold)
					require.Empty(t, s.OpenAtTheExchange())
				} else {
					require.Len(t, report.Kept, 1)
					require.Len(t, report.Unsold, 1)
					s.resting()
				}
			})
		})
	}
}

// Where the market ends to trade between the cancel of an exit and the sale in its place, the
// switch tells of the position without exit. The bot, beside it or started later, goes on: it sells
// when the market trades, without a bot resume.
func TestASaleOfTheKillSwitchThatIsRefusedGoesOn(t *testing.T) {
	for name, beside := range map[string]bool{"a start": false, "a running bot": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := inBracket(t, true)
				if !beside {
					p.kill()
					p.bury()
				}
				following, end := context.WithCancel(t.Context())
				report := s.switchOff(func(point string) {
					if point == "end logged" && len(s.OpenAtTheExchange()) == 0 {
						s.rule(func(m *market.Market) { m.Status = market.CancelOnly })
					}
				})
				require.False(t, report.Done)
				require.Equal(t, []killswitch.Bare{{Strategy: "patient", Market: "BTC-EUR", Amount: "0.01"}},
					report.Bare)
				require.NotEmpty(t, report.Unsold)
				if beside {
					go p.direct.follow(following, p.loop)
				} else {
					p = s.start()
				}
				time.Sleep(10 * time.Second)
				p.look(func() { require.Len(t, p.engine.Brackets().Bare(), 1, "it is told") })
				require.NoError(t, s.status(market.Trading))
				time.Sleep(2 * time.Minute)
				require.Empty(t, s.OpenAtTheExchange())
				p.look(func() {
					require.Zero(t, p.account.Position(1, 1).Amount)
					_, halted := p.engine.Halted(1)
					require.True(t, halted)
				})
				end()
				require.NoError(t, p.end())
			})
		})
	}
}

// A sale that the switch has lost leaves the exit where the bot can place it: the sale goes on, and
// until it is taken the exit is back.
func TestAnExitReturnsWhereTheSaleOfTheKillSwitchIsNotTaken(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s, p := inBracket(t, true)
		p.kill()
		p.bury()
		report := s.switchOff(func(point string) {
			if point == "end logged" && len(s.OpenAtTheExchange()) == 0 {
				s.rule(func(m *market.Market) { m.Status = market.Auction })
			}
		})
		require.Len(t, report.Bare, 1)
		p = s.start()
		time.Sleep(time.Minute)
		s.resting()
		p.look(func() { require.Empty(t, p.engine.Brackets().Bare()) })
		require.NoError(t, p.end())
	})
}

// A bot dies while a sale of the whole position is under way, and the kill switch sells it too,
// which the coins of the owner allow. What of both has sold is in the books after the next start,
// whether the first sale has come or not.
func TestASaleUnderWayIsNotLentToTheKillSwitch(t *testing.T) {
	bottest.Unraced(t)
	for name, came := range map[string]bool{"it came": true, "it was lost": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := inBracket(t, true)
				dead := make(chan bool, 1)
				s.traffic.on(func(r *http.Request, before bool) {
					if r.Method == http.MethodPost && before != came && len(dead) == 0 {
						dead <- true
						p.kill()
					}
				})
				c := &control{r: p.runner, ctx: t.Context()}
				asking, end := context.WithCancel(t.Context())
				go func() { _, _ = c.flatten(asking, &operator.Request{}) }()
				<-dead
				p.bury()
				end()
				s.traffic.on(nil)
				require.Len(t, s.switchOff(nil).Sold, 1)
				p = s.start()
				time.Sleep(3 * time.Minute)
				require.Empty(t, s.OpenAtTheExchange())
				p.look(func() {
					require.Zero(t, p.account.Position(1, 1).Amount)
					require.Zero(t, p.account.Total(s.Market().Base).Total)
					require.NoError(t, p.account.Check())
					require.Empty(t, p.account.Open(nil, 0, 0))
				})
				require.NoError(t, p.end())
			})
		})
	}
}
