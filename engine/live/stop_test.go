package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// leaveOpen lets a quoter rest three bids, kills it, and makes the process of the restart.
func leaveOpen(t *testing.T) (*rig, *quoter) {
	r := newRig(t, 1, 0)
	r.player = &quoter{}
	r.begin()
	time.AfterFunc(5500*time.Millisecond, r.kill)
	require.ErrorIs(t, r.trade(1, 20*time.Second), errKilled)
	require.Len(t, r.openInTheBox(), 3)
	again := &quoter{}
	r.player = again
	r.begin()
	return r, again
}

// unproven is what a stop says where no list of the exchange confirms that no order is open.
const unproven = "no list of the exchange has confirmed it"

// openInTheBox are the orders that are open at the exchange.
func (r *rig) openInTheBox() (open []*market.Order) {
	r.box.mu.Lock()
	defer r.box.mu.Unlock()
	for _, record := range r.box.records {
		if !record.Order.Done() {
			open = append(open, &record.Order)
		}
	}
	return open
}

// stopAfter runs the loop, asks it to stop after a while, and returns what it said and how long
// that took.
func (r *rig) stopAfter(d time.Duration) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	began := time.Now()
	err = r.loop.Run(ctx)
	return time.Since(began), err
}

func TestAStopBeforeTheExchangeWasReconciledWithCancelsWhatIsOpen(t *testing.T) {
	for _, deaf := range []string{"", "trades", "open"} { // what the reconcile waits for when it is asked to stop
		synctest.Test(t, func(t *testing.T) {
			r, again := leaveOpen(t)
			r.box.deaf = deaf
			took, err := r.stopAfter(time.Millisecond)
			if deaf == "open" { // no list comes: nothing proves that none is open
				require.ErrorContains(t, err, unproven)
			} else {
				require.NoError(t, err)
				require.Less(t, took, 10*time.Second)
			}
			require.Empty(t, r.openInTheBox())
			require.Zero(t, again.tickers)
			r.agree()
		})
	}
}

func TestAStopCancelsAlsoWhereTheExchangeRefusesTheQuestionsOfTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := leaveOpen(t)
		r.box.refuse = "trades"
		_, err := r.stopAfter(time.Millisecond)
		require.ErrorContains(t, err, "live: reconcile trades: ")
		require.Empty(t, r.openInTheBox())
		r.agree()
	})
}

func TestAStopBeforeTheExchangeWasReconciledWithCanKeepWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := leaveOpen(t)
		r.box.deaf, r.box.timer = "trades", time.Minute
		r.loop.KeepOrders, r.loop.Groups = true, []uint16{1}
		_, err := r.stopAfter(3 * time.Second)
		require.NoError(t, err)
		require.Len(t, r.openInTheBox(), 3)
		require.Len(t, r.account.Open(nil, 0, 0), 3)
		require.Zero(t, r.box.timer, "the timer of the run that died has been stopped")
		require.Zero(t, r.box.armed)
	})
}

func TestAStopAtAnExchangeThatIsDownSaysWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := leaveOpen(t)
		r.box.deaf = "everything"
		r.loop.StopWithin = market.Duration(75 * time.Second)
		took, err := r.stopAfter(3 * time.Second)
		require.ErrorContains(t, err, "3 orders are still open after 1m15s: ")
		for _, o := range r.openInTheBox() {
			require.ErrorContains(t, err, o.ClientOrderID.String())
		}
		require.Less(t, took, 82*time.Second)
		r.box.deaf = ""
		r.begin()
		_, err = r.stopAfter(20 * time.Second)
		require.NoError(t, err, "and the next run finds everything")
		r.agree()
	})
}

func TestAStopOfABotWithoutOrdersDoesNotWaitForTheExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1, 0)
		r.player, r.box.deaf = &quoter{}, "everything"
		r.begin()
		took, err := r.stopAfter(3 * time.Second)
		require.NoError(t, err)
		require.Less(t, took, 4*time.Second)
	})
}

// eager places an order as soon as it is started, and another as it is stopped.
type eager struct {
	strategy.Base
	asked    error
	rejected int
}

func (s *eager) OnStart(d *strategy.Desk) {
	_, s.asked = d.In(1).Buy(strategy.Amount(12500000), strategy.At(80_00))
}

func (s *eager) OnStop(d *strategy.Desk) {
	_, _ = d.In(1).Buy(strategy.Amount(12500000), strategy.At(81_00))
}

func (s *eager) OnOrder(_ *strategy.Desk, _ market.Order, r market.Report) {
	if r.Exec == market.ExecRejected {
		s.rejected++
	}
}

// What a strategy asks for when it is started, and when it is stopped, has no way out of a run that
// is stopped before it trades.
func TestWhatWasDecidedBeforeTradingIsNotSentByARunThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1, 0)
		s := &eager{}
		r.player, r.box.deaf = s, "open"
		r.begin()
		r.account.Mark(&market.Candle{Market: 1, Close: 100_00}, r.box.Now())
		took, err := r.stopAfter(3 * time.Second)
		require.NoError(t, err)
		require.Less(t, took, 5*time.Second)
		require.Empty(t, r.box.records)
		require.NoError(t, s.asked)
		require.Equal(t, 2, s.rejected)
		r.agree()
	})
}

// mover rests one bid, and with its fourth ticker moves or cancels it.
type mover struct {
	strategy.Base
	kind    market.CommandKind // 0: it does nothing
	tickers int
}

func (s *mover) OnTicker(d *strategy.Desk, t market.Ticker) {
	s.tickers++
	switch {
	case s.kind != 0 && s.tickers == 1:
		_, _ = d.In(t.Market).Buy(strategy.Amount(12500000), strategy.At(80_00))
	case s.kind == market.CommandUpdate && s.tickers == 4:
		_ = d.Update(1, strategy.At(79_00))
	case s.kind == market.CommandCancel && s.tickers == 4:
		_ = d.Cancel(1)
	}
}

// A change that was on its way when the process died, and never arrived, is known to have come to
// nothing as soon as the exchange can no longer take it, and no later.
func TestAWriteThatWasInFlightAtAKillIsInDoubtForAsLongAsItWasSigned(t *testing.T) {
	for _, kind := range []market.CommandKind{market.CommandUpdate, market.CommandCancel} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 1, 0)
			r.player = &mover{kind: kind}
			r.begin()
			time.AfterFunc(3*time.Second, func() { r.box.deafen("everything") })
			time.AfterFunc(5500*time.Millisecond, r.kill)
			require.ErrorIs(t, r.trade(1, 20*time.Second), errKilled)
			r.box.deaf = ""
			r.player = &mover{}
			r.begin()
			signed, known := r.journal.lastChance(1, kind)
			require.True(t, known)
			done := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { done <- r.loop.Run(ctx) }()
			inFlight := func() (kind market.CommandKind) {
				require.NoError(t, r.loop.Inspect(ctx, func(market.Time) { kind = r.account.Own(1).InFlight }))
				return kind
			}
			time.Sleep(signed.Sub(r.box.Now()) + time.Second)
			require.Equal(t, kind, inFlight(), "it may still arrive")
			time.Sleep(4 * time.Second)
			require.Zero(t, inFlight())
			cancel()
			require.NoError(t, <-done)
			r.agree()
		})
	}
}

// A stop that keeps orders may last longer than until the next renewal of their timers is due.
func TestATimerThatWasStoppedIsNotArmedAgainByAStopThatStillWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1, 0)
		r.player, r.box.swallow, r.box.deaf = &quoter{}, 2, "order" // whose place stays unresolved
		r.begin()
		r.loop.KeepOrders, r.loop.Groups = true, []uint16{1}
		time.AfterFunc(50*time.Second, func() { r.box.deafen("") })
		require.NoError(t, r.trade(1, 29*time.Second)) // armed for 150 s, and anew every 30
		require.NotZero(t, r.box.armed)
		require.Zero(t, r.box.timer)
	})
}

// guarded buys, with a stop, and rests bids.
type guarded struct {
	quoter
	bought bool
}

func (s *guarded) OnTicker(d *strategy.Desk, t market.Ticker) {
	if !s.bought {
		_, err := d.In(t.Market).Buy(strategy.Amount(12500000), strategy.Exits(t.Last-30_00, t.Last+40_00))
		s.bought = err == nil
	}
	s.quoter.OnTicker(d, t)
}

// A stop that keeps orders keeps none at a disk that is full.
func TestALoopWithItsLastRoomCancelsAllButTheExitsOfBracketsAndEnds(t *testing.T) {
	for _, keep := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 1, 0)
			r.player = &guarded{}
			r.begin()
			r.loop.KeepOrders = keep
			time.AfterFunc(8500*time.Millisecond, func() {
				r.journal.mu.Lock()
				defer r.journal.mu.Unlock()
				r.journal.full = ErrLastRoom
			})
			began := time.Now()
			require.ErrorIs(t, r.trade(1, time.Minute), ErrLastRoom)
			require.GreaterOrEqual(t, time.Since(began), 8*time.Second)
			require.Positive(t, r.account.Position(1, 1).Amount)
			left := r.openInTheBox()
			require.Len(t, left, 1)
			require.Equal(t, market.Sell, left[0].Side)
			require.Len(t, r.account.Open(nil, 0, 0), 1)
			require.GreaterOrEqual(t, len(r.box.records), 4, "there were bids")
		})
	}
}
