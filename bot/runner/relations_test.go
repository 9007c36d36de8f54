package runner

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Relations between two lives: one has an event that the other has not, and no value is expected.

// heldLife is the life of a bot that holds a position with its exits, in which something happens.
// It returns what the bot's orders are in the end, without their times and names.
func heldLife(t *testing.T, hears string, happen func(s *stage, p *process) *process) (told string) {
	synctest.Test(t, func(t *testing.T) {
		s := owned(t, hears, func(c *sandbox.Config) { c.Admin = "open" })
		p := s.start()
		time.Sleep(30 * time.Second)
		p = happen(s, p)
		time.Sleep(10 * time.Minute)
		told = s.ends(p)
		require.NoError(t, p.end())
	})
	return told
}

// ends are the bot's orders that rest, its position and what of it has no exit.
func (s *stage) ends(p *process) (told string) {
	var lines []string
	for _, r := range s.OpenAtTheExchange() {
		o := &r.Order
		if o.OperatorID == 7 {
			lines = append(lines, fmt.Sprintf("%s %s %d of %d at %d", o.Side, o.Type, o.FilledAmount, o.Amount,
				o.TriggerAmount))
		}
	}
	slices.Sort(lines)
	p.look(func() {
		told = fmt.Sprintf("%s; position %d, bare %v, halted %t", strings.Join(lines, ", "),
			p.account.Position(1, 1).Amount, p.engine.Brackets().Bare(), len(p.engine.Halts()) > 0)
	})
	return told
}

func nothing(_ *stage, p *process) *process { return p }

// M31: polls, the stream, and orders over it give the same life, also where the owner moves
// the exit.
func TestEachWayToHearTheExchangeGivesTheSameLife(t *testing.T) {
	bottest.Unraced(t)
	for name, happen := range map[string]func(s *stage, p *process) *process{
		"nothing": nothing,
		"the owner moves the exit": func(s *stage, p *process) *process {
			exit := s.resting()
			exit.TriggerAmount -= 100_00
			s.byHand(exit, market.CommandUpdate, market.ChangeTriggerAmount)
			return p
		},
	} {
		want := heldLife(t, overPolls, happen)
		require.Equal(t, name == "nothing", want == heldLife(t, overPolls, nothing), "%s is seen: %s", name, want)
		require.Equal(t, want, heldLife(t, overStream, happen), "stream, %s", name)
		require.Equal(t, want, heldLife(t, overOrders, happen), "orders, %s", name)
	}
}

// M32: money that comes, money of the owner's own that goes, and orders of others change no order.
func TestWhatTheOwnerDoesWithTheRestChangesNoOrder(t *testing.T) {
	bottest.Unraced(t)
	const address = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
	for hears, over := range hearings {
		want := heldLife(t, over, nothing)
		require.Contains(t, want, "stopLoss")
		for name, happen := range map[string]func(s *stage, p *process){
			"deposit of quote":       func(s *stage, _ *process) { s.deposit("EUR", "1000") },
			"withdrawal of own base": func(s *stage, _ *process) { s.withdraw("BTC", "0.4", address) },
			"an order of others":     func(s *stage, _ *process) { s.place(s.Auditor, 9, market.Buy, "0.001", "5000") },
			"a sale of own base":     func(s *stage, _ *process) { s.place(s.Auditor, 9, market.Sell, "0.3", "20000") },
		} {
			require.Equal(t, want, heldLife(t, over, func(s *stage, p *process) *process {
				happen(s, p)
				return p
			}), "%s, %s", hears, name)
		}
	}
}

// M33: a fault that is over leaves the life as without it.
func TestAFaultThatIsOverLeavesTheLifeAsWithoutIt(t *testing.T) {
	bottest.Unraced(t)
	for hears, over := range hearings {
		want := heldLife(t, over, nothing)
		for name, fault := range map[string]func(s *stage, on bool){
			"no network": func(s *stage, on bool) { s.traffic.cut(on) },
			"halted": func(s *stage, on bool) {
				is := map[bool]market.MarketStatus{true: market.Halted, false: market.Trading}
				require.NoError(s.T, s.status(is[on]))
			},
			"a minimum, and the exit is taken": func(s *stage, on bool) {
				s.rule(func(m *market.Market) {
					if m.MinOrderInQuote = 5_00; on {
						m.MinOrderInQuote = 2000_00
					}
				})
				if on {
					s.byHand(s.resting(), market.CommandCancel, 0)
				}
			},
		} {
			require.Equal(t, want, heldLife(t, over, func(s *stage, p *process) *process {
				fault(s, true)
				time.Sleep(50 * time.Second)
				fault(s, false)
				return p
			}), "%s, %s", hears, name)
		}
	}
}

// M35: a state file that is compacted between a kill and a start is the same file.
func TestACompactionBetweenAKillAndAStartIsNothing(t *testing.T) {
	bottest.Unraced(t)
	again := func(compact bool) func(s *stage, p *process) *process {
		return func(s *stage, p *process) *process {
			time.Sleep(time.Minute)
			p.kill()
			p.bury()
			if compact {
				var out, errs bytes.Buffer
				require.Zero(t, Command(context.Background(), []string{"state", "compact", "--keep", "1s", "--state",
					filepath.Join(s.Folder, statedir.StateFile), "--archive", filepath.Join(s.Folder, archiveFile)},
					&out,
					&errs), errs.String())
			}
			return s.start()
		}
	}
	// After a start the strategy buys anew, at the price of the moment in which the first answers
	// come: the level of that purchase's exit is not compared.
	life := func(over string, compact bool) string {
		told := heldLife(t, over, again(compact))
		kept, bought, two := strings.Cut(told, ", ")
		require.True(t, two && strings.Contains(kept, "stopLoss"), told)
		return kept + regexp.MustCompile(" at [0-9]+").ReplaceAllString(bought, "")
	}
	for hears, over := range hearings {
		require.Equal(t, life(over, false), life(over, true), hears)
	}
}

// M36: a flatten is to the ledger what a Close of everything by the strategy is.
func TestAFlattenIsAsACloseByTheStrategy(t *testing.T) {
	bottest.Unraced(t)
	leave := atomic.Bool{}
	kind := scripted("held", func() onTicker {
		hold, left := held(), false
		return func(d *strategy.Desk, t market.Ticker) {
			hold(d, t)
			if leave.Load() && !left {
				left = d.In(t.Market).Close() == nil
			}
		}
	})
	for name, rule := range map[string]func(m *market.Market){
		"as it is":          func(*market.Market) {},
		"above the maximum": func(m *market.Market) { m.MaxOrderInQuote = 100_00 },
		"below a minimum":   func(m *market.Market) { m.MinOrderInQuote = 2000_00 },
		"cancelOnly":        func(m *market.Market) { m.Status = market.CancelOnly },
	} {
		life := func(by func(s *stage, p *process)) (told string) {
			synctest.Test(t, func(t *testing.T) {
				s := owned(t, overPolls)
				s.kinds[len(s.kinds)-1] = kind
				p := s.start()
				time.Sleep(30 * time.Second)
				s.rule(rule)
				time.Sleep(40 * time.Second)
				by(s, p)
				time.Sleep(3 * time.Minute)
				sold := market.Qty(0)
				for _, r := range s.OrdersAtTheExchange() {
					o := &r.Order
					if o.OperatorID == 7 && o.Side == market.Sell {
						sold += o.FilledAmount
					}
				}
				ends, _, _ := strings.Cut(s.ends(p), ", halted")
				told = fmt.Sprintf("sold %d; %s", sold, ends)
				require.NoError(t, p.end())
			})
			return told
		}
		leave.Store(false)
		want := life(func(*stage, *process) { leave.Store(true) })
		leave.Store(false)
		require.Equal(t, want, life(func(s *stage, p *process) { _, _ = s.flatten(p) }), name)
	}
}
