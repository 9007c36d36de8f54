package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// actor does what it is told with its first, second, third … ticker, and notes what it hears of its
// calls.
type actor struct {
	strategy.Base
	acts  []func(*strategy.Desk)
	at    int
	heard []string // "canceled", "rejected update", …
	fills int
	timer int
}

func (s *actor) OnTicker(d *strategy.Desk, _ market.Ticker) {
	if s.at < len(s.acts) && s.acts[s.at] != nil {
		s.acts[s.at](d)
	}
	s.at++
}

func (s *actor) OnOrder(_ *strategy.Desk, o market.Order, r market.Report) {
	switch {
	case r.Exec == market.ExecRejected || r.Exec == market.ExecUnknown:
		s.heard = append(s.heard, r.Exec.String()+" "+r.Command.String())
	case r.Exec != 0:
		s.heard = append(s.heard, o.Status.String())
	}
}

func (s *actor) OnFill(*strategy.Desk, market.Fill) { s.fills++ }

func (s *actor) OnTimer(*strategy.Desk, int64) { s.timer++ }

func bid(price market.Price) func(*strategy.Desk) {
	return func(d *strategy.Desk) { _, _ = d.In(1).Buy(strategy.Amount(12500000), strategy.At(price)) }
}

func move(price market.Price) func(*strategy.Desk) {
	return func(d *strategy.Desk) { _ = d.Update(1, strategy.At(price)) }
}

func cancel(d *strategy.Desk) { _ = d.Cancel(1) }

// play is a bot at work in a bubble, whose ticker stands at 100.
type play struct {
	*rig
	s    *actor
	stop context.CancelFunc
	done chan error
}

// playing lets a bot act at a box whose requests meet the fates that are told.
func playing(t *testing.T, meets func(*exchange.Intent) fate, acts ...func(*strategy.Desk)) *play {
	r := newRig(t, 1, 0)
	p := &play{rig: r, s: &actor{acts: acts}, done: make(chan error, 1)}
	r.box.meets = func(*exchange.Intent) fate { return arrives }
	if meets != nil {
		r.box.meets = meets
	}
	r.player = p.s
	r.begin()
	return p
}

func (p *play) run() {
	var ctx context.Context
	ctx, p.stop = context.WithCancel(p.t.Context())
	go func() { p.done <- p.loop.Run(ctx) }()
	synctest.Wait()
}

// tick lets seconds pass, each with a ticker.
func (p *play) tick(seconds int) {
	for range seconds {
		time.Sleep(time.Second)
		p.events <- market.Event{Kind: market.KindTicker, Ticker: &market.Ticker{Market: 1, Last: 100_00, Bid: 99_00,
			Ask: 101_00}}
		synctest.Wait()
	}
}

// end stops the bot, whatever is in the way of its orders taken out of it.
func (p *play) end() {
	p.box.mu.Lock()
	p.box.meets, p.box.hidden, p.box.deaf, p.box.slow = func(*exchange.Intent) fate { return arrives }, nil, "", 0
	p.box.mu.Unlock()
	p.stop()
	require.NoError(p.t, <-p.done)
}

// own is an order of the bot, as it is now.
func (p *play) own(id market.OrderID) (o state.Order, open bool) {
	require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) {
		if own := p.account.Own(id); own != nil {
			o, open = *own, true
		}
	}))
	return o, open
}

// first gives the first request of a kind a fate.
func first(kind market.CommandKind, becomes fate) func(*exchange.Intent) fate {
	met := false
	return func(i *exchange.Intent) fate {
		if met || i.Command != kind {
			return arrives
		}
		met = true
		return becomes
	}
}

func TestAnAbsenceTakesTwoAnswersThatLieApartAndComeAfterTheWindow(t *testing.T) {
	second := market.Time(time.Second)
	for name, c := range map[string]struct {
		asked []market.Time
		lists bool
	}{
		"one answer":             {[]market.Time{101 * second}, false},
		"too near to each other": {[]market.Time{101 * second, 103*second - 1}, false},
		"far enough":             {[]market.Time{101 * second, 103 * second}, true},
		"in time for the window": {[]market.Time{50 * second, 100 * second, 102 * second}, false},
		"the third is":           {[]market.Time{101 * second, 102 * second, 103 * second}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, nil)
			q := p.unresolvedPlace(100 * second)
			for _, asked := range c.asked {
				p.loop.receive(q, &reply{from: fromQuery, asked: asked, err: exchange.ErrCode(exchange.CodeNotFound)})
			}
			require.Equal(t, c.lists, q.lists, name)
			require.Equal(t, placeUnresolved, q.outcome(p.account.Known(1)), name)
		})
	}
}

// The answer to a place comes late, is lost, or denies what the exchange has done: the query that
// finds the order a second later counts, and the answer to the place doubles nothing.
func TestAQueryThatFindsAnOrderDoesNotWaitForTheAnswerToItsPlace(t *testing.T) {
	for name, act := range map[string]func(*strategy.Desk){"rests": bid(80_00), "fills": buyAtMarket} {
		for late, becomes := range map[string]fate{"comes": arrives, "is lost": goesUnheard, "denies": isDenied} {
			for _, socket := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					why := fmt.Sprintf("%s, its answer %s, over a socket: %t", name, late, socket)
					aside := 0
					p := playing(t, first(market.CommandPlace, becomes), act)
					p.loop.SetAside = func(time.Duration) { aside++ }
					if socket {
						p.overSocket(nil)
					}
					p.box.mu.Lock()
					p.box.tardy = 15 * time.Second
					p.box.mu.Unlock()
					p.run()
					p.tick(4)
					require.NotContains(t, p.s.heard, "unknown place", why)
					require.Equal(t, p.naive(), p.books(), why)
					own, open := p.own(1)
					require.Equal(t, name == "rests", open && own.InFlight == 0, why)
					p.box.mu.Lock()
					p.box.tardy = 0
					p.box.mu.Unlock()
					p.tick(30)
					require.Equal(t, p.naive(), p.books(), why)
					require.Equal(t, name == "fills", p.s.fills == 1, why)
					require.NotContains(t, strings.Join(p.s.heard, ", "), "rejected", why)
					require.Equal(t, late == "denies", aside == 1, why)
					p.end()
					p.agree()
				})
			}
		}
	}
}

// unresolvedPlace is the query of an order whose place the exchange may take until a time.
func (p *play) unresolvedPlace(until market.Time) *query {
	o := market.Order{ID: 1, ClientOrderID: uuid.UUID{1}, Market: 1, Strategy: 1, Side: market.Buy,
		Type: market.TypeLimit, OrderState: market.OrderState{Amount: 8, Price: 1}}
	p.account.Send(&o, 0)
	q := p.loop.queryOf(1)
	q.unresolved = &unresolved{outcome: placeUnresolved, command: market.Command{Kind: market.CommandPlace, Order: o},
		until: until}
	return q
}

func TestAWriteIsUnresolvedForTheWindowAndTheMargin(t *testing.T) {
	l := &Loop{Config: Config{Margin: 2 * time.Second}}
	u := l.unresolvedBy(&outgoing{intent: exchange.Intent{Timestamp: 5_000, Window: 10_000}}, 7, placeUnresolved)
	require.Equal(t, market.Time(17*time.Second), u.until)
}

// GET /order answers wrongly that there is no such order; one of the lists has it.
func TestAnOrderThatAListKnowsIsNotTakenForAbsent(t *testing.T) {
	for list, price := range map[string]market.Price{"open": 80_00, "trades": 101_00} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, first(market.CommandPlace, goesUnheard), bid(price))
			p.box.hide("order")
			p.run()
			p.tick(60)
			o, open := p.own(1)
			require.True(t, open, list)
			require.Equal(t, state.Unknown, o.State, list)
			require.Equal(t, []string{"unknown place"}, p.s.heard)
			p.box.hide()
			p.tick(10)
			o, open = p.own(1)
			require.Equal(t, list == "open", open)
			p.end()
			p.agree()
		})
	}
}

// Queries and lists say that an order is absent, and then it is open all the same.
func TestAnOrderThatWasTakenForAbsentAndIsOpenIsOursAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, first(market.CommandPlace, goesUnheard), bid(80_00))
		p.box.hide("order", "open", "trades")
		p.run()
		p.tick(40)
		_, open := p.own(1)
		require.False(t, open)
		require.Equal(t, []string{"unknown place", "rejected place"}, p.s.heard)
		p.box.hide()
		p.tick(70) // with the next list
		_, open = p.own(1)
		require.True(t, open)
		require.NotContains(t, p.journal.remarks, "foreign orders: 1")
		p.end()
		p.agree()
	})
}

// The process that sent the place has died; the next one takes the order for absent, and then it is
// open all the same.
func TestAnOrderOfTheLastProcessThatWasTakenForAbsentIsOursAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, first(market.CommandPlace, goesUnheard), bid(80_00))
		p.box.slow = time.Hour
		time.AfterFunc(1003*time.Millisecond, p.kill) // the place has left, and has no answer yet
		require.ErrorIs(t, p.trade(1, 20*time.Second), errKilled)
		p.box.hide("order", "open", "trades")
		p.box.slow = 0
		p.s = &actor{}
		p.player = p.s
		p.begin()
		p.run()
		p.tick(40)
		_, open := p.own(1)
		require.False(t, open)
		p.box.hide()
		p.tick(70)
		_, open = p.own(1)
		require.True(t, open)
		p.end()
		p.agree()
	})
}

func TestAChangeWhoseAnswerIsLostIsWhatTheExchangeMadeOfIt(t *testing.T) {
	for becomes, want := range map[fate]struct {
		price market.Price
		heard []string
	}{
		isLost:      {80_00, []string{"new", "unknown update", "new", "rejected update"}},
		goesUnheard: {79_00, []string{"new", "unknown update", "new"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, first(market.CommandUpdate, becomes), bid(80_00), nil, move(79_00))
			p.run()
			p.tick(8)
			o, _ := p.own(1)
			require.Equal(t, becomes == goesUnheard, o.InFlight == 0, "what is lost may still arrive")
			p.tick(20)
			o, _ = p.own(1)
			require.Zero(t, o.InFlight)
			require.Equal(t, want.price, o.Price)
			require.Equal(t, want.heard, slices.Compact(p.s.heard))
			p.end()
			p.agree()
		})
	}
}

// An answer that was asked for before the change tells of the price that the change wants, because
// the order had it then.
func TestAnAnswerThatIsOlderThanAChangeSaysNothingOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		updates := 0
		p := playing(t, func(i *exchange.Intent) fate {
			if i.Command == market.CommandUpdate {
				if updates++; updates == 2 {
					return isLost
				}
			}
			return arrives
		}, bid(80_00), nil, nil, move(79_00), move(80_00))
		p.run()
		p.tick(2)
		p.box.mu.Lock()
		p.box.slow = 4 * time.Second
		p.box.mu.Unlock()
		p.tick(6)
		o, _ := p.own(1)
		require.Equal(t, market.CommandUpdate, o.InFlight)
		p.tick(30)
		o, _ = p.own(1)
		require.Zero(t, o.InFlight)
		require.Equal(t, market.Price(79_00), o.Price)
		p.end()
		p.agree()
	})
}

func TestEveryTermOfAChangeHasToShow(t *testing.T) {
	whole := market.Order{OrderState: market.OrderState{Amount: 5, AmountQuote: 6, Price: 7, TriggerAmount: 8,
		TimeInForce: market.GTC, SelfTradePrevention: market.CancelBoth}}
	for change, other := range map[market.Change]market.Order{
		market.ChangeAmount:              {OrderState: market.OrderState{Amount: 4}},
		market.ChangeAmountQuote:         {OrderState: market.OrderState{AmountQuote: 4}},
		market.ChangeAmountRemaining:     {OrderState: market.OrderState{Amount: 4}},
		market.ChangePrice:               {OrderState: market.OrderState{Price: 4}},
		market.ChangeTriggerAmount:       {OrderState: market.OrderState{TriggerAmount: 4}},
		market.ChangeTimeInForce:         {OrderState: market.OrderState{TimeInForce: market.IOC}},
		market.ChangePostOnly:            {OrderState: market.OrderState{PostOnly: true}},
		market.ChangeSelfTradePrevention: {OrderState: market.OrderState{SelfTradePrevention: market.CancelOldest}},
	} {
		c := market.Command{Order: whole, Changed: change}
		require.True(t, shows(&whole, &c), change)
		require.False(t, shows(&other, &c), change)
	}
	filled := whole
	filled.AmountRemaining = 1
	require.True(t, shows(&filled, &market.Command{Order: whole, Changed: market.ChangeAmountRemaining}),
		"it has filled since")
}

// The exchange says that it cancels, and does not.
func TestACancelThatWasAcceptedAndCameToNothingIsToldAsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, first(market.CommandCancel, isFeigned), bid(80_00), nil, cancel)
		p.run()
		p.tick(10)
		o, _ := p.own(1)
		require.Equal(t, market.CommandCancel, o.InFlight)
		p.tick(15)
		o, _ = p.own(1)
		require.Zero(t, o.InFlight)
		require.Equal(t, []string{"new", "rejected cancel"}, slices.Compact(p.s.heard))
		p.end()
		p.agree()
	})
}

// Nothing is pushed: the strategy cancels what has filled meanwhile.
func TestACancelOfWhatHasFilledFindsTheFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acts := make([]func(*strategy.Desk), 40)
		acts[0], acts[35] = bid(90_00), cancel
		p := playing(t, nil, acts...)
		p.run()
		p.tick(34) // it is queried every half minute by now
		p.box.move(85_00)
		p.tick(4)
		_, open := p.own(1)
		require.False(t, open)
		require.Equal(t, 1, p.s.fills)
		p.end()
		p.agree()
	})
}

func TestACommandThatCannotBeWrittenIsToldAsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.box.prepared = errors.New("no such market")
		p.run()
		p.tick(3)
		require.Equal(t, []string{"rejected place"}, p.s.heard)
		p.box.prepared = nil
		p.end()
		p.agree()
	})
}

func TestTimeDoesNotGoBackWithTheExchangesClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.run()
		p.tick(3)
		var before market.Time
		require.NoError(t, p.loop.Inspect(t.Context(), func(at market.Time) { before = at }))
		p.box.mu.Lock()
		p.box.shift = -time.Minute
		p.box.mu.Unlock()
		p.tick(3)
		require.NoError(t, p.loop.Inspect(t.Context(), func(at market.Time) { require.Equal(t, before, at) }))
		require.Equal(t, 6, p.s.at)
		p.end()
		p.agree()
	})
}

func TestNoTimerRingsInABotThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, first(market.CommandPlace, isLost), func(d *strategy.Desk) {
			bid(80_00)(d)
			d.Timer(d.Now().Add(4*time.Second), 1)
		})
		p.run()
		p.tick(2)
		p.stop()
		require.NoError(t, <-p.done)
		require.Zero(t, p.s.timer)
		p.agree()
	})
}

// What the last process left is not there any more when it is asked for by itself; its fills are.
func TestFillsOfAnOrderThatTheExchangeHasForgottenAreBookedFromTheTrades(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(90_00))
		time.AfterFunc(5500*time.Millisecond, p.kill)
		require.ErrorIs(t, p.trade(1, 20*time.Second), errKilled)
		p.box.move(85_00)
		p.box.hide("order")
		p.s = &actor{}
		p.player = p.s
		p.begin()
		p.run()
		p.tick(2)
		require.Equal(t, 1, p.s.fills)
		require.Contains(t, p.journal.remarks, "missing: order 1")
		p.end()
	})
}

func TestAWriteOfAnUnknownWindowIsUnresolvedForTheLongestWindow(t *testing.T) {
	l := &Loop{clock: clock{now: market.Time(time.Hour)}}
	require.Equal(t, l.now.Add(time.Minute), l.lastChance(&state.Order{InFlight: market.CommandCancel}))
	placed := &state.Order{InFlight: market.CommandPlace, Order: market.Order{Created: market.Time(time.Minute)}}
	require.Equal(t, market.Time(2*time.Minute), l.lastChance(placed), "a place is as old as its order")
}

// Orders that rest are queried seldom; the list tells which have changed.
func TestAListQueriesTheOrdersOfWhichItTellsSomethingNew(t *testing.T) {
	name := uuid.UUID{1}
	there := func(change func(*market.Order)) []exchange.WireOrder {
		o := market.Order{ClientOrderID: name, OrderState: market.OrderState{Status: market.StatusNew, Amount: 8}}
		change(&o)
		return []exchange.WireOrder{{Order: o}}
	}
	for what, c := range map[string]struct {
		listed []exchange.WireOrder
		asked  market.Time
		soon   bool
	}{
		"as it was":        {there(func(*market.Order) {}), 100, false},
		"filled in part":   {there(func(o *market.Order) { o.FilledAmount = 3 }), 100, true},
		"another status":   {there(func(o *market.Order) { o.Status = market.StatusPartiallyFilled }), 100, true},
		"another amount":   {there(func(o *market.Order) { o.Amount = 7 }), 100, true},
		"not there":        {nil, 100, true},
		"an older answer":  {nil, 50, false},
		"as old as it was": {nil, 60, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, nil)
			own := p.account.Send(&market.Order{ID: 1, ClientOrderID: name, Market: 1, Strategy: 1, Side: market.Buy,
				Type: market.TypeLimit, OrderState: market.OrderState{Amount: 8}}, 0)
			own.InFlight, own.Status, own.Updated, own.State = 0, market.StatusNew, 60, state.Open
			p.loop.now = 100
			q := p.loop.queryOf(1)
			q.at(1000)
			q.wait = lastWait
			p.loop.open.compare(t.Context(), c.asked, c.listed, nil)
			require.Equal(t, c.soon, q.next == 100, what)
			require.Zero(t, p.loop.Foreign())
		})
	}
}

func TestOrdersOfOthersAreCountedOneByOneAndOwnOnesThatHaveEndedAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00), nil, cancel)
		p.run()
		p.tick(5)
		own := p.box.leaves[0].ClientOrderID
		require.NoError(t, p.loop.Inspect(t.Context(), func(at market.Time) {
			stranger := exchange.WireOrder{Order: market.Order{ClientOrderID: uuid.UUID{9}}}
			nameless := exchange.WireOrder{} // by hand: they have no client order id
			p.loop.open.compare(t.Context(), at,
				[]exchange.WireOrder{stranger, nameless, nameless, {Order: market.Order{ClientOrderID: own}}}, nil)
		}))
		require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) { require.Equal(t, 3, p.loop.Foreign()) }))
		require.True(t, slices.Contains(p.journal.remarks, "foreign orders: 3"))
		p.end()
		p.agree()
	})
}

func TestAStartReportsOrdersOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil)
		p.box.strangers = []exchange.WireOrder{{Order: market.Order{ClientOrderID: uuid.UUID{9}}}}
		p.run()
		p.tick(1)
		require.Equal(t, []string{"foreign orders: 1"}, p.journal.remarks)
		p.end()
	})
}

// GET /order and the lists say for a while that nothing is there: an order that was taken is not
// given up by that, whatever is unresolved.
func TestAnOrderThatTheExchangeHadTakenIsNeverTakenForAbsent(t *testing.T) {
	for _, act := range []func(*strategy.Desk){cancel, move(79_00)} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, func(i *exchange.Intent) fate {
				if i.Command == market.CommandPlace {
					return arrives
				}
				return isLost
			}, bid(80_00), nil, act)
			p.run()
			p.tick(3)
			p.box.hide("order", "open", "trades")
			p.tick(60)
			o, open := p.own(1)
			require.True(t, open)
			require.NotZero(t, o.InFlight, "what became of the change is not known either")
			require.Contains(t, p.journal.remarks, "missing: order 1")
			p.box.hide()
			p.tick(65)
			o, open = p.own(1)
			require.True(t, open)
			require.Zero(t, o.InFlight)
			p.end()
			p.agree()
		})
	}
}

// A cancel is resolved once its order has ended, though the order's last fee is not settled yet.
func TestAWriteIsResolvedWithTheEndOfItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil)
		p.loop.stamp()
		o := market.Order{ID: 1, ClientOrderID: uuid.UUID{1}, Market: 1, Strategy: 1, Side: market.Buy,
			Type: market.TypeLimit, OrderState: market.OrderState{Amount: 8, Price: 1}}
		p.account.Send(&o, 0)
		q := p.loop.queryOf(1)
		q.unresolved = &unresolved{outcome: cancelUnresolved,
			command: market.Command{Kind: market.CommandCancel, Order: o}, until: p.loop.now.Add(time.Minute)}
		o.Status, o.FilledAmount, o.AmountRemaining, o.Updated = market.StatusCanceled, 4, 4, p.loop.now
		fill := market.Fill{ID: uuid.UUID{2}, Market: 1, Amount: 4, Price: 1, Time: p.loop.now}
		p.loop.verify = believe
		p.loop.receive(q, &reply{from: fromQuery, asked: p.loop.now,
			record: &exchange.WireOrder{Order: o, Fills: []market.Fill{fill}}})
		require.NotNil(t, p.account.Known(1), "its fee is waited for")
		require.True(t, p.loop.quiet())
	})
}
