package live

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// resting is a bot with a channel that is up, and with one bid at 80, of which the next events are
// kept.
func resting(t *testing.T) *play {
	p := playing(t, nil, bid(80_00))
	p.box.teller = &teller{box: p.box.box, chance: rand.New(rand.NewPCG(1, 1))}
	p.begin()
	p.run()
	p.box.teller.set(true)
	p.tick(1)
	time.Sleep(500 * time.Millisecond)
	p.box.mu.Lock()
	p.box.teller.keeping = true
	p.box.mu.Unlock()
	return p
}

// kept are the notices that were kept, with their place.
func (p *play) kept(kind exchange.NoticeKind) (places []int) {
	p.box.mu.Lock()
	defer p.box.mu.Unlock()
	for i := range p.box.teller.keep {
		if p.box.teller.keep[i].Kind == kind {
			places = append(places, i)
		}
	}
	return places
}

// A fill that an event tells of is booked when the exchange has confirmed it, and once.
func TestAFillOfAnEventIsBookedWhenTheExchangeConfirmsIt(t *testing.T) {
	for _, kinds := range [][]exchange.NoticeKind{{exchange.NoticeOrder}, {exchange.NoticeFill},
		{exchange.NoticeFill, exchange.NoticeOrder}} {
		synctest.Test(t, func(t *testing.T) {
			p := resting(t)
			p.box.deafen("order")
			p.box.move(79_00)
			var places []int
			for _, kind := range kinds {
				places = append(places, p.kept(kind)...)
			}
			p.tellAll(places)
			p.tick(5)
			require.Zero(t, p.books().position, "the exchange has not said so")
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
				require.False(t, p.loop.quiet(), "no balance is compared meanwhile")
			}))
			p.box.deafen("")
			p.tick(8)
			require.Equal(t, p.naive(), p.books())
			require.Equal(t, 1, p.s.fills)
			require.Equal(t, slices.Contains(kinds, exchange.NoticeOrder), p.up(), "no event is missing")
			p.end()
			p.agree()
		})
	}
}

// A fill is asked for at once, and so are the next three of the order; further ones no more than
// once a second.
func TestFillsOfEventsAreAskedForAtOnceThenOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		p.box.move(79_00)
		p.tellAll(p.kept(exchange.NoticeFill))
		time.Sleep(20 * time.Millisecond)
		require.Equal(t, p.naive(), p.books())
		p.end()
		p.agree()
	})
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		require.NoError(t, p.loop.Do(t.Context(), func(at market.Time) []market.Command {
			q := p.loop.queries.of[1]
			for i := range 20 {
				q.doubt(&doubt{told: at}, at)
				require.Equal(t, at.Add(time.Duration(max(0, i-doubtsAtOnce+1))*time.Second), q.next)
				q.doubts = max(q.doubts, at).Add(firstWait) // it is asked for
			}
			at = at.Add(time.Minute)
			q.doubt(&doubt{told: at}, at)
			require.Equal(t, at, q.next)
			q.doubted = nil
			return nil
		}))
		p.end()
		p.agree()
	})
}

// What an event tells while the order is asked for already is asked for when that is answered.
func TestAFillThatComesDuringAQueryIsAskedForAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		p.box.mu.Lock()
		p.box.slow = 100 * time.Millisecond
		p.box.mu.Unlock()
		first := orderEvent(func(o *market.Order) { o.Status, o.FilledAmount = market.StatusPartiallyFilled, 1 })
		own, _ := p.known(1)
		for _, n := range first(&own.Order) { // before the exchange has it: an old copy, as far as is known
			p.box.teller.to <- n
		}
		time.Sleep(50 * time.Millisecond)
		p.box.move(79_00)
		p.tellAll(p.kept(exchange.NoticeFill))
		time.Sleep(250 * time.Millisecond)
		fills := 0
		require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) { fills = p.s.fills }))
		require.Equal(t, 1, fills)
		p.end()
		p.agree()
	})
}

// known is an order of which the account expects something.
func (p *play) known(id market.OrderID) (o state.Order, known bool) {
	require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) {
		if own := p.account.Known(id); own != nil {
			o, known = *own, true
		}
	}))
	return o, known
}

// While the channel is up, lists and balances are asked for each five minutes, and a resting order
// as seldom; once it is down, as often as without it.
func TestListsAreRarerWhileTheChannelIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		p.tick(60)
		before := p.listings()
		p.tick(600)
		require.Equal(t, 2, p.listings()-before)
		p.box.teller.set(false)
		p.tick(2)
		before = p.listings()
		p.tick(600)
		require.Equal(t, 10, p.listings()-before)
		p.tick(40)
		before = p.listings()
		p.box.teller.set(true)
		p.tick(1)
		require.Equal(t, 1, p.listings()-before, "at a reconnect the state is asked for as at a start")
		p.end()
		p.agree()
	})
}

func (p *play) listings() int {
	p.box.mu.Lock()
	defer p.box.mu.Unlock()
	return p.box.listings
}

// The exchange takes an order and the channel tells nothing of it: it is not trusted until it
// speaks again, and is connected anew.
func TestAChannelThatTellsNothingIsConnectedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, nil, nil, bid(80_00), bid(79_00), nil, nil, nil, nil, nil, nil, nil, nil, bid(78_00))
		p.box.teller = &teller{box: p.box.box, chance: rand.New(rand.NewPCG(1, 1)), silent: true}
		p.begin()
		muted := 0
		p.loop.Muted = func() { muted++ }
		p.run()
		p.box.teller.set(true)
		p.tick(7)
		require.Zero(t, muted)
		require.True(t, p.up())
		p.tick(2)
		require.Equal(t, 1, muted)
		require.False(t, p.up())
		p.box.teller.set(false)
		p.tick(1)
		p.box.teller.set(true)
		p.tick(1)
		require.False(t, p.up(), "an acknowledgement alone proves nothing")
		p.box.teller.hush(false)
		p.tick(3)
		require.True(t, p.up(), "it has told of the third order")
		require.Equal(t, 1, muted)
		p.end()
		p.agree()
	})
}

// up reports whether the loop trusts the account channel.
func (p *play) up() (up bool) {
	require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) { up = p.loop.channel.up }))
	return up
}

// GET /order and the lists say that an order is absent, again and again; an event has shown it.
func TestAnEventEndsAProofOfAbsence(t *testing.T) {
	for _, kind := range []exchange.NoticeKind{exchange.NoticeOrder, exchange.NoticeFill} {
		synctest.Test(t, func(t *testing.T) {
			p := hearing(t, bid(80_00))
			p.box.deafen("")
			p.box.hide("order", "open", "trades")
			p.tick(13)
			p.box.move(79_00)
			p.tellAll(p.kept(kind)[:1])
			p.tick(60)
			own, open := p.own(1)
			require.True(t, open, "it is not absent")
			if kind == exchange.NoticeOrder {
				require.Equal(t, state.Open, own.State)
			} else {
				require.Equal(t, state.Unknown, own.State, "nothing has told its state")
			}
			p.box.hide()
			p.tick(70)
			p.end()
			p.agree()
		})
	}
}

// An event that cannot be true is a breach like any other answer: nothing of it is booked. What it
// says of a fill is not even read: the exchange tells it.
func TestAnEventThatCannotBeTrueIsNotBooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		own, _ := p.own(1)
		event := exchange.Notice{Kind: exchange.NoticeOrder, At: boxNow(), Order: own.Order}
		event.Order.ID, event.Order.Strategy, event.Order.Side = 0, 0, market.Sell
		event.Order.Updated++
		p.box.teller.to <- event
		p.tick(1)
		require.Len(t, p.journal.breached, 1)
		require.Equal(t, "side", p.journal.breached[0].Rule)
		p.box.move(79_00)
		p.box.mu.Lock()
		for i := range p.box.teller.keep {
			if n := &p.box.teller.keep[i]; n.Kind == exchange.NoticeFill {
				n.Trade.Price = 90_00 // the limit is 80
			}
		}
		p.box.mu.Unlock()
		p.tellAll([]int{0, 1})
		p.tick(3)
		require.Equal(t, p.naive(), p.books(), "the query tells the truth")
		require.Len(t, p.journal.breached, 1)
		p.end()
		p.agree()
	})
}

// A place is refused by its answer, and an event has shown the order open: it stays open.
func TestARefusalAfterAnEventThatShowsTheOrderEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		require.NoError(t, p.loop.Do(t.Context(), func(at market.Time) []market.Command {
			own := p.account.Known(1)
			o := &outgoing{command: market.Command{Kind: market.CommandPlace, Order: own.Order}, provedBy: fromNotice}
			p.loop.answered(o, exchange.WireOrder{}, exchange.ErrCode(exchange.CodeHalted))
			return nil
		}))
		_, open := p.own(1)
		require.True(t, open)
		require.Contains(t, p.journal.remarks, "refused and carried out: order 1")
		p.end()
		p.agree()
	})
}

// Two states of one moment do not say which came last: the exchange is asked.
func TestTwoStatesOfOneMomentLeadToAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		own, _ := p.own(1)
		other := own.Order
		other.ID, other.Strategy, other.FeePaid = 0, 0, market.Value{}
		other.Amount, other.AmountRemaining, other.RestatementReason = own.Amount/2, own.Amount/2,
			market.DecrementOnSelfTradePrevention
		before, _ := p.next(1)
		p.box.teller.to <- exchange.Notice{Kind: exchange.NoticeOrder, At: boxNow(), Order: other,
			Exec: market.ExecRestated}
		synctest.Wait()
		time.Sleep(20 * time.Millisecond)
		after, _ := p.next(1)
		require.NotEqual(t, before, after, "it was asked")
		got, _ := p.own(1)
		require.Equal(t, own.Amount, got.Amount)
		p.end()
		p.agree()
	})
}

// next is when an order is queried next.
func (p *play) next(id market.OrderID) (at market.Time, any bool) {
	require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) {
		if q := p.loop.queries.of[id]; q != nil {
			at, any = q.next, true
		}
	}))
	return at, any
}

// An event about an order that has ended here: an event newer than the end brings the next list
// forward, an older event is dropped. A fill that is not booked leads to a query.
func TestAnEventOfAnEndedOrderIsOldOrIsLookedInto(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil)
		p.box.teller = &teller{box: p.box.box, chance: rand.New(rand.NewPCG(1, 1)), keeping: true}
		p.begin()
		client := uuid.UUID{15: 9}
		gone := state.Order{State: state.Canceled,
			Order: market.Order{ID: 9, Market: 1, Strategy: 1, ClientOrderID: client,
				ExchangeID: uuid.UUID{9}, OrderState: market.OrderState{Updated: boxNow(),
					Status: market.StatusCanceled}}}
		p.loop.Ended = func(name uuid.UUID) *state.Order {
			if name != client {
				return nil
			}
			return &gone
		}
		p.run()
		p.box.teller.set(true)
		p.tick(70)
		before := p.listings()
		event := exchange.Notice{Kind: exchange.NoticeOrder, At: boxNow(), Order: gone.Order}
		event.Order.Status, event.Order.Updated = market.StatusNew, gone.Updated-1
		p.box.teller.to <- event
		p.tick(1)
		require.Equal(t, before, p.listings(), "an old event")
		event.Order.Updated = gone.Updated + 1
		p.box.teller.to <- event
		p.tick(1)
		require.Equal(t, before+1, p.listings())
		fill := exchange.Trade{ExchangeID: gone.ExchangeID, ClientOrderID: client}
		fill.ID, fill.Market, fill.Amount, fill.Price = uuid.UUID{8}, 1, 1, 100_00
		p.box.teller.to <- exchange.Notice{Kind: exchange.NoticeFill, At: boxNow(), Trade: fill}
		synctest.Wait()
		_, asked := p.next(9)
		require.True(t, asked)
		require.Contains(t, p.journal.remarks, "filled after its end: order 9")
		p.stop()
		<-p.done
	})
}

// A question that was put before an event says nothing about the order of that event.
func TestAnAnswerToAnEarlierQuestionSaysNothingAboutAnEventsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		require.NoError(t, p.loop.Do(t.Context(), func(at market.Time) []market.Command {
			l, q := p.loop, p.loop.queries.of[1]
			q.notFoundSince, q.lists = at, true
			l.onNotice(&exchange.Notice{Kind: exchange.NoticeOrder, At: at, Order: p.account.Known(1).Order})
			require.Zero(t, q.notFoundSince)
			require.False(t, q.lists)
			next := q.next
			for _, asked := range []market.Time{at - 1, at, at + 1} {
				l.open.compare(t.Context(), asked, nil, nil)
				require.Equal(t, asked > at, q.next != next, "a list without the order")
			}
			q.at(next)
			for _, asked := range []market.Time{at - 1, at, at + 1} {
				l.receive(q, &reply{from: fromQuery, asked: asked, err: exchange.ErrCode(exchange.CodeNotFound)})
				require.Equal(t, asked > at, len(p.journal.remarks) > 0, "a 240")
			}
			return nil
		}))
		p.end()
		p.agree()
	})
}

// What happened while the channel was down is asked for at once when it is up again.
func TestWhatNoEventHasToldIsAskedForAtTheReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		p.tick(120)
		p.box.deafen("order")
		p.box.teller.set(false)
		p.tick(1)
		p.box.move(79_00)
		p.tick(70)
		require.Zero(t, p.books().position)
		p.box.deafen("open") // the list alone would lead to the same question
		p.box.teller.set(true)
		time.Sleep(20 * time.Millisecond)
		require.Equal(t, p.naive(), p.books())
		p.end()
		p.agree()
	})
}

// A fill with the name of another order is a breach, and an unknown status is asked about.
func TestAnEventThatCannotBeReadLeadsToAQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		require.NoError(t, p.loop.Do(t.Context(), func(at market.Time) []market.Command {
			l, q, own := p.loop, p.loop.queries.of[1], p.account.Known(1)
			other := own.Order
			other.Status, other.Updated = market.StatusUnresolved, at
			l.onNotice(&exchange.Notice{Kind: exchange.NoticeOrder, At: at, Order: other, Exec: market.ExecTrade})
			require.Equal(t, at, q.next)
			require.Equal(t, state.Open, own.State)
			fill := exchange.Trade{ExchangeID: uuid.UUID{7}, ClientOrderID: own.ClientOrderID}
			fill.Market = 1
			l.onNotice(&exchange.Notice{Kind: exchange.NoticeFill, At: at, Trade: fill})
			require.Equal(t, "orderId", p.journal.breached[0].Rule)
			return nil
		}))
		p.end()
		p.agree()
	})
}

// The answer to an update is older than an event, which could not show the update because it
// changes nothing: the update is answered, and the later state stays.
func TestAnAnswerThatIsOlderThanAnEventAnswersItsWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		require.NoError(t, p.loop.Do(t.Context(), func(at market.Time) []market.Command {
			own := p.account.Known(1)
			answer := exchange.WireOrder{Order: own.Order}
			o := &outgoing{command: market.Command{Kind: market.CommandUpdate, Order: own.Order,
				Changed: market.ChangePrice}}
			p.account.SendUpdate(own, 0)
			p.loop.writes[1] = o
			event := own.Order
			event.Updated++
			p.loop.onNotice(&exchange.Notice{Kind: exchange.NoticeOrder, At: at, Order: event,
				Exec: market.ExecRestated})
			require.Equal(t, event.Updated, own.Updated)
			require.Equal(t, market.CommandUpdate, own.InFlight)
			p.loop.answered(o, answer, nil)
			require.Equal(t, event.Updated, own.Updated)
			require.Zero(t, own.InFlight)
			require.Empty(t, p.journal.breached)
			return nil
		}))
		p.end()
		p.agree()
	})
}

// An end that was not asked for, and a fill, are not believed before the exchange confirms them:
// until then the order counts against every limit, and nothing can be sold. A false one sets the
// channel aside, the third within a minute halts the strategy.
func TestAFalseEndOrFillIsNotBookedAndSetsTheChannelAside(t *testing.T) {
	for name, lie := range map[string]func(own *market.Order) []exchange.Notice{
		"canceled": orderEvent(func(o *market.Order) { o.Status = market.StatusCanceled }),
		"expired":  orderEvent(func(o *market.Order) { o.Status = market.StatusExpired }),
		"filled":   orderEvent(func(o *market.Order) { o.Status = market.StatusFilled }),
		"a part": orderEvent(func(o *market.Order) {
			o.Status, o.FilledAmount = market.StatusPartiallyFilled, o.Amount/2
		}),
		"a fill alone": func(o *market.Order) []exchange.Notice { return falseFill(o)[:1] },
		"a whole fill": falseFill,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := resting(t)
			tell := func() {
				own, open := p.known(1)
				require.True(t, open, name)
				for _, n := range lie(&own.Order) {
					p.box.teller.to <- n
				}
				synctest.Wait()
				own, open = p.known(1)
				require.True(t, open, name)
				require.Equal(t, state.Open, own.State, "%s: the exchange has not said so", name)
				require.Zero(t, p.books().position, name)
				require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
					require.Equal(t, 1, p.account.OpenBy(1), "%s: max_open_orders counts it", name)
					require.Positive(t, p.account.Total(1).Held, "%s: its money is held", name)
				}))
			}
			aside, halted := false, false
			look := func() {
				require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
					aside = p.loop.ChannelAside() != ""
					_, halted = p.journal.engine.Halted(1)
				}))
			}
			for range falseTillHalt {
				look()
				require.False(t, halted, name)
				tell()
				p.tick(10)
				look()
				require.True(t, aside, name)
				require.False(t, p.up())
			}
			require.True(t, halted, "%s: the third within a minute", name)
			require.Zero(t, p.s.fills, name)
			p.tick(int(asideFor / time.Second))
			look()
			require.False(t, aside, "it may prove itself again")
			p.end()
			p.agree()
		})
	}
}

// orderEvent tells of an order as it is not.
func orderEvent(change func(*market.Order)) func(own *market.Order) []exchange.Notice {
	return func(own *market.Order) []exchange.Notice {
		event := exchange.Notice{Kind: exchange.NoticeOrder, At: boxNow(), Order: *own}
		event.Order.ID, event.Order.Strategy = 0, 0
		event.Order.Updated++
		change(&event.Order)
		return []exchange.Notice{event}
	}
}

// falseFill tells of a fill of a whole order that has none, and then of its end.
func falseFill(own *market.Order) []exchange.Notice {
	trade := exchange.Trade{ExchangeID: own.ExchangeID, ClientOrderID: own.ClientOrderID}
	trade.Fill = market.Fill{ID: uuid.New(), Market: 1, Side: own.Side, Price: own.Price, Amount: own.Amount,
		Settled: true, FeeCurrency: 1, Time: boxNow()}
	return append([]exchange.Notice{{Kind: exchange.NoticeFill, At: boxNow(), Trade: trade}},
		orderEvent(func(o *market.Order) {
			o.Status, o.FilledAmount, o.AmountRemaining, o.OnHold = market.StatusFilled, o.Amount, 0, 0
		})(own)...)
}

// The owner's own cancel ends an order without a word of this bot: one query confirms it.
func TestATrueEndThatWasNotAskedForIsBookedAfterAQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resting(t)
		p.box.mu.Lock()
		p.box.teller.keeping = false
		gone := market.Command{Kind: market.CommandCancel, Order: market.Order{ID: p.box.next, Market: 1}}
		refused, err := p.box.venue.Submit(0, boxNow(), &gone)
		p.box.mu.Unlock()
		require.NoError(t, err)
		require.Nil(t, refused)
		p.tick(2)
		_, open := p.known(1)
		require.False(t, open)
		p.tick(10)
		require.True(t, p.up(), "the event has come before the answer: none is missing")
		p.end()
		p.agree()
	})
}
