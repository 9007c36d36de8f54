package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// The cancels that a halt asks for are lost, or met a market that stands still.
func TestAHaltCancelsHoweverOftenThatTakes(t *testing.T) {
	for _, becomes := range []fate{isLost, isRefused, isFeigned} {
		synctest.Test(t, func(t *testing.T) {
			cancels := 0
			p := playing(t, func(i *exchange.Intent) fate {
				if i.Command == market.CommandCancel {
					if cancels++; cancels <= 3 {
						return becomes
					}
				}
				return arrives
			}, bid(80_00), nil, func(*strategy.Desk) { panic("a bug") })
			p.run()
			p.tick(120)
			_, open := p.own(1)
			require.False(t, open)
			require.Equal(t, 4, cancels)
			p.end()
			p.agree()
		})
	}
}

func TestCancelsOfAHaltThatAreRefusedAreAskedForSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, func(i *exchange.Intent) fate {
			if i.Command == market.CommandCancel {
				return isRefused
			}
			return arrives
		}, bid(80_00), nil, func(*strategy.Desk) { panic("a bug") })
		p.run()
		p.tick(600)
		require.InDelta(t, 16, len(p.box.leaves), 4, "once a minute in the end")
		p.end()
		p.agree()
	})
}

// keeper is an actor that has something to save, and after a while cannot.
type keeper struct {
	actor
	broken bool
}

func (s *keeper) Save() ([]byte, error) {
	if s.broken {
		panic("a bug")
	}
	return []byte{1}, nil
}

func (s *keeper) Load([]byte) error { return nil }

func TestAStrategyThatPanicsAsItIsSavedIsHaltedAndTheLoopGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil)
		s := &keeper{}
		s.acts = []func(*strategy.Desk){bid(80_00), nil, func(*strategy.Desk) { s.broken = true }}
		p.player = s
		p.begin()
		p.run()
		p.tick(10)
		_, open := p.own(1)
		require.False(t, open)
		require.Equal(t, 3, s.at, "it is called no more")
		why, halted := p.journal.engine.Halted(1)
		require.True(t, halted)
		require.Equal(t, "its state cannot be saved: panic: a bug", why.Reason)
		p.end()
		p.agree()
	})
}

// No key is revoked because one request in a while was refused for its sake, nor because cancels
// are.
func TestOnlyRefusalsInARowAreTheKeys(t *testing.T) {
	no, other := exchange.ErrCode(310), exchange.ErrCode(exchange.CodeInsufficientBalance)
	for name, c := range map[string]struct {
		kind   market.CommandKind
		said   []error
		halted bool
	}{
		"five":                  {market.CommandPlace, []error{no, no, no, no, no}, true},
		"four":                  {market.CommandPlace, []error{no, no, no, no}, false},
		"one that was taken":    {market.CommandPlace, []error{no, no, no, no, nil, no}, false},
		"another refusal":       {market.CommandUpdate, []error{no, no, no, no, other, no}, false},
		"one is unresolved":     {market.CommandUpdate, []error{no, no, no, no, errLost, no}, true},
		"cancels":               {market.CommandCancel, []error{no, no, no, no, no}, false},
		"the clock is no right": {market.CommandPlace, []error{exchange.ErrCode(304, 1), no, no, no, no}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, nil)
			p.loop.stamp()
			for _, err := range c.said {
				p.loop.countKeyRefusals(c.kind, err)
			}
			_, halted := p.journal.engine.Halted(1)
			require.Equal(t, c.halted, halted, name)
		})
	}
}

func TestABanIsNoRefusalOfTheStart(t *testing.T) {
	require.True(t, refuses(exchange.ErrCode(311)))
	require.False(t, refuses(exchange.ErrCode(exchange.CodeBanned, 1)))
	require.False(t, refuses(&exchange.Error{Code: exchange.CodeBanned, Status: 403}))
	require.False(t, refuses(&exchange.Error{Code: 110, Status: 429}))
	require.False(t, refuses(exchange.ErrCode(exchange.CodeTimeout)))
	require.False(t, refuses(exchange.ErrCode(exchange.CodeOutOfWindow)), "the way there was slow")
	require.False(t, refuses(errLost))
}

func TestTimersAreRenewedEveryFifthOfTheirExpiryAndSoonWhereThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.loop.Groups = []uint16{1}
		p.run()
		p.tick(29)
		require.Equal(t, 1, p.box.armed, "before the first order")
		p.tick(4)
		require.Equal(t, 2, p.box.armed)
		p.box.mu.Lock()
		p.box.quits = 1
		p.box.mu.Unlock()
		p.tick(31)
		require.Equal(t, 2, p.box.armed)
		p.tick(5)
		require.Equal(t, 3, p.box.armed)
		p.end()
	})
}

func TestATimerThatIsNotStoppedAtOnceIsStoppedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.loop.Groups, p.loop.KeepOrders = []uint16{1}, true
		p.run()
		p.tick(5)
		p.box.mu.Lock()
		p.box.quits = 2
		p.box.mu.Unlock()
		p.end()
		require.Zero(t, p.box.timer)
		require.Len(t, p.openInTheBox(), 1)
	})
}

// The renewal that is on its way when a stop begins comes before the timers are stopped.
func TestTimersAreStoppedBehindTheLastRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.loop.Groups, p.loop.KeepOrders = []uint16{1}, true
		p.run()
		p.tick(29)
		p.box.mu.Lock()
		p.box.hold = 20 * time.Second
		p.box.mu.Unlock()
		p.tick(3)
		p.box.mu.Lock()
		p.box.hold = 0
		p.box.mu.Unlock()
		p.end()
		require.Equal(t, []time.Duration{150 * time.Second, 150 * time.Second, 0}, p.box.beats)
	})
}

func TestAnExchangeWithoutTimersIsTradedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.loop.Groups, p.box.noTimer = []uint16{1}, true
		p.run()
		p.tick(120)
		require.Len(t, p.openInTheBox(), 1)
		require.Len(t, p.journal.remarks, 1)
		require.Contains(t, p.journal.remarks[0], "cancel on disconnect: refused: group 1 is not guarded: ")
		p.end()
		p.agree()
	})
}

func TestAStopThatKeepsOrdersNamesThoseInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00), nil, cancel)
		p.loop.KeepOrders, p.loop.StopWithin = true, 75*time.Second
		p.run()
		p.tick(2)
		p.box.deafen("everything")
		p.tick(1)
		p.stop()
		require.ErrorContains(t, <-p.done, "live: the last write of 1 orders is unresolved after 1m15s: ")
	})
}

// One callback asks for hundreds of orders, and then for a cancel: that does not wait for them, and
// in the end all is accounted for.
func TestAFloodOfOrdersHoldsUpNoCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		passed := 0
		p := playing(t, nil, bid(80_00), nil, func(d *strategy.Desk) {
			for range 300 {
				if _, err := d.In(1).Buy(strategy.Amount(12500000)); err == nil {
					passed++
				}
			}
			cancel(d)
		})
		p.limits = &risk.Limits{OperatorID: 7}
		p.begin()
		p.run()
		p.tick(10)
		require.Equal(t, 300, passed)
		require.Len(t, p.box.leaves, 302)
		require.Equal(t, market.CommandCancel, p.journal.handed[1].Command, "it leaves before the 300 orders")
		p.end()
		p.agree()
	})
}
