package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// An exchange takes one timer an account: that of the first group is renewed, the second group is
// named until the exchange takes it.
func TestEachTimerThatIsArmedIsRenewedAndARefusedGroupIsNotGuarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.loop.Groups, p.box.oneTimer = []uint16{1, 2}, true
		p.run()
		for range 20 {
			p.tick(10)
			require.Equal(t, map[uint16]time.Duration{1: 150 * time.Second}, p.box.timers)
		}
		require.GreaterOrEqual(t, p.box.armed, 6, "it is renewed each 30 s")
		list := p.notGuarded()
		require.Len(t, list, 1)
		require.EqualValues(t, 2, list[0].Group)
		require.Contains(t, list[0].Cause, "the exchange refuses its timer")
		require.Len(t, p.journal.remarks, 1, "it is said once")
		require.Contains(t, p.journal.remarks[0], "group 2 is not guarded")
		p.box.mu.Lock()
		p.box.oneTimer = false
		p.box.mu.Unlock()
		p.tick(31)
		require.Len(t, p.box.timers, 2, "a refused group is asked for again")
		require.Empty(t, p.notGuarded())
		p.end()
		p.agree()
	})
}

// An earlier run had groups that the config has no more. Their timers would end the orders that
// rest, and hold the place of the new one.
func TestTimersOfGroupsThatAnEarlierRunHadAreStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.box.timers, p.box.oneTimer = map[uint16]time.Duration{7: 150 * time.Second}, true
		p.loop.Groups, p.loop.FormerGroups = []uint16{1}, []uint16{7}
		p.run()
		p.tick(5)
		require.Equal(t, map[uint16]time.Duration{1: 150 * time.Second}, p.box.timers)
		require.Empty(t, p.journal.remarks)
		p.end()
	})
}

func TestAStopThatKeepsOrdersStopsEveryTimerThatMayRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.loop.Groups, p.loop.KeepOrders = []uint16{1, 2, 3}, true
		p.run()
		p.tick(5)
		require.Len(t, p.box.timers, 3)
		p.end()
		require.Empty(t, p.box.timers)
		require.Len(t, p.openInTheBox(), 1)
	})
}

// notGuarded asks the loop.
func (p *play) notGuarded() (list []NotGuarded) {
	require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) { list = p.loop.NotGuarded() }))
	return list
}

// Another program trades on the account, with the same group.
func TestAGroupThatOrdersOfOthersCarryIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.loop.Groups, p.loop.OpenEvery = []uint16{1, 2}, 10*time.Second
		stranger := exchange.WireOrder{Order: market.Order{ClientOrderID: uuid.New(), Market: 1, CodGroupID: 2}}
		p.box.strangers = []exchange.WireOrder{stranger}
		p.run()
		p.tick(15)
		list := p.notGuarded()
		require.Len(t, list, 1)
		require.EqualValues(t, 2, list[0].Group)
		require.Contains(t, list[0].Cause, "1 orders of another program carry it")
		p.box.mu.Lock()
		p.box.strangers = nil
		p.box.mu.Unlock()
		p.tick(15)
		require.Empty(t, p.notGuarded())
		p.end()
	})
}
