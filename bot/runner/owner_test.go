package runner

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// heldKind buys once, with exits, and holds.
var heldKind = scripted("held", held)

var held = buysOnce(func(m strategy.MarketDesk, last market.Price) error {
	_, err := m.Buy(strategy.Amount(1_000_000), strategy.Exits(last-5_000_00, last+5_000_00))
	return err
})

// owned is a stage of a bot that holds a position with a resting stop. The owner of the account
// acts with a second key.
func owned(t *testing.T, hears string, more ...func(*sandbox.Config)) *stage {
	s := newStage(t, 7, func(c *sandbox.Config) {
		c.Accounts[0].Keys[1].Withdraw = true
		for _, change := range more {
			change(c)
		}
	})
	s.hears = hears
	s.kinds = append(s.kinds, heldKind)
	s.config = strings.NewReplacer("strategies.restless", "strategies.held", `"restless"`, `"held"`,
		"params.seed = 7\n", "").Replace(s.config)
	return s
}

// resting is the only open order at the exchange.
func (s *stage) resting() market.Order {
	open := s.OpenAtTheExchange()
	require.Len(s.T, open, 1)
	return open[0].Order
}

// byHand sends a write of the account's owner about an order of the bot.
func (s *stage) byHand(o market.Order, kind market.CommandKind, changed market.Change) {
	o.OperatorID = 99
	intent, err := s.Auditor.Prepare(&market.Command{Kind: kind, Order: o, Changed: changed})
	require.NoError(s.T, err)
	_, err = s.Auditor.Send(context.Background(), &intent)
	require.NoError(s.T, err)
}

// hearings are the ways in which a bot hears of its orders.
var hearings = map[string]string{"poll": overPolls, "stream": overStream, "orders": overOrders}

func TestAnExitThatTheOwnerMovesIsTakenOver(t *testing.T) {
	bottest.Unraced(t)
	for name, hears := range hearings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := owned(t, hears)
				p := s.start()
				time.Sleep(30 * time.Second)
				o := s.resting()
				require.Equal(t, market.TypeStopLoss, o.Type)
				moved := o.TriggerAmount - 1_000_00
				o.TriggerAmount = moved
				s.byHand(o, market.CommandUpdate, market.ChangeTriggerAmount)
				time.Sleep(6 * time.Minute)
				require.Empty(t, s.rules(p), "it is no lie")
				var bare int
				p.look(func() {
					bare = len(p.engine.Brackets().Bare())
					require.Equal(t, moved, p.account.Open(nil, 1, 1)[0].TriggerAmount)
				})
				require.Zero(t, bare)
				c := &control{r: p.runner, ctx: t.Context()}
				answer, err := c.status(t.Context(), &operator.Request{})
				require.NoError(t, err)
				require.Len(t, answer.(*operator.Status).ChangedByOthers, 1)
				// the level is the owner's from now on, also for an exit that is placed again
				s.byHand(s.resting(), market.CommandCancel, 0)
				time.Sleep(6 * time.Minute)
				require.Equal(t, moved, s.resting().TriggerAmount)
				o = s.resting()
				o.TriggerAmount -= 100_00
				s.byHand(o, market.CommandUpdate, market.ChangeTriggerAmount)
				time.Sleep(6 * time.Minute)
				p.kill()
				p.bury()
				p = s.start()
				time.Sleep(30 * time.Second)
				c = &control{r: p.runner, ctx: t.Context()}
				answer, err = c.status(t.Context(), &operator.Request{})
				require.NoError(t, err)
				require.Len(t, answer.(*operator.Status).ChangedByOthers, 1, "a restart forgets nothing")
				require.NoError(t, p.end())
				require.Contains(t, s.told(nil, "explain", "2"), "changed by someone else")
			})
		})
	}
}

// What the owner makes of an exit's amount is taken over, and the bracket brings it back to what is
// held.
func TestAnExitWhoseAmountTheOwnerChangesIsBroughtBack(t *testing.T) {
	bottest.Unraced(t)
	for name, hears := range hearings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := owned(t, hears)
				p := s.start()
				time.Sleep(30 * time.Second)
				o := s.resting()
				o.Amount = 400_000
				s.byHand(o, market.CommandUpdate, market.ChangeAmount)
				time.Sleep(6 * time.Minute)
				require.Empty(t, s.rules(p))
				require.EqualValues(t, 1_000_000, s.resting().Amount)
				o.Amount = 2_000_000 // of the owner's own coins
				s.byHand(o, market.CommandUpdate, market.ChangeAmount)
				time.Sleep(6 * time.Minute)
				_, halted := p.engine.Halted(1)
				require.True(t, halted, "it cannot be reconciled")
				require.NoError(t, p.end())
			})
		})
	}
}

// A part that is withdrawn, or sold by hand, shrinks the bracket to what is held.
func TestABracketShrinksToWhatTheOwnerLeaves(t *testing.T) {
	bottest.Unraced(t)
	for name, take := range map[string]func(s *stage){
		"withdrawn": func(s *stage) { s.withdraw("BTC", "1.006", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq") },
		"sold":      func(s *stage) { s.place(s.Auditor, 99, market.Sell, "1.006", "20000") },
		"all":       func(s *stage) { s.withdraw("BTC", "1.01", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := owned(t, overPolls)
				p := s.start()
				time.Sleep(30 * time.Second)
				s.byHand(s.resting(), market.CommandCancel, 0)
				take(s)
				time.Sleep(3 * time.Minute)
				var bare int
				var left market.Qty
				p.look(func() { bare, left = len(p.engine.Brackets().Bare()), p.account.Position(1, 1).Amount })
				require.Zero(t, bare)
				if name == "all" {
					require.Zero(t, left)
					require.Empty(t, s.OpenAtTheExchange())
				} else {
					require.EqualValues(t, 400_000, left)
					require.EqualValues(t, 400_000, s.resting().Amount)
				}
				require.NoError(t, p.end())
			})
		})
	}
}

// What the owner sells by hand before a kill is found by the next start, before it trades, also
// where the dead process has never seen the balance fit. What the strategy buys then has an exit of
// its own: the old bracket has ended.
func TestASaleOfTheOwnerBeforeAKillIsExplainedAtTheNextStart(t *testing.T) {
	bottest.Unraced(t)
	for _, seen := range []bool{false, true} {
		for _, alive := range []time.Duration{0, 25 * time.Second} { // after the sale
			synctest.Test(t, func(t *testing.T) {
				var unseen []fault.Fault
				if !seen {
					unseen = append(unseen, fault.Fault{Kind: fault.Error, Code: 107,
						Endpoints: []string{"GET /balance"}, Key: bottest.BotKey,
						After: market.Duration(3 * time.Second), Until: market.Duration(75 * time.Second)})
				}
				s := owned(t, overPolls, func(c *sandbox.Config) { c.Faults = unseen })
				p := s.start()
				time.Sleep(45 * time.Second)
				old := s.resting()
				s.byHand(old, market.CommandCancel, 0)
				s.place(s.Auditor, 99, market.Sell, "1.01", "20000")
				time.Sleep(alive)
				p.kill()
				p.bury()
				time.Sleep(19 * time.Second)
				p = s.start()
				time.Sleep(2 * time.Minute)
				exit := s.resting()
				var halted bool
				var left market.Qty
				p.look(func() {
					left = p.account.Position(1, 1).Amount
					_, halted = p.engine.Halted(1)
				})
				require.False(t, halted)
				require.EqualValues(t, 1_000_000, left, "it was bought after the start")
				require.Equal(t, left, p.engine.Brackets().Covered(1, 1))
				if alive > 0 { // the dead process knew that the exit had ended
					require.NotEqual(t, old.TriggerAmount, exit.TriggerAmount)
				}
				require.NoError(t, p.end())
			})
		}
	}
}

// waitsKind rests one purchase far below the market.
var waitsKind = scripted("waits", buysOnce(func(m strategy.MarketDesk, last market.Price) error {
	low := market.FloorTo(last-3_000_00, m.Market().TickSize)
	_, err := m.Buy(strategy.Amount(1_000_000), strategy.At(low), strategy.StopAt(low-1_000_00))
	return err
}))

// The owner makes a resting purchase smaller and moves it to where it fills at once: what it bought
// is booked, and protected.
func TestAPurchaseThatTheOwnerMovesIsBookedAndProtected(t *testing.T) {
	bottest.Unraced(t)
	for name, hears := range hearings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := stageOf(t, "waits", waitsKind)
				s.hears = hears
				p := s.start()
				time.Sleep(30 * time.Second)
				o := s.resting()
				o.Amount = 500_000
				s.byHand(o, market.CommandUpdate, market.ChangeAmount)
				time.Sleep(6 * time.Minute)
				o = s.resting()
				o.Price += 5_000_00
				s.byHand(o, market.CommandUpdate, market.ChangePrice)
				time.Sleep(6 * time.Minute)
				require.Empty(t, s.rules(p))
				p.look(func() { require.EqualValues(t, 500_000, p.account.Position(1, 1).Amount) })
				stop := s.resting()
				require.Equal(t, market.TypeStopLoss, stop.Type)
				require.EqualValues(t, 500_000, stop.Amount)
				require.NoError(t, p.end())
			})
		})
	}
}
