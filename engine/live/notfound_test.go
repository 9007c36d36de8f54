package live

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// quoted is a rig that trades three bids; tick lets a second go by.
func quoted(t *testing.T) (r *rig, log *bytes.Buffer, tick func(n int), stop func() error) {
	r, log = newRig(t, 1, 0), new(bytes.Buffer)
	r.player = &quoter{}
	r.begin()
	r.loop.Log = zerolog.New(log).Level(zerolog.InfoLevel)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.loop.Run(ctx) }()
	tick = func(n int) {
		for range n {
			time.Sleep(time.Second)
			r.events <- market.Event{Kind: market.KindTicker,
				Ticker: &market.Ticker{Market: 1, Last: 100_00, Bid: 99_00, Ask: 101_00}}
			synctest.Wait()
		}
	}
	tick(5)
	require.Len(t, r.openInTheBox(), 3)
	return r, log, tick, func() error {
		cancel()
		return <-done
	}
}

// forget lets the exchange no longer find an order.
func (r *rig) forget(id uuid.UUID, listed bool) {
	r.box.mu.Lock()
	defer r.box.mu.Unlock()
	r.box.forgotten, r.box.listed = id, listed
}

func TestAnOrderThatTheExchangeNeitherFindsNorListsHasEndedWithWhatItsTradesTell(t *testing.T) {
	for _, filled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r, log, tick, stop := quoted(t)
			hidden := r.account.Open(nil, 0, 0)[1]
			name, id := hidden.ClientOrderID, hidden.ID
			r.forget(name, false)
			if filled {
				r.box.move(70_00)
				r.box.move(100_00)
			} else {
				r.box.mu.Lock()
				refused, err := r.box.venue.Submit(0, boxNow(),
					&market.Command{Kind: market.CommandCancel, Order: market.Order{ID: r.box.ids[name], Market: 1}})
				r.box.mu.Unlock()
				require.NoError(t, err)
				require.Nil(t, refused)
			}
			tick(290)
			require.NotNil(t, r.account.Own(id), "not yet: five minutes of 240s come first")
			tick(110)
			require.Nil(t, r.account.Own(id))
			require.Equal(t, 1, strings.Count(log.String(), "the exchange does not know an order that it had taken"),
				log)
			require.Equal(t, 1, strings.Count(log.String(), "that the exchange neither finds nor lists"), log)
			r.forget(uuid.Nil, false)
			require.NoError(t, stop())
			r.agree()
		})
	}
}

func TestAnOrderThatTheExchangeListsAndDoesNotFindStaysOpenAndIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, log, tick, stop := quoted(t)
		hidden := r.account.Open(nil, 0, 0)[1]
		r.forget(hidden.ClientOrderID, true)
		// it answers 240
		require.NoError(t, r.loop.Do(t.Context(),
			func(at market.Time) []market.Command {
				return r.loop.Engine.Enter(&market.Input{Kind: market.InputCancelAll, At: at}).Commands
			}))
		tick(420)
		require.NotNil(t, r.account.Own(hidden.ID))
		require.Equal(t, 1, strings.Count(log.String(), "the exchange does not know an order that it had taken"), log)
		require.Equal(t, 1, strings.Count(log.String(), "lists an order as open that it does not find"), log)
		require.Equal(t, []string{"missing: " + orderText(hidden.ID)}, r.journal.remarks)
		r.forget(uuid.Nil, false)
		require.NoError(t, stop())
		r.agree()
	})
}

// unresolvedPlaces is a bot with n places that never arrived, whose windows are over at 12 s.
func unresolvedPlaces(t *testing.T, n int) *play {
	meets := func(i *exchange.Intent) fate {
		if i.Command == market.CommandPlace {
			return isLost
		}
		return arrives
	}
	r := newRig(t, 1, 0)
	r.limits = &risk.Limits{OperatorID: 7, MaxOpenOrders: 50}
	p := &play{rig: r, s: &actor{acts: []func(*strategy.Desk){func(d *strategy.Desk) {
		for range n {
			_, _ = d.In(1).Buy(strategy.Amount(12500000), strategy.At(80_00))
		}
	}}}, done: make(chan error, 1)}
	r.box.meets, r.player = meets, p.s
	r.begin()
	p.loop.OpenEvery = time.Hour
	p.run()
	p.tick(1)
	require.Len(t, p.account.Open(nil, 0, 0), n)
	return p
}

func TestAnAbsenceIsProvenByTheListsOfTheMarket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := unresolvedPlaces(t, 3)
		p.tick(30)
		require.Empty(t, p.account.Open(nil, 0, 0))
		require.Equal(t, 3, p.box.cheap)
		require.Equal(t, 1, p.box.listings-p.box.cheap, "the list of all markets at the start alone")
		p.end()
		p.agree()
	})
}

func TestManyAbsencesAreProvenByOneListOfAllMarkets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := unresolvedPlaces(t, 30)
		p.tick(60)
		require.Empty(t, p.account.Open(nil, 0, 0))
		require.Less(t, (p.box.listings-p.box.cheap-1)*allListWeight+p.box.cheap*listWeight, 30*listWeight,
			"points for lists")
		p.end()
		p.agree()
	})
}

// The lists fail again and again: nothing is concluded, and they are not asked in a hurry.
func TestAbsencesWaitForListsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := unresolvedPlaces(t, 30)
		p.box.deafen("open")
		p.tick(60)
		require.Len(t, p.account.Open(nil, 0, 0), 30)
		p.box.deafen("")
		p.tick(60)
		require.Empty(t, p.account.Open(nil, 0, 0))
		p.end()
		p.agree()
	})
}

func TestTheListOfEachMinuteCountsWhereItWasAskedLateEnough(t *testing.T) {
	asked := market.Time(50)
	place := &query{notFoundSince: 50, listsSince: 52}
	require.True(t, (&evidence{asked: asked}).counts(place, placeUnresolved))
	require.False(t, (&evidence{asked: asked - 1}).counts(place, placeUnresolved))
	require.False(t, (&evidence{}).counts(&query{}, placeUnresolved), "there was no list yet")
	require.False(t, (&evidence{asked: asked}).counts(place, resolved),
		"of an order that the exchange had taken the last 240 matters")
	require.True(t, (&evidence{asked: 52}).counts(place, resolved))

	synctest.Test(t, func(t *testing.T) {
		p := unresolvedPlaces(t, 1)
		p.tick(13) // one 240 after the window, the second comes within two seconds
		require.NoError(t, p.loop.Do(t.Context(),
			func(market.Time) []market.Command { p.loop.open.next = 0; return nil }))
		p.tick(8)
		require.Empty(t, p.account.Open(nil, 0, 0))
		require.Zero(t, p.box.cheap)
		p.end()
		p.agree()
	})
}

func TestAStopThatCannotSendItsCancelsSaysSoOnceAnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, log, _, stop := quoted(t)
		back := time.Now().Add(20 * time.Second)
		r.box.mu.Lock()
		r.box.meets = func(*exchange.Intent) fate {
			if time.Now().Before(back) {
				return isUnsent
			}
			return arrives
		}
		r.box.mu.Unlock()
		require.NoError(t, stop())
		require.Equal(t, 3, strings.Count(log.String(), "a command could not be sent"), log)
		require.NotContains(t, log.String(), "the exchange refused a command")
		r.agree()
	})
}
