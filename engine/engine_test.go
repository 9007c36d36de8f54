package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// journal collects who was called, in order.
type journal []string

func (j *journal) add(format string, args ...any) { *j = append(*j, fmt.Sprintf(format, args...)) }

func TestStartAndStopCallTheSeatsInOrder(t *testing.T) {
	var calls journal
	slot := func(name string) engine.StrategyConfig {
		return engine.StrategyConfig{Name: name, Strategy: &script{
			start: func(d *strategy.Desk) { calls.add("start %s at %d", name, d.Now()/minute) },
			stop:  func(d *strategy.Desk) { calls.add("stop %s at %d", name, d.Now()/minute) },
		}}
	}
	b := newBench(t, setup{slots: []engine.StrategyConfig{slot("a"), slot("b")}})
	require.Empty(t, b.engine.Start(start))
	b.candle(100, 100, 100, 100)
	require.Empty(t, b.engine.Stop(b.now))
	require.Equal(t, journal{"start a at 1000", "start b at 1000", "stop a at 1001", "stop b at 1001"}, calls)
}

func TestWhatIsAskedInOnStopLeavesTheEngine(t *testing.T) {
	b := one(t, &script{
		candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1)) }),
		stop:   func(d *strategy.Desk) { require.NoError(t, d.CancelAll()) },
	})
	b.flat(2, 100)
	b.send(b.engine.Stop(b.now))
	require.Equal(t, []string{"buy 1 @ 50", "cancel 1"}, b.sent)
}

func TestTheWarmUpHoldsAsksForExactlyItsCandles(t *testing.T) {
	var calls journal
	s := &script{
		start: func(d *strategy.Desk) { _, err := d.In(1).Buy(strategy.Amount(btc)); calls.add("start: %v", err) },
		candle: func(d *strategy.Desk, _ market.Candle) {
			_, err := d.In(1).Buy(strategy.Amount(btc))
			calls.add("%v", err)
		},
	}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s, Warmup: []int{3}}}})
	b.engine.Start(start)
	b.flat(4, 100)
	// the third may trade
	require.Equal(t, journal{"start: refused: warm_up: BTC-EUR needs 3 more 1m candles",
		"refused: warm_up: BTC-EUR needs 2 more 1m candles", "refused: warm_up: BTC-EUR needs 1 more 1m candle",
		"<nil>",
		"<nil>"}, calls)
	require.Equal(t, []risk.Count{{Reason: "warm_up", N: 3}}, b.engine.Refused(1))
}

func TestTheWarmUpWaitsForTheStartOfTrading(t *testing.T) {
	var calls journal
	s := &script{candle: func(d *strategy.Desk, c market.Candle) {
		_, err := d.In(1).Buy(strategy.Amount(btc))
		calls.add("%d: %v", c.Market, err)
	}}
	both := []market.ID{1, 2}
	b := newBench(t, setup{markets: 2, from: start + 3*minute,
		slots: []engine.StrategyConfig{{Strategy: s, Markets: both, Warmup: []int{2}}}})
	first, second := candleOf(1, 100, 100, 100, 100), candleOf(2, 100, 100, 100, 100)
	b.group(first)
	b.group(first, second)
	b.group(first, second)
	b.group(first, second)
	no := "refused: warm_up"
	// both have two, but it trades from candles that start at minute 3
	require.Equal(t, journal{"1: " + no + ": BTC-EUR needs 1 more 1m candle", "1: " + no, "2: " + no, "1: " + no,
		"2: " + no, "1: <nil>", "2: <nil>"}, calls)
}

func TestAnOrderIsHeardOfAfterTheCallbackThatSentIt(t *testing.T) {
	var calls journal
	s := &script{
		candle: once(func(d *strategy.Desk) {
			id, err := d.In(1).Buy(strategy.Amount(btc))
			calls.add("asked %d %v", id, err)
		}),
		order: func(d *strategy.Desk, o market.Order, r market.Report) {
			calls.add("order %d %q %s", o.ID, r.Exec, o.Status)
		},
		fill: func(d *strategy.Desk, f market.Fill) {
			calls.add("fill %d, position %s", f.Order, market.FormatFixed(int64(d.In(1).Position().Amount), 8))
		},
	}
	b := one(t, s)
	b.flat(2, 100)
	// the fill comes before the state
	require.Equal(t, journal{"asked 1 <nil>", `order 1 "" `, "fill 1, position 1", `order 1 "trade" filled`}, calls)
}

func TestARefusalOfTheExchangeIsHeardOf(t *testing.T) {
	var calls journal
	s := &script{
		candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(99 * btc)) }),
		order:  func(_ *strategy.Desk, o market.Order, r market.Report) { calls.add("%q %d", r.Exec, r.Code) },
	}
	// dearer there than the gate can know
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{Slippage: 5_000_000}})
	b.flat(2, 100)
	require.Equal(t, journal{`"" 0`, `"rejected" 216`}, calls)
	available, held := b.account.Balance(1, 1)
	require.Equal(t, [2]market.Money{10_000 * eur, 0}, [2]market.Money{available, held})
}

func TestAStrategyThatAnswersItselfForEverIsHalted(t *testing.T) {
	placed := 0
	greedy := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc/100),
			strategy.At(50*at1))
	})}
	greedy.order = func(d *strategy.Desk, _ market.Order, r market.Report) {
		if r.Exec == 0 {
			placed++
			d.In(1).Buy(strategy.Amount(btc/100), strategy.At(50*at1))
		}
	}
	calm := 0
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: greedy},
		{Strategy: &script{candle: func(*strategy.Desk, market.Candle) { calm++ }}}}})
	b.flat(1, 100)
	require.Equal(t, 16, placed)
	require.Equal(t, []engine.Halt{{Strategy: 1, Name: "s1", At: start + minute,
		Reason: "16 rounds of orders in one step"}}, b.engine.Halts())
	b.flat(3, 100)
	require.Zero(t, b.venue.Open(1), "what it sent is cancelled")
	require.Empty(t, b.account.Open(nil, 1, 0))
	require.Equal(t, 4, calm)
}

func TestAnUpdateInFlightRefusesAnotherAndACancelWaits(t *testing.T) {
	var calls journal
	minutes := 0
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		minutes++
		switch minutes {
		case 1:
			d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
			calls.add("%v", d.Update(1, strategy.At(51*at1))) // the place has no answer yet
		case 2:
			calls.add("%v", d.Update(1, strategy.At(52*at1)))
			calls.add("%v", d.Update(1, strategy.At(53*at1)))
			calls.add("%v", d.Cancel(1))
			calls.add("%v", d.Cancel(1))
		}
	}}
	b := one(t, s)
	b.flat(4, 100)
	require.Equal(t, journal{"refused: in_flight (order 1)", "<nil>", "refused: in_flight (order 1)", "<nil>", "<nil>"},
		calls)
	require.Equal(t, []string{"buy 1 @ 50", "update 1 @ 52", "cancel 1"}, b.sent)
	require.Equal(t, []string{"1 new", "1 updated", "1 canceled"}, b.told)
}

func TestStrategiesCannotTouchEachOthersOrders(t *testing.T) {
	owner := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(40*at1), strategy.TargetAt(200*at1), strategy.At(50*at1))
	})}
	thief := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		for id := market.OrderID(1); id <= 2; id++ {
			_, open := d.Order(id)
			require.False(t, open)
			require.NoError(t, d.Cancel(id))
			require.Error(t, d.Update(id, strategy.At(1*at1)))
			require.Error(t, d.Update(id, strategy.Exits(1*at1, 2*at1)))
		}
		require.Empty(t, d.OpenOrders())
	}}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: owner}, {Strategy: thief}}})
	b.flat(3, 100)
	require.Equal(t, []string{"buy 1 @ 50", "buy 1 @ 50"}, b.sent)
	b.candle(100, 100, 45, 45)
	require.Equal(t, "stop 1 @ 40 attached", b.sent[2])
}

func TestTimersRingInTheOrderOfTimeAndAsking(t *testing.T) {
	var calls journal
	s := &script{
		candle: once(func(d *strategy.Desk) {
			for i, after := range []market.Time{30, 10, 30, 20, 10} {
				d.Timer(d.Now()+after, int64(i))
			}
		}),
		timer: func(d *strategy.Desk, name int64) {
			calls.add("%d at %d", name, d.Now()-start-minute)
			if name == 3 {
				d.Timer(d.Now(), 9) // now: with the next event
			}
		},
	}
	b := one(t, s)
	b.flat(2, 100)
	require.Equal(t, journal{"1 at 10", "4 at 10", "3 at 20", "9 at 20", "0 at 30", "2 at 30"}, calls)
	_, waiting := b.engine.NextTimer()
	require.False(t, waiting)
}

func TestEventsReachTheSeatsThatWantThemInOrder(t *testing.T) {
	var calls journal
	slot := func(name string, ticker bool, markets []market.ID, intervals ...market.Interval) engine.StrategyConfig {
		return engine.StrategyConfig{Markets: markets, Intervals: intervals, Ticker: ticker, Book: ticker,
			Strategy: &script{
				candle: func(_ *strategy.Desk, c market.Candle) { calls.add("%s %d %s", name, c.Market, c.Interval) },
				ticker: func(_ *strategy.Desk, k market.Ticker) { calls.add("%s ticker %d", name, k.Market) },
				book:   func(_ *strategy.Desk, k strategy.OrderBook) { calls.add("%s book %d", name, k.Market()) },
			}}
	}
	m1, m5 := market.Interval1m, market.Interval5m
	b := newBench(t, setup{markets: 2, slots: []engine.StrategyConfig{slot("a", false, []market.ID{1, 2}, m1),
		slot("b", true, []market.ID{1}, m5, m1), slot("c", false, []market.ID{2}, m5)}})
	group := []market.Candle{candleOf(1, 1, 1, 1, 1), candleOf(2, 1, 1, 1, 1), candleOf(1, 1, 1, 1, 1),
		candleOf(2, 1, 1, 1, 1)}
	group[2].Interval, group[3].Interval = m5, m5
	b.step(&market.Event{Kind: market.KindCandles, At: start, Candles: group})
	b.step(&market.Event{Kind: market.KindTicker, At: start, Ticker: &market.Ticker{Market: 1, Last: 1}})
	b.step(&market.Event{Kind: market.KindTicker, At: start, Ticker: &market.Ticker{Market: 2, Last: 1}})
	b.step(&market.Event{Kind: market.KindBook, At: start, Book: &market.OrderBook{Market: 1}})
	require.Equal(t, journal{"a 1 1m", "b 1 1m", "a 2 1m", "b 1 5m", "c 2 5m", "b ticker 1", "b book 1"}, calls)
}

func TestAMarketThatHaltsRefusesAtTheGate(t *testing.T) {
	var calls journal
	b := one(t, &script{candle: func(d *strategy.Desk, _ market.Candle) {
		_,
			err := d.In(1).Buy(strategy.Amount(btc))
		calls.add("%v", err)
	}})
	b.flat(1, 100)
	b.step(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Halted})
	b.flat(1, 100)
	require.Equal(t, "<nil>", calls[0])
	require.Contains(t, calls[1], "the exchange would answer 423")
}

func TestTimeThatGoesBackIsABrokenInvariant(t *testing.T) {
	b := one(t, &script{})
	b.flat(1, 100)
	require.PanicsWithValue(t, "engine: event timer at 1970-01-01T16:40:59.999999999Z after 1970-01-01T16:41:00Z",
		func() {
			b.engine.Step(&market.Event{Kind: market.KindTimer, At: b.now - 1})
		})
}

func TestAnArithmeticErrorStopsTheEngine(t *testing.T) {
	calls := 0
	b := one(t, &script{candle: func(*strategy.Desk, market.Candle) { calls++ }})
	b.engine.Step(&market.Event{Kind: market.KindTransfer, At: start, Asset: 1, Money: 1<<63 - 1})
	require.ErrorIs(t, b.engine.Err(), market.ErrOverflow)
	require.ErrorContains(t, b.engine.Err(), "engine: transfer at 1970-01-01T16:40:00Z")
	require.Nil(t, b.engine.Step(&market.Event{Kind: market.KindCandles, At: start,
		Candles: []market.Candle{candleOf(1, 1, 1, 1, 1)}}))
	require.Zero(t, calls)
}

func TestTheSameEventsGiveTheSameCommands(t *testing.T) {
	run := func() ([]string, []string) {
		slot := func(m market.ID, size market.Qty) engine.StrategyConfig {
			minutes := market.Price(0)
			return engine.StrategyConfig{Markets: []market.ID{m}, Strategy: &script{
				candle: func(d *strategy.Desk, c market.Candle) {
					if minutes++; minutes%3 == 0 {
						d.In(m).Buy(strategy.Amount(size), strategy.Exits(c.Close-3*at1, c.Close+3*at1),
							strategy.Keep(market.Leg(minutes/3%2)))
					}
					if minutes%5 == 0 {
						d.In(m).Buy(strategy.Amount(size), strategy.At(c.Close-at1))
						d.Timer(d.Now()+minute/2, int64(m))
					}
				},
				timer: func(d *strategy.Desk, name int64) { d.In(market.ID(name)).CancelAll() },
			}}
		}
		b := newBench(t, setup{markets: 3, venue: sim.Config{Latency: 7},
			slots: []engine.StrategyConfig{slot(3, btc/3), slot(1, btc/7), slot(2, btc), slot(1, btc/2)}})
		for i := range market.Price(60) {
			p := 100 + i*7%11
			b.group(candleOf(1, p, p+4, p-2, p+1), candleOf(2, p, p+1, p-4, p), candleOf(3, p, p+5, p-5, p+2))
		}
		return b.sent, b.told
	}
	sent, told := run()
	require.Greater(t, len(sent), 200)
	for range 3 {
		againSent, againTold := run()
		require.Equal(t, sent, againSent)
		require.Equal(t, told, againTold)
	}
}

// idle is a strategy without a closure.
type idle struct{ strategy.Base }

func TestACandleAllocatesNothing(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: idle{}}, {Strategy: idle{}, Ticker: true,
		Book: true}},
		account: risk.AccountLimits{MaxDrawdown: 1}})
	events := []market.Event{
		{Kind: market.KindCandles, Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}},
		{Kind: market.KindTicker, Ticker: &market.Ticker{Market: 1, Last: 1}},
		{Kind: market.KindBook, Book: &market.OrderBook{Market: 1}},
		{Kind: market.KindTrade, Trade: &market.Trade{Market: 1, Price: 1}},
	}
	at := start
	allocs := testing.AllocsPerRun(1000, func() {
		for i := range events {
			at++
			events[i].At = at
			b.engine.Step(&events[i])
		}
	})
	require.Zero(t, allocs)
}

// trader buys and sells in turn.
type trader struct{ strategy.Base }

func (trader) OnCandle(d *strategy.Desk, _ market.Candle) {
	d.In(1).Target(strategy.Amount(btc - d.In(1).Position().Amount))
}

func TestAnOrdersRoundTripAllocatesNothing(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: trader{}}}})
	var venue *sim.Venue
	movement, arrival := market.Event{Kind: market.KindCandles}, market.Event{Kind: market.KindCandles}
	venue = sim.New(b.catalog, sim.Config{}, func(ev *market.Event) {
		ev.At = max(ev.At, b.engine.Now())
		b.engine.Step(ev)
	})
	require.NoError(t, venue.Deposit(1, 10_000*eur))
	candles := []market.Candle{candleOf(1, 100, 100, 100, 100)}
	fills := int64(0)
	allocs := testing.AllocsPerRun(1000, func() {
		candles[0].Start = b.now
		b.now += minute
		movement.At, movement.Candles, arrival.At, arrival.Candles = b.now, candles, b.now, candles
		require.NoError(t, venue.Advance(&movement))
		for _, c := range b.engine.Step(&arrival) {
			fills++
			venue.Do(&c)
		}
	})
	require.Greater(t, fills, int64(1000), "it trades on every candle")
	require.Zero(t, allocs)
	require.NoError(t, b.account.Check())
}

// A candle that closes when trading begins is of before, a price of that moment is not: it is that
// of the first candle's open.
func TestATickerAtTheStartOfTradingMayBeTradedOn(t *testing.T) {
	var calls journal
	s := &script{
		ticker: func(d *strategy.Desk, _ market.Ticker) {
			_, err := d.In(1).Buy(strategy.Amount(btc))
			calls.add("ticker: %v", err)
		},
		candle: func(d *strategy.Desk, _ market.Candle) {
			_, err := d.In(1).Buy(strategy.Amount(btc))
			calls.add("candle: %v", err)
		},
	}
	b := newBench(t, setup{from: start + minute, slots: []engine.StrategyConfig{{Strategy: s, Ticker: true}}})
	b.group(candleOf(1, 100, 100, 100, 100))
	b.step(&market.Event{Kind: market.KindTicker, At: start + minute,
		Ticker: &market.Ticker{Market: 1, Last: 100 * at1, Bid: 100 * at1, Ask: 100 * at1}})
	require.Equal(t, journal{"candle: refused: warm_up", "ticker: <nil>"}, calls)
}
