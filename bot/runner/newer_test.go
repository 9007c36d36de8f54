package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// A backup from before the exit of a position was placed knows nothing of the exit that rests at
// the exchange, and the owner has coins of his own. The start proves by its name that the exit is
// the bot's: the position keeps this one exit, over restarts too.
func TestABackupFromBeforeTheExitKeepsTheOneExit(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := halfStage(t)
		p := s.start()
		time.Sleep(3 * time.Second)
		file := p.copyState()
		s.sellInto("0.005")
		time.Sleep(15 * time.Second)
		require.NoError(t, p.end())
		exit := s.resting()
		s.putBack(file)
		for range 2 {
			p = s.start()
			time.Sleep(3 * time.Minute)
			require.Equal(t, exit.ClientOrderID, s.resting().ClientOrderID)
			p.look(func() {
				require.Empty(t, p.engine.Brackets().Bare())
				require.Equal(t, market.Qty(500_000), p.engine.Brackets().Covered(1, 1))
				_, halted := p.engine.Halted(1)
				require.False(t, halted)
			})
			require.NoError(t, p.end())
			s.onlyExits(p)
		}
	})
}

// A start that fails after a restore does not hide the orders from the next one.
func TestAStartThatFailsAfterARestoreHidesNoOrder(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := halfStage(t)
		p := s.start()
		time.Sleep(3 * time.Second)
		file := p.copyState()
		s.sellInto("0.005")
		time.Sleep(15 * time.Second)
		require.NoError(t, p.end())
		exit := s.resting()
		s.putBack(file)
		failed, err := s.open()
		require.NoError(t, err)
		require.NoError(t, failed.journal.Commit(failed.trading.Now()))
		failed.kill()
		p = s.start()
		time.Sleep(time.Minute)
		require.Equal(t, exit.ClientOrderID, s.resting().ClientOrderID)
		require.NoError(t, p.end())
		s.onlyExits(p)
	})
}

// hidesOrders lets the exchange list no open order while hides is true.
func (s *stage) hidesOrders() (hides *atomic.Bool) {
	hides = &atomic.Bool{}
	hides.Store(true)
	s.wrap = func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, "/ordersOpen") || !hides.Load() {
				return next.RoundTrip(r)
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
				Body: io.NopCloser(strings.NewReader("[]"))}, nil
		})
	}
	return hides
}

// A bot whose copy of the state file lacks an order is told of none, and stops or dies, more than
// once. A later start that is told of the order knows whose it is: it cancels the entry.
func TestAnOrderThatNoListShowsAfterARestoreIsKnownToLaterStarts(t *testing.T) {
	bottest.Unraced(t)
	for _, killed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := halfStage(t)
			p, file := s.boughtAfterACopy("")
			entry := s.resting()
			p.kill()
			p.bury()
			s.putBack(file)
			s.hidesOrders()
			for range 3 {
				p = s.start()
				time.Sleep(time.Minute)
				if killed {
					p.kill()
					p.bury()
				} else {
					require.NoError(t, p.end())
				}
			}
			s.wrap = nil
			p = s.start()
			time.Sleep(3 * time.Minute)
			p.look(func() { require.Zero(t, p.loop.Foreign()) })
			require.Equal(t, market.StatusCanceled, s.OrdersAtTheExchange()[entry.ClientOrderID].Order.Status)
			require.NoError(t, p.end())
			s.onlyExits(p)
			saved, err := statedir.ReadNewer(s.Stored())
			require.NoError(t, err)
			runs := 1
			if killed {
				runs = 4
			}
			require.Len(t, saved.Runs, runs, "a run that has stopped in order has all of its orders in the file")
		})
	}
}

// Two runs have each sent an order of one number that the copy of the state file lacks. The start
// books both before its strategies act.
func TestNewerOrdersOfTwoRunsWithOneNumberAreBothBooked(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := halfStage(t)
		p, file := s.boughtAfterACopy("")
		p.kill()
		p.bury()
		s.putBack(file)
		s.hidesOrders()
		p, file = s.boughtAfterACopy("")
		p.kill()
		p.bury()
		require.Len(t, s.OpenAtTheExchange(), 2)
		s.putBack(file)
		s.wrap = nil
		p, err := s.open()
		require.NoError(t, err)
		p.loop.Ready = func() { require.Len(t, p.loop.Newer.Orders, 2) }
		ctx := p.ctx()
		go func() { p.done <- p.trade(ctx) }()
		time.Sleep(3 * time.Minute)
		p.look(func() { require.Zero(t, p.loop.Foreign()) })
		require.NoError(t, p.end())
		s.onlyExits(p)
	})
}

// A start that fails after a restore hides no purchase from the next one: nothing of it is open.
func TestAStartThatFailsAfterARestoreHidesNoPurchase(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := halfStage(t)
		s.bareAfterACopy()
		time.Sleep(2 * time.Hour)
		failed, err := s.open()
		require.NoError(t, err)
		require.NoError(t, failed.journal.Commit(failed.trading.Now()))
		failed.kill()
		for range 2 {
			p := s.start()
			time.Sleep(time.Minute)
			p.look(func() {
				require.Equal(t, market.Qty(500_000), p.account.Position(1, 1).Amount)
				require.Len(t, p.bare(nil), 1)
				_, halted := p.engine.Halted(1)
				require.True(t, halted)
			})
			require.NoError(t, p.end())
		}
	})
}

// A new state folder under an old operator id: the exit of the former folder rests beside it. It is
// older than the file, so the file is no copy from before it, at the second start too.
func TestAnOrderThatIsOlderThanTheFileIsAnothers(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s, p := inBracket(t, true)
		require.NoError(t, p.end())
		exit := s.resting()
		require.NoError(t, os.Remove(filepath.Join(s.Folder, statedir.StateFile)))
		require.NoError(t, os.RemoveAll(filepath.Join(s.Folder, statedir.RecordingFolder)))
		for range 3 {
			p = s.start()
			time.Sleep(time.Minute)
			p.look(func() {
				halt, halted := p.engine.Halted(1)
				require.False(t, halted, halt.Reason)
				require.Equal(t, 1, p.loop.Foreign())
			})
			require.Contains(t, s.OrdersAtTheExchange(), exit.ClientOrderID)
			require.NoError(t, p.end())
		}
	})
}

// boughtAfterACopy starts a bot, copies its state file before it trades, and lets its entry buy an
// amount, "" for nothing.
func (s *stage) boughtAfterACopy(amount string) (p *process, file string) {
	p, err := s.open()
	require.NoError(s.T, err)
	require.NoError(s.T, p.journal.Commit(p.trading.Now()))
	file = p.copyState()
	ctx := p.ctx()
	go func() { p.done <- p.trade(ctx) }()
	time.Sleep(3 * time.Second)
	if amount != "" {
		s.sellInto(amount)
	}
	time.Sleep(15 * time.Second)
	return p, file
}

// bareAfterACopy is boughtAfterACopy, a kill, a cancel of all orders by hand, and the copy put
// back: the file knows nothing of the purchase, and no order guards it.
func (s *stage) bareAfterACopy() {
	p, file := s.boughtAfterACopy("0.005")
	p.kill()
	p.bury()
	for _, o := range s.OpenAtTheExchange() {
		s.byHand(o.Order, market.CommandCancel, 0)
	}
	s.putBack(file)
}

// A backup from before the entry: what it bought since is in the books, its exit guards it, the
// rest of the entry is cancelled, and the strategy waits for a person.
func TestABackupFromBeforeTheEntryBooksWhatWasBought(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := halfStage(t)
		p, file := s.boughtAfterACopy("0.005")
		require.Len(t, s.OpenAtTheExchange(), 2)
		p.kill()
		p.bury()
		s.putBack(file)
		p = s.start()
		time.Sleep(3 * time.Minute)
		exit := s.resting()
		require.Equal(t, market.TypeStopLoss, exit.Type)
		p.look(func() {
			halt, halted := p.engine.Halted(1)
			require.True(t, halted)
			require.Regexp(t, `the state file is a copy .* bought 0\.005 BTC-EUR`, halt.Reason)
			require.Equal(t, market.Qty(500_000), p.account.Position(1, 1).Amount)
			require.Equal(t, market.Qty(500_000), p.engine.Brackets().Covered(1, 1))
			require.Empty(t, p.engine.Brackets().Bare())
		})
		require.NoError(t, p.end())
		s.onlyExits(p)
	})
}

// A sale after the backup is in the books: nothing is sold twice.
func TestABackupFromBeforeASaleSellsNothingTwice(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s, p := inBracket(t, true)
		file := p.copyState()
		c := &control{r: p.runner, ctx: context.Background()}
		_, err := c.flatten(t.Context(), &operator.Request{})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		require.Empty(t, s.OpenAtTheExchange())
		require.NoError(t, p.end())
		s.putBack(file)
		p, err = s.open()
		require.NoError(t, err)
		p.loop.Ready = func() {
			require.Zero(t, p.account.Position(1, 1).Amount)
			require.Zero(t, p.engine.Brackets().Covered(1, 1))
		}
		ctx := p.ctx()
		go func() { p.done <- p.trade(ctx) }()
		time.Sleep(3 * time.Minute)
		s.guards(p) // it has bought again
		require.NoError(t, p.end())
	})
}

// withALaterExit is a stage without a bot, whose state file is a copy from before the run that
// placed the exit that rests.
func withALaterExit(t *testing.T) (*stage, market.Order) {
	s, p := inBracket(t, false)
	file := p.copyState()
	require.NoError(t, p.end())
	p = s.start()
	time.Sleep(10 * time.Second)
	exit := s.resting()
	p.kill()
	p.bury()
	s.putBack(file)
	return s, exit
}

// An exit of a run that the backup does not know is no proof: no second one is placed beside it,
// and the strategy is halted in words until a person has looked.
func TestAnExitOfALaterRunHaltsInsteadOfBeingDoubled(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s, exit := withALaterExit(t)
		p := s.start()
		time.Sleep(3 * time.Minute)
		require.Equal(t, exit.ClientOrderID, s.resting().ClientOrderID, "there is no second exit")
		p.look(func() {
			halt, halted := p.engine.Halted(1)
			require.True(t, halted)
			require.Contains(t, halt.Reason, exit.ClientOrderID.String())
			require.Len(t, p.engine.Brackets().Bare(), 1)
		})
		s.byHand(exit, market.CommandCancel, 0)
		c := &control{r: p.runner, ctx: context.Background()}
		_, err := c.resume(t.Context(), &operator.Request{})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		s.guards(p)
		require.NoError(t, p.end())
	})
}

// The list of the start lacks that exit: the strategy is halted when a later list shows it, once.
func TestAnExitOfALaterRunThatTheStartCouldNotSeeHaltsWhenAListShowsIt(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s, exit := withALaterExit(t)
		hides := s.hidesOrders()
		p := s.start()
		time.Sleep(time.Minute)
		halted := func() (reason string, is bool) {
			p.look(func() {
				var halt engine.Halt
				halt, is = p.engine.Halted(1)
				reason = halt.Reason
			})
			return reason, is
		}
		_, is := halted()
		require.False(t, is)
		hides.Store(false)
		time.Sleep(time.Minute)
		why, is := halted()
		require.True(t, is)
		require.Contains(t, why, exit.ClientOrderID.String())
		_, err := (&control{r: p.runner, ctx: context.Background()}).resume(t.Context(), &operator.Request{})
		require.NoError(t, err)
		time.Sleep(3 * time.Minute)
		_, is = halted()
		require.False(t, is)
		require.NoError(t, p.end())
	})
}

// twins adds a strategy with the first one's operator id to the stage: another of its kind.
func (s *stage) twins(name, twin, markets string) {
	s.edit(`allocation = "10000"`, `allocation = "3000"`)
	first := s.config[strings.Index(s.config, "[strategies."+name+"]"):]
	s.config += strings.NewReplacer("strategies."+name, "strategies."+twin, `["BTC-EUR"]`, markets).Replace(first)
}

// bothHalted requires that two strategies are halted, and returns why.
func (s *stage) bothHalted(p *process) (why []string) {
	s.T.Helper()
	p.look(func() {
		for id := range market.StrategyID(2) {
			halt, halted := p.engine.Halted(id + 1)
			require.True(s.T, halted, "strategy %d", id+1)
			why = append(why, halt.Reason)
		}
	})
	return why
}

// failsAfterTheList lets a start fail that has taken newer orders into the books: at its first
// request for the balances.
func (s *stage) failsAfterTheList() {
	var p *process
	trades, listed := atomic.Bool{}, atomic.Bool{}
	s.wrap = func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			switch {
			case trades.Load() && strings.HasSuffix(r.URL.Path, "/ordersOpen"):
				listed.Store(true)
			case listed.Load() && strings.HasSuffix(r.URL.Path, "/balance"):
				p.kill()
			}
			return next.RoundTrip(r)
		})
	}
	p, err := s.open()
	require.NoError(s.T, err)
	trades.Store(true)
	ctx := p.ctx()
	go func() { p.done <- p.trade(ctx) }()
	time.Sleep(time.Minute)
	require.True(s.T, listed.Load())
	p.stop() // it insists on its first requests
	p.bury()
	s.wrap = nil
}

// An exit that is newer than the file may be of either of two strategies with one operator id. Both
// are halted, in words, where the start that books it fails too, and both positions keep an exit.
func TestANewerOrderOfTwoStrategiesHaltsBoth(t *testing.T) {
	bottest.Unraced(t)
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := halfStage(t)
			s.twins("half", "twin", `["BTC-EUR"]`)
			p := s.start()
			time.Sleep(3 * time.Second)
			file := p.copyState()
			s.sellInto("0.02") // 0.015 to one of them, 0.005 to the other
			time.Sleep(15 * time.Second)
			require.NoError(t, p.end())
			exits := s.OpenAtTheExchange()
			require.Len(t, exits, 2)
			s.putBack(file)
			if fails {
				s.failsAfterTheList()
			}
			p = s.start()
			time.Sleep(3 * time.Minute)
			for _, why := range s.bothHalted(p) {
				require.Regexp(t, `a copy from before order \d+ \(sell 0\.\d+ BTC-EUR, of \w+ or \w+, booked to \w+\)`+
					`.* no operator_id tells whose .* then bot resume or bot flatten`, why)
			}
			p.look(func() {
				require.Empty(t, p.engine.Brackets().Bare())
				for id := range market.StrategyID(2) {
					held := p.account.Position(id+1, 1).Amount
					require.Positive(t, held)
					require.Equal(t, held, p.engine.Brackets().Covered(id+1, 1))
				}
			})
			for _, now := range s.OpenAtTheExchange() {
				require.Contains(t, []uuid.UUID{exits[0].Order.ClientOrderID, exits[1].Order.ClientOrderID},
					now.Order.ClientOrderID)
			}
			require.Len(t, s.OpenAtTheExchange(), 2)
			require.NoError(t, p.end())
			s.onlyExits(p)
		})
	}
}

// Of a later run's exit nothing shows which of two strategies has it: neither places a second one.
func TestAnExitOfALaterRunHaltsBothStrategiesOfItsOperatorID(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := stageOf(t, "patient", patientKind)
		s.twins("patient", "twin", `["BTC-EUR"]`)
		p := s.start()
		time.Sleep(10 * time.Second)
		require.Len(t, s.OpenAtTheExchange(), 2)
		require.NoError(t, p.end())
		file := filepath.Join(s.T.TempDir(), statedir.StateFile)
		text, err := os.ReadFile(filepath.Join(s.Folder, statedir.StateFile))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		p = s.start()
		time.Sleep(10 * time.Second)
		exits := s.OpenAtTheExchange()
		require.Len(t, exits, 2)
		s.byHand(exits[1].Order, market.CommandCancel, 0)
		p.kill()
		p.bury()
		s.putBack(file)
		p = s.start()
		time.Sleep(3 * time.Minute)
		require.Equal(t, exits[0].Order.ClientOrderID, s.resting().ClientOrderID, "there is no second exit")
		for _, why := range s.bothHalted(p) {
			require.Contains(t, why, exits[0].Order.ClientOrderID.String())
		}
		p.look(func() { require.Len(t, p.engine.Brackets().Bare(), 2) })
		s.byHand(exits[0].Order, market.CommandCancel, 0)
		c := &control{r: p.runner, ctx: context.Background()}
		_, err = c.resume(t.Context(), &operator.Request{})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		require.Len(t, s.OpenAtTheExchange(), 2)
		p.look(func() { require.Empty(t, p.engine.Brackets().Bare()) })
		require.NoError(t, p.end())
	})
}

// A backup from before the entry, whose exit the owner cancels while no bot runs: which exit it had
// is not known. The status lists the position, after a resume, at later starts, and where another
// strategy takes it over; the end of each run tells of it. A flatten ends that.
func TestABackupFromBeforeTheEntryTellsOfAPositionWithoutAnExit(t *testing.T) {
	bottest.Unraced(t)
	for name, flat := range map[string]func(s *stage, p *process){
		"flatten": func(s *stage, p *process) {
			c := &control{r: p.runner, ctx: context.Background()}
			_, err := c.flatten(s.T.Context(), &operator.Request{})
			require.NoError(s.T, err)
		},
		"kill switch": func(s *stage, p *process) {
			p.kill()
			p.bury()
			require.Len(s.T, s.switchOff(nil).Sold, 1)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := halfStage(t)
			s.bareAfterACopy()
			var p *process
			for start := range 4 {
				if start == 3 {
					s.rename("half", "heir")
					_, err := s.adopt("half", "heir", nil)
					require.NoError(t, err)
				}
				p = s.start()
				time.Sleep(time.Minute)
				require.Empty(t, s.OpenAtTheExchange())
				c := &control{r: p.runner, ctx: context.Background()}
				for range 2 {
					p.look(func() {
						bare := p.bare(nil)
						require.Len(t, bare, 1, "%s: start %d", name, start)
						require.Equal(t, "0.005", bare[0].Amount)
						require.Equal(t, "unknown", bare[0].Cause)
						require.Equal(t, p.plan.Names()[0], bare[0].Strategy)
					})
					if start > 0 {
						break
					}
					_, err := c.resume(t.Context(), &operator.Request{})
					require.NoError(t, err)
					time.Sleep(time.Second)
				}
				if start == 3 {
					break
				}
				require.NoError(t, p.end())
				require.Contains(t, s.log.Tail(3), "position left: bought after the copy of the state file was made")
			}
			flat(s, p)
			if name == "flatten" {
				time.Sleep(time.Minute)
				p.look(func() { require.Empty(t, p.bare(nil)) })
				require.NoError(t, p.end())
			}
			p = s.start()
			time.Sleep(time.Minute)
			p.look(func() { require.Empty(t, p.bare(nil), name) })
			require.NoError(t, p.end())
		})
	}
}

// An entry that is newer than the file fills on after a start has taken it into the books: before
// its cancel arrives, after a kill in place of the cancel, or after that start has failed. All that
// it has bought is listed without an exit, and the strategy waits for a person, also where nothing
// was bought before.
func TestABackupFromBeforeTheEntryCountsWhatItBuysUntilItsCancel(t *testing.T) {
	bottest.Unraced(t)
	for name, hears := range map[string]string{"poll": overPolls, "stream": overStream} {
		for _, before := range []string{"", "0.005"} {
			for _, late := range []string{"0.004", "0.015"} {
				for _, how := range []string{"lives", "killed", "fails"} {
					t.Run(fmt.Sprintf("%s, %q and %s, %s", name, before, late, how), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { buysUntilItsCancel(t, hears, before, late, how) })
					})
				}
			}
		}
	}
}

func buysUntilItsCancel(t *testing.T, hears, before, late, how string) {
	s := halfStage(t)
	s.hears = hears
	p, file := s.boughtAfterACopy(before)
	p.kill()
	p.bury()
	for _, o := range s.OpenAtTheExchange() {
		if o.Order.Side == market.Sell {
			s.byHand(o.Order, market.CommandCancel, 0)
		}
	}
	entry := s.resting()
	s.putBack(file)
	if how == "fails" {
		s.failsAfterTheList()
		s.sellInto(late)
		p = s.start()
		time.Sleep(time.Minute)
	} else {
		p = s.fillsBeforeTheCancel(late, how == "killed")
	}
	bought := s.OrdersAtTheExchange()[entry.ClientOrderID].Order.FilledAmount
	m := s.Market()
	amount, err := m.ParseQty(late)
	require.NoError(t, err)
	require.GreaterOrEqual(t, bought, min(amount, 1_000_000))
	for range 2 { // the next start knows it too
		var halt engine.Halt
		var halted bool
		var held market.Qty
		var bare []operator.Unprotected
		p.look(func() {
			halt, halted = p.engine.Halted(1)
			held, bare = p.account.Position(1, 1).Amount, p.bare(nil)
		})
		require.NoError(t, p.end())
		require.Equal(t, bought, held)
		require.Len(t, bare, 1)
		require.Equal(t, m.FormatQty(bought), bare[0].Amount)
		require.Equal(t, "unknown", bare[0].Cause)
		require.True(t, halted)
		require.Regexp(t, `the state file is a copy .* bought `+m.FormatQty(bought)+` BTC-EUR`, halt.Reason)
		require.Empty(t, s.OpenAtTheExchange())
		p = s.start()
		time.Sleep(time.Minute)
	}
	require.NoError(t, p.end())
}

// fillsBeforeTheCancel starts a bot, sells into its orders as its first cancel is about to leave,
// and returns the bot a minute later. With killed, that cancel never leaves, and a new start
// follows.
func (s *stage) fillsBeforeTheCancel(amount string, killed bool) *process {
	p, err := s.open()
	require.NoError(s.T, err)
	sold := atomic.Bool{}
	s.traffic.on(func(r *http.Request, about bool) {
		if commandOf(r) != market.CommandCancel || !about || !sold.CompareAndSwap(false, true) {
			return
		}
		if killed {
			p.kill()
		}
		s.sellInto(amount)
	})
	ctx := p.ctx()
	go func() { p.done <- p.trade(ctx) }()
	time.Sleep(time.Minute)
	require.True(s.T, sold.Load())
	s.traffic.on(nil)
	if killed {
		p.bury()
		p = s.start()
		time.Sleep(time.Minute)
	}
	return p
}

// The kill switch sells what the copy of a state file does not know, and the start that books the
// sale dies before it finds the purchase. The next start finds it: nothing of it is held, so no
// coins of the owner count as the strategy's.
func TestAPurchaseThatALaterStartFindsGivesBackWhatWasLent(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := halfStage(t)
		p, file := s.boughtAfterACopy("0.01")
		p.kill()
		p.bury()
		require.Len(t, s.switchOff(nil).Sold, 1)
		s.putBack(file)
		s.failsAfterTheList()
		for range 2 {
			p = s.start()
			time.Sleep(time.Minute)
			p.look(func() {
				require.Zero(t, p.account.Position(1, 1).Amount)
				require.Zero(t, p.account.Total(s.Market().Base).Total)
				require.Empty(t, p.bare(nil))
				require.NoError(t, p.account.Check())
			})
			require.NoError(t, p.end())
		}
	})
}

// A purchase that is newer than the file fills on after the start that has taken it into the books,
// and after that start has died: it gives back what an earlier start has lent, fill by fill. So it
// does under another name of the strategy, after a handover.
func TestAPurchaseGivesBackWhatWasLentUntilItsCancel(t *testing.T) {
	bottest.Unraced(t)
	for n := range 3 {
		killed, renamed := n == 1, n == 2
		synctest.Test(t, func(t *testing.T) {
			s := halfStage(t)
			p, file := s.boughtAfterACopy("0.005")
			p.kill()
			p.bury()
			for _, o := range s.OpenAtTheExchange() {
				if o.Order.Side == market.Sell {
					s.byHand(o.Order, market.CommandCancel, 0)
				}
			}
			entry := s.resting()
			store, err := journal.Open(file)
			require.NoError(t, err)
			lent := statedir.UnknownExit{Strategy: "half", Market: "BTC-EUR", Amount: "0.008"}
			saved := statedir.Newer{Lent: []statedir.UnknownExit{lent}}
			text, err := saved.Append(nil)
			require.NoError(t, err)
			b := store.NewBatch()
			b.Blob(statedir.NewerBlob, text)
			require.NoError(t, errors.Join(store.Commit(b), store.Close()))
			s.putBack(file)
			if renamed {
				s.rename("half", "third")
				s.takesOver("half", "third")
			}
			p = s.fillsBeforeTheCancel("0.004", killed)
			bought := s.OrdersAtTheExchange()[entry.ClientOrderID].Order.FilledAmount
			require.Greater(t, bought, market.Qty(800_000))
			p.look(func() {
				require.Equal(t, bought-800_000, p.account.Position(1, 1).Amount, n)
				require.NoError(t, p.account.Check())
			})
			require.NoError(t, p.end())
		})
	}
}
