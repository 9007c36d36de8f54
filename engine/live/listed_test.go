package live

import (
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// fooled is a bot whose books have ended order 1, a bid of 80: the exchange once said so, and
// a list lacked it. There it rests on. memory is what a state file would still have of it.
func fooled(t *testing.T, acts ...func(*strategy.Desk)) *play {
	p := playing(t, nil, append([]func(*strategy.Desk){bid(80_00)}, acts...)...)
	var memory *state.Order
	p.loop.Ended = func(client uuid.UUID) *state.Order {
		if memory != nil && memory.ClientOrderID == client {
			return state.EndedOrder(state.Order{Order: memory.Order, State: memory.State, Reported: true}, nil)
		}
		return nil
	}
	p.run()
	p.tick(2)
	require.NoError(t, p.loop.Inspect(t.Context(), func(at market.Time) {
		own := p.account.Own(1)
		lie := own.Order
		lie.Status, lie.Updated, lie.OnHold = market.StatusCanceled, at, 0
		p.loop.open.evidence = evidence{asked: at + 1}
		p.loop.receive(p.loop.queryOf(1), &reply{from: fromQuery, asked: at, record: &exchange.WireOrder{Order: lie}})
		copied := state.Order{Order: lie, State: state.Canceled}
		memory = &copied
	}))
	require.Nil(t, p.account.Known(1), "the books have forgotten it")
	require.Len(t, p.openInTheBox(), 1)
	return p
}

func TestAnOrderThatTwoListsShowOpenAfterItsEndIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fooled(t)
		p.tick(70)
		o, open := p.own(1)
		require.True(t, open)
		require.Equal(t, state.Open, o.State)
		require.Equal(t, 1, p.account.OpenBy(1), "max_open_orders counts it")
		require.Positive(t, p.account.Total(1).Held, "its funds are held")
		require.Equal(t, []string{"open after its end: order 1"}, p.journal.remarks)
		require.NoError(t, p.loop.Inspect(t.Context(),
			func(market.Time) { require.NoError(t, p.account.Check()); require.Zero(t, p.loop.Foreign()) }))
		p.end()
		p.agree()
	})
}

// The limit is twelve open orders: with the order back in the books there is room for eleven
// others.
func TestTheLimitOnOpenOrdersBindsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused *risk.Refusal
		acts := make([]func(*strategy.Desk), 75)
		acts[2] = func(d *strategy.Desk) {
			for range 11 {
				bid(70_00)(d)
			}
		}
		acts[74] = func(d *strategy.Desk) {
			_, err := d.In(1).Buy(strategy.Amount(12500000), strategy.At(79_00))
			as(err, &refused)
		}
		p := fooled(t, acts...)
		p.tick(80)
		require.NotNil(t, refused)
		require.Equal(t, risk.ReasonMaxOpenOrders, refused.Reason)
		p.end()
		p.agree()
	})
}

func TestOneListIsNotEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fooled(t)
		p.tick(59)
		p.box.hide("open")
		p.tick(10)
		_, open := p.own(1)
		require.False(t, open)
		require.Empty(t, p.journal.remarks)
		p.box.hide()
		p.tick(70)
		_, open = p.own(1)
		require.True(t, open)
		p.end()
		p.agree()
	})
}

// What it filled between its end in the books and its end at the exchange is booked.
func TestFillsAfterTheEndInTheBooksAreBooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fooled(t)
		p.box.deafen("order")
		p.tick(68)
		require.Contains(t, p.journal.remarks, "open after its end: order 1")
		p.box.move(70_00)
		p.box.deafen("")
		p.tick(5)
		_, open := p.own(1)
		require.False(t, open)
		require.Equal(t, 1, p.s.fills)
		p.end()
		p.agree()
	})
}

// No list has shown it open before it filled. The balances differ, and the trades have the fill.
func TestAFillThatNoListAnnouncedIsBooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fooled(t)
		p.box.move(70_00)
		p.tick(3 * 60)
		require.Contains(t, p.journal.remarks, "filled after its end: order 1")
		require.NotContains(t, p.journal.remarks, "open after its end: order 1")
		require.Equal(t, 1, p.s.fills)
		require.Positive(t, p.account.Position(1, 1).Amount)
		_, open := p.own(1)
		require.False(t, open)
		p.end()
		p.agree()
	})
}

// The books cannot take the order back: it is cancelled. Where it goes on being listed, all
// strategies halt.
func TestAnOrderThatCannotBeTakenBackIsCancelledOrHalts(t *testing.T) {
	for _, becomes := range []fate{arrives, isFeigned} {
		synctest.Test(t, func(t *testing.T) {
			p := fooled(t)
			p.box.mu.Lock()
			p.box.meets = func(i *exchange.Intent) fate { return becomes }
			p.box.mu.Unlock()
			p.loop.verify = func(_ *state.Order, r *reply) (string, bool) {
				return "amount 8 is 9",
					r.from != fromQuery
			}
			p.tick(140)
			require.Equal(t, becomes != arrives, len(p.openInTheBox()) == 1)
			p.tick(180)
			var halted bool
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) { _, halted = p.loop.Engine.Halted(1) }))
			require.Equal(t, becomes != arrives, halted)
			cancels := 0
			for i := range p.box.leaves {
				if p.box.leaves[i].Command == market.CommandCancel {
					cancels++
				}
			}
			require.Positive(t, cancels)
			require.LessOrEqual(t, cancels, 4)
			p.stop()
			if failed := <-p.done; becomes == arrives {
				require.NoError(t, failed)
			} else {
				require.ErrorContains(t, failed, unproven, "the exchange lists it")
			}
		})
	}
}
