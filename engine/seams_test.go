package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// An update of price or amount would let a tactic trade more than its size.
func TestUpdateOfATacticsOrderChangesItsExitsAlone(t *testing.T) {
	b := one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), makerFirst, strategy.Exits(90*at1, 110*at1))
		},
		2: func(d *strategy.Desk) {
			require.ErrorContains(t, d.Update(1, strategy.Resize(strategy.Amount(5*btc))),
				"Update changes its exits alone")
			require.ErrorIs(t, d.Update(1, strategy.At(101*at1)), strategy.ErrMeaningless)
			require.NoError(t, d.Update(1, strategy.StopAt(95*at1)))
		},
	})})
	b.flat(2, 100)
	b.candle(100, 100, 99, 99)
	require.Equal(t, []string{"buy 1 @ 99.99", "stop 1 @ 95 attached"}, b.sent)
}

// The first part of a TWAP is also the entry of its bracket.
func TestARestartWhileTheFirstPartOfATWAPIsOpenKeepsItsBracket(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.TWAP(4*time.Minute, 4), strategy.Exits(90*at1, 110*at1))
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{Latency: 90e9}})
	b.flat(1, 100)
	watches := b.engine.Watches()
	b.restart(nil, s)
	b.done = func() { require.NoError(t, b.engine.CheckBrackets()) }
	copy(watches, b.engine.Watches())
	b.flat(2, 100)
}

// An exit that has sold all belongs to no bracket any more when the tactic hears of it.
func TestAStopThatSellsAllEndsATWAP(t *testing.T) {
	b := one(t, &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.TWAP(10*time.Minute, 10), strategy.Exits(95*at1, 110*at1))
	})})
	b.flat(3, 100)
	b.candle(100, 100, 90, 90)
	require.Zero(t, b.position())
	sent := len(b.sent)
	b.flat(10, 90)
	require.False(t, b.engine.Working(1, 1))
	require.Empty(t, b.sent[sent:])
}

// While the exit is being swapped it cannot be enlarged; what a part buys then has none.
func TestWhatIsBoughtDuringASwapCountsAsUnprotected(t *testing.T) {
	b := one(t, &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.TWAP(4*time.Minute, 4), strategy.Exits(90*at1, 110*at1))
	})})
	b.by(&market.Event{Kind: market.KindCandles, At: b.now, Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
	require.Equal(t, []string{"stop 0.25 @ 90 attached"}, b.buys(1, 1, btc/4))
	b.accept(2)
	require.Empty(t, b.engine.Brackets().Bare())
	require.Equal(t, []string{"cancel 2 attached"}, b.price(110))
	require.Equal(t, []string{"buy 0.25 attached"}, b.by(&market.Event{Kind: market.KindTimer, At: b.now + minute}))
	b.now += minute
	require.Empty(t, b.buys(3, 3, btc/4))
	require.Len(t, b.engine.Brackets().Bare(), 1)
	require.Equal(t, btc/4, b.engine.Brackets().Bare()[0].Amount)
}

// Base that a part has bought and that its exit does not sell yet is free. A sale of it is no fault
// of the bracket, which must not wait for it for ever.
func TestASaleOfWhatAnExitDoesNotCoverYetMakesItsBracketSmaller(t *testing.T) {
	b := one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.TWAP(4*time.Minute, 4), strategy.Exits(90*at1, 110*at1))
		},
		2: func(d *strategy.Desk) {
			_, err := d.In(1).Sell(strategy.Amount(btc / 4))
			require.NoError(t, err)
		},
	})})
	candle := func() []string {
		return b.by(&market.Event{Kind: market.KindCandles, At: b.now,
			Candles: []market.Candle{candleOf(1, 100, 100, 100,
				100)}})
	}
	candle()
	b.buys(1, 1, btc/4)
	require.Equal(t, []string{"buy 0.25 attached"}, b.by(&market.Event{Kind: market.KindTimer, At: b.now + minute}))
	b.now += minute
	require.Empty(t, b.buys(3, 3, btc/4), "the exit has no answer yet")
	require.Equal(t, []string{"sell 0.25"}, candle())
	b.sells(4, 4, btc/4, market.StatusFilled)
	b.accept(2)
	require.Equal(t, btc/4, b.engine.Brackets().Covered(1, 1))
	require.Empty(t, b.engine.Brackets().Bare())
}

// An exit that is being enlarged holds all of its new amount. Base that is sold beside the brackets
// comes from another bracket then: from one whose exit does not hold all.
func TestASaleBesideTheBracketsTakesNothingThatAnExitHolds(t *testing.T) {
	b, candle := twoSpread(t)
	require.Equal(t, []string{"buy 0.25 attached", "buy 0.25 attached"},
		b.by(&market.Event{Kind: market.KindTimer, At: b.now + minute}))
	b.now += minute
	require.Empty(t, b.buys(5, 3, btc/4), "the exit has no answer yet")
	require.Equal(t, []string{"update 4 0.5 attached"}, b.buys(6, 4, btc/4))
	require.Equal(t, []string{"sell 0.25"}, candle())
	b.sells(7, 5, btc/4, market.StatusFilled)
	require.Equal(t, 3*btc/4, b.engine.Brackets().Covered(1, 1))
	b.sells(4, 6, btc/2, market.StatusFilled)
	require.Equal(t, btc/4, b.engine.Brackets().Covered(1, 1))
	require.Equal(t, btc/4, b.position())
}

// An exit may have sold though its fill is not known yet. That base is not free.
func TestASaleBesideTheBracketsTakesNothingThatAnExitHasSold(t *testing.T) {
	b, candle := twoSpread(t)
	require.Equal(t, []string{"buy 0.25 attached", "buy 0.25 attached"},
		b.by(&market.Event{Kind: market.KindTimer, At: b.now + minute}))
	b.now += minute
	require.Empty(t, b.buys(5, 3, btc/4), "the exit has no answer yet")
	o := *b.account.Order(4)
	o.Status, o.FilledAmount = market.StatusPartiallyFilled, btc/8
	o.AmountRemaining, o.OnHold = btc/8, market.Money(btc/8)
	b.tell(&o)
	require.Equal(t, []string{"sell 0.25"}, candle())
	b.sells(7, 5, btc/4, market.StatusFilled)
	require.Empty(t, b.accept(3), "the first bracket has all that its exit sells")
	b.by(&market.Event{Kind: market.KindFill, At: b.now, Fills: []market.Fill{soldNumbered(6, 4, btc/8)}})
	require.Empty(t, b.engine.Brackets().Bare())
	require.Equal(t, 3*btc/8, b.engine.Brackets().Covered(1, 1))
	require.Equal(t, 3*btc/8, b.position())
}

// A strategy may make an exit larger than its bracket. What the exit then sells beyond that is the
// base of another bracket, which has no exit now.
func TestAnExitThatSellsMoreThanItsBracketTakesItFromTheOthers(t *testing.T) {
	b := one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 110*at1))
			d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 110*at1))
		},
		2: func(d *strategy.Desk) { require.NoError(t, d.Update(3, strategy.Resize(strategy.Amount(3*btc/2)))) },
	})})
	candle := func() []string {
		return b.by(&market.Event{Kind: market.KindCandles, At: b.now,
			Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
	}
	candle()
	b.buys(1, 1, btc)
	b.buys(2, 2, btc)
	b.accept(3)
	for id := market.OrderID(4); b.account.Order(id) != nil; id++ {
		b.refuse(market.CommandPlace, id, exchange.CodeInvalid)
	}
	require.Equal(t, []string{"update 3 1.5"}, candle())
	b.sells(3, 3, 3*btc/2, market.StatusFilled)
	require.Equal(t, btc/2, b.position())
	require.Equal(t, btc/2, b.engine.Brackets().Covered(1, 1))
	require.NoError(t, b.engine.CheckBrackets())
}

// Base without a bracket is sold before base with one, also while an exit is being enlarged.
func TestAClosePartSellsFreeBaseWhileAnExitIsBeingEnlarged(t *testing.T) {
	b := one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc / 4))
			d.In(1).Buy(strategy.Amount(btc), strategy.TWAP(4*time.Minute, 4), strategy.Exits(90*at1, 110*at1))
		},
		2: func(d *strategy.Desk) {
			require.NoError(t, d.In(1).ClosePart(strategy.Amount(btc/4)))
		},
	})})
	candle := func() []string {
		return b.by(&market.Event{Kind: market.KindCandles, At: b.now,
			Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
	}
	require.Equal(t, []string{"buy 0.25", "buy 0.25"}, candle())
	b.buys(1, 1, btc/4)
	b.buys(2, 2, btc/4)
	b.accept(3)
	require.Equal(t, []string{"buy 0.25 attached"}, b.by(&market.Event{Kind: market.KindTimer, At: b.now + minute}))
	b.now += minute
	require.Equal(t, []string{"update 3 0.5 attached"}, b.buys(4, 3, btc/4))
	require.Equal(t, []string{"sell 0.25"}, candle())
}

// The sale of a partial target goes on when Update sets new ones; it is none of those.
func TestPartialTargetsThatAreSetDuringASaleAreAllSold(t *testing.T) {
	s := &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), half(strategy.PartAt(105*at1, 25*percent))...)
		},
		2: func(d *strategy.Desk) { require.NoError(t, d.Update(1, strategy.PartAt(107*at1, 10*percent))) },
	})}
	b := one(t, s)
	candle := func() []string {
		return b.by(&market.Event{Kind: market.KindCandles, At: b.now,
			Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
	}
	require.Equal(t, []string{"buy 1"}, candle())
	b.buys(1, 1, btc)
	b.accept(2)
	require.Equal(t, []string{"update 2 0.25 attached"}, b.price(106))
	candle()
	changed := func(amount market.Qty) []string {
		o := *b.account.Order(2)
		o.Amount, o.AmountRemaining, o.OnHold = amount, amount, market.Money(amount)
		r := market.ReportOf(&o, market.ExecUpdated)
		r.Updated, r.Command = b.now, market.CommandUpdate
		return b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: &r})
	}
	require.Equal(t, []string{"sell 0.75 attached"}, changed(btc/4))
	b.sells(3, 2, 3*btc/4, market.StatusFilled)
	saved := saveAll(t, b.engine)
	require.Equal(t, []string{"update 2 0.15 attached"}, b.price(107))
	b.account, b.engine = b.remake(s)
	_, err := b.engine.Restore(b.now, saved, nil)
	require.NoError(t, err)
}

// twoSpread is two buys that spread over time. The stop of the first, order 3, has no answer yet;
// that of the second, order 4, rests. At the next candle a quarter is sold.
func twoSpread(t *testing.T) (b *bench, candle func() []string) {
	spread := func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.TWAP(4*time.Minute, 4), strategy.Exits(90*at1, 110*at1))
	}
	b = one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) { spread(d); spread(d) },
		2: func(d *strategy.Desk) {
			_, err := d.In(1).Sell(strategy.Amount(btc / 4))
			require.NoError(t, err)
		},
	})})
	candle = func() []string {
		return b.by(&market.Event{Kind: market.KindCandles, At: b.now,
			Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
	}
	require.Equal(t, []string{"buy 0.25", "buy 0.25"}, candle())
	require.Equal(t, []string{"stop 0.25 @ 90 attached"}, b.buys(1, 1, btc/4))
	require.Equal(t, []string{"stop 0.25 @ 90 attached"}, b.buys(2, 2, btc/4))
	b.accept(4)
	return b, candle
}

// buys answers a buy with its fill.
func (b *bench) buys(id market.OrderID, n byte, amount market.Qty) []string {
	o := *b.account.Order(id)
	o.Status, o.FilledAmount, o.AmountRemaining, o.OnHold = market.StatusFilled, amount, o.Amount-amount, 0
	return b.tell(&o, fillNumbered(n, id, amount))
}

// A buy that spreads over time ends when its market leaves the universe.
func TestATacticEndsWhenItsMarketLeavesTheUniverse(t *testing.T) {
	for _, way := range [][]strategy.Option{{makerFirst, strategy.TakeAfter(5 * time.Minute)},
		{strategy.TWAP(10*time.Minute, 10)}} {
		s := &script{candle: once(func(d *strategy.Desk) {
			_, err := d.In(1).Buy(strategy.Amount(btc), way...)
			require.NoError(t, err)
		})}
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s, Universe: []strategy.Membership{
			{Markets: []market.ID{1}}, {From: start + 3*minute}}}}})
		for i := range 3 {
			b.flat(1, market.Price(100+i)) // the maker order is left behind
		}
		held := b.position()
		b.flat(10, 103)
		require.False(t, b.engine.Working(1, 1))
		require.Empty(t, b.account.Open(nil, 0, 0))
		require.Equal(t, held, b.position())
	}
}

// What waits for the end of another order when its market leaves the universe is dropped.
func TestAReplacementIsDroppedWhenItsMarketLeavesTheUniverse(t *testing.T) {
	s := &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), strategy.At(90*at1)) },
		2: func(d *strategy.Desk) {
			_, err := d.In(1).Buy(strategy.Amount(btc), strategy.At(91*at1), strategy.Replacing(1))
			require.NoError(t, err)
		},
	})}
	b := newBench(t, setup{venue: sim.Config{Latency: 20e9}, slots: []engine.StrategyConfig{{Strategy: s,
		Universe: []strategy.Membership{{Markets: []market.ID{1}}, {From: start + 2*minute + 1}}}}})
	b.flat(5, 100)
	require.Equal(t, []string{"buy 1 @ 90", "cancel 1"}, b.sent)
	require.Zero(t, b.account.SlotsBy(1))
	require.Zero(t, b.account.Total(1).Held)
}

// gapped is the state of a bench with a bracket in parts and two tactics, and the strategy of it.
func gapped(t *testing.T) (*bench, *script) {
	s := &script{candle: once(func(d *strategy.Desk) {
		for _, with := range [][]strategy.Option{half(), {strategy.TWAP(4*time.Minute, 4)}, {makerFirst}} {
			_, err := d.In(1).Buy(strategy.Amount(btc), with...)
			require.NoError(t, err)
		}
	})}
	b := one(t, s)
	b.flat(2, 100)
	return b, s
}

func TestASavedStateWhoseNumbersDoNotFitIsRefusedInWords(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{`"bought":`, `"passed":2,"bought":`, "bracket 1: 2 partial targets are done, 0 are reached"},
		{`"bought":`, `"passed":-1,"bought":`, "bracket 1: -1 partial targets are done"},
		{`"bought":`, `"wanted":3,"bought":`, "bracket 1: 0 partial targets are done, 3 are reached"},
		{`"bought":`, `"parted":-3,"bought":`, "-3 was sold by them"},
		{`"sent":2`, `"sent":5`, "tactic of order 2: 5 of 4 parts are sent"},
		{`"sent":2`, `"sent":-1`, "tactic of order 2: -1 of 4 parts are sent"},
		{`"amount":100000000,"done"`, `"amount":-100000000,"done"`,
			"tactic of order 2: its size is -100000000 in base"},
		{`"order":3`, `"order":4`, "tactic of order 3: its order 4 is not known"},
	} {
		b, s := gapped(t)
		saved := saveAll(t, b.engine)
		text := string(saved[engine.PartEngine])
		require.Contains(t, text, c.was)
		saved[engine.PartEngine] = []byte(strings.Replace(text, c.was, c.is, 1))
		b.account, b.engine = b.remake(s)
		_, err := b.engine.Restore(b.now, saved, nil)
		require.ErrorContains(t, err, c.want)
	}
}

func TestAPartialTargetOfATacticOrAReplacementIsChecked(t *testing.T) {
	for name, way := range map[string][]strategy.Option{"maker first": {makerFirst},
		"twap": {strategy.TWAP(4*time.Minute, 4)}, "replacing": {strategy.At(95 * at1), strategy.Replacing(1)}} {
		b := one(t, &script{candle: once(func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.At(90*at1))
			for _, wrong := range [][]strategy.Option{{strategy.PartAt(80*at1, 50*percent)},
				{strategy.PartAt(110*at1, 60*percent), strategy.PartAt(111*at1, 60*percent)}} {
				_, err := d.In(1).Buy(strategy.Amount(btc), append(append(wrong, strategy.StopAt(70*at1)), way...)...)
				require.Error(t, err, name)
			}
		})})
		b.flat(1, 100)
		require.Equal(t, []string{"buy 1 @ 90"}, b.sent, name)
	}
}

// Where the exchange fills a part late, the end of the tactic cancels it: not the first one alone.
func TestTheEndOfATWAPCancelsAllOfItsOrders(t *testing.T) {
	b := one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), strategy.TWAP(4*time.Minute, 4)) },
		2: func(d *strategy.Desk) { require.NoError(t, d.Cancel(1)) },
	})})
	candle := func() []string {
		return b.by(&market.Event{Kind: market.KindCandles, At: b.now,
			Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
	}
	require.Equal(t, []string{"buy 0.25"}, candle())
	b.accept(1)
	require.Equal(t, []string{"buy 0.25 attached"}, b.by(&market.Event{Kind: market.KindTimer, At: b.now + minute}))
	b.now += minute
	b.accept(2)
	require.ElementsMatch(t, []string{"cancel 1", "cancel 2"}, candle())
}

// An order that waits has no place in a market that is gone, nor where a person has cancelled.
func TestADelistedMarketHasNoOrderThatWaits(t *testing.T) {
	b := newBench(t, setup{venue: sim.Config{Latency: 90e9}, slots: []engine.StrategyConfig{{Strategy: &script{
		candle: once(func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.At(90*at1))
			d.In(1).Buy(strategy.Amount(btc), strategy.At(91*at1), strategy.Replacing(1))
			d.In(1).Buy(strategy.Amount(btc), makerFirst)
		})}}}})
	b.flat(1, 100)
	b.send(b.engine.Delisted(1))
	require.Equal(t, 2, b.account.SlotsBy(1))
	b.flat(5, 100)
	require.Equal(t, []string{"buy 1 @ 90", "buy 1 @ 99.99", "cancel 1", "cancel 3"}, b.sent)
	require.Zero(t, b.account.Total(1).Held)
}

func TestATacticWhoseOrderWasCancelledBesideTheEngineEnds(t *testing.T) {
	b := one(t, &script{candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), makerFirst) })})
	b.flat(1, 100)
	b.send(b.engine.Dissolve(b.now, []market.OrderID{1}))
	b.flat(5, 100)
	require.False(t, b.engine.Working(1, 1))
	require.Empty(t, b.account.Open(nil, 0, 0))
}

// Rebalance sells what exits hold as ClosePart does: an entry that waits is not placed after it.
func TestARebalanceThatSellsAPartDropsTheEntryThatWaits(t *testing.T) {
	b := newBench(t, setup{venue: sim.Config{Latency: 20e9}, slots: []engine.StrategyConfig{{Strategy: &script{
		candle: minutely(map[int]func(*strategy.Desk){
			1: func(d *strategy.Desk) {
				d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(70*at1))
				d.In(1).Buy(strategy.Amount(btc), strategy.At(90*at1), strategy.StopAt(70*at1))
			},
			3: func(d *strategy.Desk) {
				_, err := d.In(1).Buy(strategy.Amount(btc), strategy.At(91*at1), strategy.StopAt(70*at1),
					strategy.Replacing(2))
				require.NoError(t, err)
				require.NoError(t, d.Rebalance(strategy.Portfolio{Weights: []strategy.Weight{{Market: 1}}}))
			},
		})}}}})
	b.flat(6, 100)
	require.Zero(t, b.position())
	require.Empty(t, b.account.Open(nil, 1, 1), "%v", b.sent)
}
