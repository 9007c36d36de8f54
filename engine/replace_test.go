package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// swapper rests an order in its first minute, lets acts happen, and writes down what it hears.
type swapper struct {
	script
	heard []string
	errs  []string
}

// hears notes each OnOrder of an order that has ended or was refused.
func (s *swapper) hears(_ *strategy.Desk, o market.Order, r market.Report) {
	if r.Exec == market.ExecRejected || r.Exec == market.ExecCanceled {
		s.heard = append(s.heard, fmt.Sprintf("%d %s", o.ID, r.Exec))
	}
}

// try notes the answer to an ask.
func (s *swapper) try(id market.OrderID, err error) {
	if err != nil {
		s.errs = append(s.errs, err.Error())
		return
	}
	s.errs = append(s.errs, fmt.Sprint(id))
}

// swap is a bench whose strategy does something in each minute.
func swap(t *testing.T, s setup, acts func(*swapper) map[int]func(d *strategy.Desk)) (*bench, *swapper) {
	w := &swapper{}
	w.candle, w.order = minutely(acts(w)), w.hears
	s.slots = []engine.StrategyConfig{{Strategy: w}}
	return newBench(t, s), w
}

func amount(hundredths market.Qty) strategy.Size { return strategy.Amount(hundredths * btc / 100) }

// restBuy rests a buy of 1 BTC at 90 in minute 1.
func restBuy(d *strategy.Desk) { d.In(1).Buy(amount(100), strategy.At(90*at1)) }

func TestAReplacementArrivesWhereTheCancelDoesAfterIt(t *testing.T) {
	b, w := swap(t, setup{}, func(w *swapper) map[int]func(d *strategy.Desk) {
		return map[int]func(d *strategy.Desk){
			1: restBuy,
			2: func(d *strategy.Desk) {
				w.try(d.In(1).Buy(amount(100), strategy.At(95*at1), strategy.Replacing(1)))
				o, open := d.Order(2)
				require.True(t, open, "it is among the open orders while it waits")
				require.Zero(t, o.Status)
				require.Len(t, d.OpenOrders(), 2)
				require.False(t, d.In(1).Flat())
			},
		}
	})
	b.flat(2, 100)
	b.candle(100, 101, 94, 96)
	require.Equal(t, []string{"2"}, w.errs)
	require.Equal(t, []string{"buy 1 @ 90", "cancel 1", "buy 1 @ 95 attached"}, b.sent)
	require.Equal(t, []string{"1 new", "1 canceled", "2 new", "2 trade 1 @ 95"}, b.told)
	require.Equal(t, []string{"1 canceled"}, w.heard)
}

func TestACancelBeforeAReplacementIsFine(t *testing.T) {
	b, _ := swap(t, setup{}, func(w *swapper) map[int]func(d *strategy.Desk) {
		return map[int]func(d *strategy.Desk){1: restBuy, 2: func(d *strategy.Desk) {
			require.NoError(t, d.Cancel(1))
			w.try(d.In(1).Buy(amount(100), strategy.At(95*at1), strategy.Replacing(1)))
		}}
	})
	b.flat(3, 100)
	require.Equal(t, []string{"buy 1 @ 90", "cancel 1", "buy 1 @ 95 attached"}, b.sent)
}

func TestWithLatencyAReplacementLeavesAfterTheConfirmation(t *testing.T) {
	b, _ := swap(t, setup{venue: sim.Config{Latency: market.Duration(minute / 4)}},
		func(w *swapper) map[int]func(d *strategy.Desk) {
			return map[int]func(d *strategy.Desk){1: restBuy, 3: func(d *strategy.Desk) {
				w.try(d.In(1).Buy(amount(100), strategy.At(95*at1), strategy.Replacing(1)))
			}}
		})
	arrived := map[string]market.Time{}
	b.before = func(ev *market.Event) {
		if ev.Report != nil {
			arrived[describeReport(ev)] = ev.At
		}
	}
	b.flat(5, 100)
	require.Equal(t, []string{"1 new", "1 canceled", "2 new"}, b.told)
	require.GreaterOrEqual(t, arrived["2 new"]-arrived["1 canceled"], minute/4)
	require.Less(t, arrived["2 new"]-arrived["1 canceled"], minute, "within the same candle")
}

// replaceRest is a setup in which an order may fill in part before its cancel comes.
var replaceRest = sim.Config{Latency: market.Duration(minute / 2), VolumeShare: 40_000}

func TestAReplacementIsDroppedWhereTheOrderFilledMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   market.Qty // of the new order, at the same price
		volume market.Volume
		want   string // told of the new order; "": it was dropped
		why    string
	}{
		{"the same amount is not covered", 100, 1000, "", "replace: order 1 filled 0.4 meanwhile"},
		{"wholly filled", 100, 1 << 40, "", "replace: order 1 filled 1 meanwhile"},
		{"what is left covers a smaller one whole", 60, 1000, "2 new", ""},
		{"one unit too many", 61, 1000, "", "replace: order 1 filled 0.4 meanwhile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, w := swap(t, setup{venue: replaceRest}, func(w *swapper) map[int]func(d *strategy.Desk) {
				return map[int]func(d *strategy.Desk){1: restBuy, 3: func(d *strategy.Desk) {
					w.try(d.In(1).Buy(amount(c.size), strategy.At(90*at1), strategy.Replacing(1)))
				}}
			})
			b.flat(3, 100)
			fills := candleOf(1, 100, 100, 89, 100)
			fills.Volume = c.volume
			b.group(fills)
			b.flat(2, 100)
			available, held := b.account.Balance(1, 1)
			if c.want == "" {
				require.Equal(t, []string{"buy 1 @ 90", "cancel 1"}, b.sent)
				require.Contains(t, b.log.String(), c.why)
				require.Contains(t, w.heard, "2 rejected")
				require.Zero(t, held)
				return
			}
			require.Contains(t, b.told, c.want)
			require.NotContains(t, w.heard, "2 rejected")
			require.Equal(t, 10_000*eur, available+held+36*eur)
			require.Equal(t, 54*eur, held)
		})
	}
}

func TestAReplacementHoldsOnlyWhatIsNotHeldAlready(t *testing.T) {
	for _, c := range []struct {
		price market.Price
		holds market.Money // both together, while the old order has not ended
	}{{90, 90 * eur}, {50, 90 * eur}, {95, 95 * eur}} {
		b, w := swap(t, setup{}, func(w *swapper) map[int]func(d *strategy.Desk) {
			return map[int]func(d *strategy.Desk){1: restBuy, 2: func(d *strategy.Desk) {
				w.try(d.In(1).Buy(amount(100), strategy.At(c.price*at1), strategy.Replacing(1)))
				available, held := d.Balance(1)
				require.Equal(t, c.holds, held)
				require.Equal(t, 10_000*eur-c.holds, available)
			}}
		})
		b.flat(2, 100)
		require.NoError(t, b.account.Check())
		b.flat(1, 100)
		_, held := b.account.Balance(1, 1)
		require.Equal(t, market.Money(c.price)*eur, held, w.errs)
	}
}

// With all of the cash in one order, a replacement needs no more, and nothing else may have it.
func TestAReplacementOverAllTheCash(t *testing.T) {
	b, w := swap(t, setup{}, func(w *swapper) map[int]func(d *strategy.Desk) {
		return map[int]func(d *strategy.Desk){
			1: func(d *strategy.Desk) { w.try(d.In(1).Buy(amount(100_00), strategy.At(100*at1))) },
			2: func(d *strategy.Desk) {
				w.try(d.In(1).Buy(amount(101_00), strategy.At(100*at1), strategy.Replacing(1)))
				w.try(d.In(1).Buy(strategy.UpTo(amount(200_00)), strategy.At(50*at1), strategy.Replacing(1)))
				w.try(d.In(1).Buy(amount(1), strategy.At(50*at1)))
			},
		}
	})
	w.order = func(d *strategy.Desk, o market.Order, r market.Report) {
		w.hears(d, o, r)
		if r.Exec == market.ExecCanceled && o.ID == 1 {
			_, err := d.In(1).Buy(amount(1), strategy.At(50*at1))
			require.ErrorContains(t, err, "216", "what came free has gone to the replacement")
		}
	}
	b.flat(1, 110)
	b.flat(2, 110)
	require.Equal(t, []string{"1", "refused: the exchange would answer 216: You do not have sufficient balance to " +
		"complete this operation. (needs 10100 EUR, has 10000 EUR)", "2", "refused: the exchange would answer 216: " +
		"You do not have sufficient balance to complete this operation. (needs 0.5 EUR, has 0 EUR)"}, w.errs)
	require.Equal(t, []string{"buy 100 @ 100", "cancel 1", "buy 200 @ 50 attached"}, b.sent)
}

func TestAReplacementHasTheSlotOfTheOrder(t *testing.T) {
	b, w := swap(t, setup{limits: []risk.Limits{{MaxOpenOrders: 1, OrdersPerMinute: 3, MaxInFlight: 1}}},
		func(w *swapper) map[int]func(d *strategy.Desk) {
			return map[int]func(d *strategy.Desk){1: restBuy, 2: func(d *strategy.Desk) {
				w.try(d.In(1).Buy(amount(50), strategy.At(80*at1), strategy.Replacing(1)))
				w.try(d.In(1).Buy(amount(1), strategy.At(50*at1)))
			}, 3: func(d *strategy.Desk) { w.try(d.In(1).Buy(amount(1), strategy.At(50*at1))) }}
		})
	b.flat(4, 100)
	require.Equal(t, []string{"2", "refused: max_in_flight (2, limit 1)", "refused: max_open_orders (2, limit 1)"},
		w.errs)
	require.Equal(t, []string{"buy 1 @ 90", "cancel 1", "buy 0.5 @ 80 attached"}, b.sent)
}

// A replacement counts for orders_per_minute when it is asked for, and only then.
func TestAReplacementIsCountedOnce(t *testing.T) {
	b, w := swap(t, setup{limits: []risk.Limits{{OrdersPerMinute: 2}}},
		func(w *swapper) map[int]func(d *strategy.Desk) {
			return map[int]func(d *strategy.Desk){1: func(d *strategy.Desk) {
				restBuy(d)
				w.try(d.In(1).Buy(amount(50), strategy.At(80*at1), strategy.Replacing(1)))
				w.try(d.In(1).Buy(amount(50), strategy.At(80*at1), strategy.Replacing(2)))
			}}
		})
	b.flat(3, 100)
	require.Equal(t, []string{"2", "refused: orders_per_minute (2, limit 2)"}, w.errs)
	require.Equal(t, []string{"buy 1 @ 90", "cancel 1", "buy 0.5 @ 80 attached"}, b.sent)
}

func TestTheGateChecksAReplacementAgainWhenItLeaves(t *testing.T) {
	b, w := swap(t, setup{limits: []risk.Limits{{PriceCollar: 10 * market.Percent}}},
		func(w *swapper) map[int]func(d *strategy.Desk) {
			return map[int]func(d *strategy.Desk){1: restBuy, 2: func(d *strategy.Desk) {
				w.try(d.In(1).Buy(amount(90), strategy.At(100*at1), strategy.Replacing(1)))
			}}
		})
	b.flat(2, 100)
	b.step(&market.Event{Kind: market.KindTicker, At: b.now, Ticker: &market.Ticker{Market: 1, Last: 60 * at1,
		Bid: 60 * at1, Ask: 60 * at1}})
	b.flat(1, 100)
	require.Equal(t, []string{"buy 1 @ 90", "cancel 1"}, b.sent)
	require.Equal(t, []string{"1 canceled", "2 rejected"}, w.heard)
	require.Contains(t, b.log.String(), "price_collar")
	_, held := b.account.Balance(1, 1)
	require.Zero(t, held)
}

func TestARefusedReplacementLeavesTheOrder(t *testing.T) {
	b, w := swap(t, setup{}, func(w *swapper) map[int]func(d *strategy.Desk) {
		return map[int]func(d *strategy.Desk){1: func(d *strategy.Desk) {
			restBuy(d)
			d.In(1).Buy(amount(100))
		}, 2: func(d *strategy.Desk) {
			w.try(d.In(1).Buy(amount(500_00), strategy.At(90*at1), strategy.Replacing(1)))
			w.try(d.In(1).Sell(amount(1), strategy.At(200*at1), strategy.Replacing(1)))
			w.try(d.In(1).Buy(amount(1), strategy.Replacing(2))) // has ended
			w.try(d.In(1).Buy(amount(1), strategy.Replacing(7)))
			w.try(d.In(1).Buy(amount(1), strategy.Replacing(0)))
			w.try(0, d.Update(1, strategy.Replacing(1)))
			w.try(d.In(1).Protect(strategy.StopAt(50*at1), strategy.Replacing(1)))
			w.try(0, d.In(1).Close(strategy.Replacing(1)))
		}}
	})
	b.flat(3, 100)
	require.Equal(t, []string{
		"refused: the exchange would answer 216: You do not have sufficient balance to complete this operation. " +
			"(needs 45000 EUR, has 9900 EUR)",
		"refused: replace: order 1 is a buy",
		"refused: no_such_order (order 2)", "refused: no_such_order (order 7)",
		"meaningless: Replacing(0): ids begin with 1; an ask that was refused has none",
		"meaningless: Replacing is an option of Buy, Sell, Place and Target",
		"meaningless: Replacing is an option of Buy, Sell, Place and Target",
		"meaningless: Close takes no option but Tag"}, w.errs)
	require.Equal(t, []string{"buy 1 @ 90", "buy 1"}, b.sent)
}

func TestTwoReplacementsOfOneOrderAndOneOfAReplacement(t *testing.T) {
	b, w := swap(t, setup{}, func(w *swapper) map[int]func(d *strategy.Desk) {
		return map[int]func(d *strategy.Desk){1: restBuy, 2: func(d *strategy.Desk) {
			w.try(d.In(1).Buy(amount(200), strategy.At(80*at1), strategy.Replacing(1)))
			w.try(d.In(1).Buy(amount(100), strategy.At(80*at1), strategy.Replacing(1)))
			w.try(0, d.Update(2, strategy.At(70*at1)))
			w.try(d.In(1).Buy(amount(50), strategy.At(70*at1), strategy.Replacing(2)))
			_, held := d.Balance(1)
			require.Equal(t, 90*eur, held, "what the second needed beyond is free again")
		}}
	})
	b.flat(3, 100)
	require.Equal(t, []string{"2", "refused: replace: order 2 waits for the end of order 1 already",
		"refused: in_flight (order 2)", "3"}, w.errs)
	require.Equal(t, []string{"buy 1 @ 90", "cancel 1", "buy 0.5 @ 70 attached"}, b.sent)
	require.Equal(t, []string{"2 canceled", "1 canceled"}, w.heard)
}

// buyOne buys 1 BTC.
func buyOne(d *strategy.Desk) {
	d.In(1).Buy(amount(100))
}

func TestASellIsReplacedOverItsBase(t *testing.T) {
	b, w := swap(t, setup{}, func(w *swapper) map[int]func(d *strategy.Desk) {
		return map[int]func(d *strategy.Desk){1: buyOne,
			2: func(d *strategy.Desk) { w.try(d.In(1).Sell(amount(60), strategy.At(110*at1))) },
			3: func(d *strategy.Desk) {
				w.try(d.In(1).Sell(amount(101), strategy.At(105*at1), strategy.Replacing(2)))
				w.try(d.In(1).Sell(strategy.UpTo(amount(200)), strategy.At(105*at1), strategy.Replacing(2)))
				available, held := d.Balance(2)
				require.Equal(t, [2]market.Money{0, market.Money(btc)}, [2]market.Money{available, held})
			}}
	})
	b.flat(4, 100)
	require.Equal(t, []string{"buy 1", "sell 0.6 @ 110", "cancel 2", "sell 1 @ 105 attached"}, b.sent)
	require.Len(t, w.errs, 3)
}

func TestTheExitsOfAReplacedEntryStay(t *testing.T) {
	b, w := swap(t, setup{venue: sim.Config{VolumeShare: 40_000}},
		func(w *swapper) map[int]func(d *strategy.Desk) {
			return map[int]func(d *strategy.Desk){1: func(d *strategy.Desk) {
				w.try(d.In(1).Buy(amount(100), strategy.At(90*at1), strategy.StopAt(80*at1)))
			}, 3: func(d *strategy.Desk) {
				w.try(d.In(1).Buy(amount(60), strategy.At(85*at1), strategy.StopAt(75*at1),
					strategy.Trail(10*market.Percent),
					strategy.Replacing(1)))
				w.try(d.In(1).Buy(amount(60), strategy.At(85*at1), strategy.Replacing(2)))
			}}
		})
	b.flat(2, 100)
	fills := candleOf(1, 100, 100, 89, 95)
	b.group(fills)
	b.flat(1, 95)
	require.Equal(t, []string{"1", "3", "refused: replace: order 2 is a sell"}, w.errs)
	require.Equal(t, []string{"buy 1 @ 90", "stop 0.4 @ 80 attached", "cancel 1", "buy 0.6 @ 85 attached"}, b.sent)
	require.Zero(t, len(b.engine.Brackets().Bare()))
	big := candleOf(1, 86, 86, 84, 84)
	big.Volume = 1 << 40
	b.group(big)
	require.Equal(t, "stop 0.6 @ 75 attached", b.sent[4])
	require.Equal(t, market.OrderID(3), b.engine.Brackets().EntryOf(4))
	big = candleOf(1, 100, 120, 100, 120)
	big.Volume = 1 << 40
	b.group(big)
	require.Contains(t, b.sent, "update 4 stop 108", "the exits of the new one follow")
}

func TestWhatDropsAReplacement(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(b *bench, d *strategy.Desk)
		why  string
		says string // to the strategy
	}{
		"cancel": {func(_ *bench, d *strategy.Desk) { require.NoError(t, d.Cancel(2)) },
			"its strategy cancelled it", "2 canceled"},
		"cancel all": {func(_ *bench, d *strategy.Desk) { require.NoError(t, d.CancelAll()) },
			"its strategy cancelled it", "2 canceled"},
		"close": {func(_ *bench, d *strategy.Desk) { require.NoError(t, d.In(1).Close()) },
			"a Close leaves the market", "2 rejected"},
		"panic":        {func(*bench, *strategy.Desk) { panic("no") }, "the strategy was halted", ""},
		"halt":         {func(b *bench, _ *strategy.Desk) { b.after = nil }, "the strategy was halted", ""},
		"stop":         {func(*bench, *strategy.Desk) {}, "the run stops", "2 rejected"},
		"operator":     {func(*bench, *strategy.Desk) {}, "all orders are cancelled", "2 rejected"},
		"cancel fails": {func(*bench, *strategy.Desk) {}, "the cancel of order 1 was refused", "2 rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			var b *bench
			b, w := swap(t, setup{}, func(w *swapper) map[int]func(d *strategy.Desk) {
				return map[int]func(d *strategy.Desk){1: restBuy, 2: func(d *strategy.Desk) {
					w.try(d.In(1).Buy(amount(200), strategy.At(80*at1), strategy.Replacing(1)))
					c.do(b, d)
				}}
			})
			b.flat(2, 100)
			switch name {
			case "halt":
				b.send(b.engine.HaltAll(b.now, "a person"))
			case "stop":
				b.send(b.engine.Stop(b.now))
			case "operator":
				b.send(b.engine.CancelAll(b.now))
			case "cancel fails":
				b.step(&market.Event{Kind: market.KindReport, At: b.now, Market: 1,
					Report: &market.Report{Order: 1, Market: 1,
						Exec: market.ExecRejected, Command: market.CommandCancel, Code: 103}})
			}
			require.Len(t, b.account.Open(nil, 0, 0), 1)
			_, held := b.account.Balance(1, 1)
			require.Equal(t, 90*eur, held)
			b.flat(2, 100)
			require.NotContains(t, b.sent, "buy 2 @ 80 attached")
			require.Contains(t, b.log.String(), c.why)
			if c.says != "" {
				require.Contains(t, w.heard, c.says)
			} else {
				require.Empty(t, w.heard)
			}
		})
	}
}

// The outcome of a cancel that is unknown holds a replacement until it is known; so do missing
// fills.
func TestAReplacementWaitsUntilTheEndIsKnown(t *testing.T) {
	fees := func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }
	b, w := swap(t, setup{limits: []risk.Limits{{MaxOpenOrders: 1}}, venue: sim.Config{Fees: fees}},
		func(w *swapper) map[int]func(d *strategy.Desk) {
			return map[int]func(d *strategy.Desk){1: restBuy, 2: func(d *strategy.Desk) {
				w.try(d.In(1).Buy(amount(50), strategy.At(90*at1), strategy.Replacing(1)))
			}, 3: func(d *strategy.Desk) { w.try(d.In(1).Buy(amount(1), strategy.At(90*at1))) }}
		})
	b.flat(2, 100)
	sent := len(b.sent)
	report := market.ReportOf(b.account.Order(1), market.ExecUnknown)
	report.Command = market.CommandCancel
	b.engine.Step(&market.Event{Kind: market.KindReport, At: b.now, Market: 1, Report: &report})
	ended := market.ReportOf(b.account.Order(1), market.ExecTrade)
	ended.Status, ended.OnHold, ended.FilledAmount, ended.AmountRemaining = market.StatusCanceled, 0, btc/2, btc/2
	ended.Updated = b.now
	require.Empty(t, b.engine.Step(&market.Event{Kind: market.KindReport, At: b.now, Market: 1, Report: &ended}))
	require.NoError(t, b.account.Check())
	available, held := b.account.Balance(1, 1)
	require.Equal(t, [2]market.Money{10_000*eur - held, 90*eur + 23}, [2]market.Money{available, held}, "fee included")
	candle := candleOf(1, 100, 100, 100, 100)
	b.engine.Step(&market.Event{Kind: market.KindCandles, At: b.now, Candles: []market.Candle{candle}})
	require.Equal(t, []string{"2", "refused: max_open_orders (2, limit 1)"}, w.errs, "its slot is taken")
	fill := market.Fill{ID: [16]byte{1}, Order: 1, Market: 1, Strategy: 1, Side: market.Buy, Settled: true,
		Price:  90 * at1,
		Amount: btc / 2, FeeCurrency: 1, Time: b.now}
	commands := b.engine.Step(&market.Event{Kind: market.KindFill, At: b.now, Market: 1, Fills: []market.Fill{fill}})
	require.NoError(t, b.account.Check())
	require.Len(t, commands, 1, b.log.String())
	require.Equal(t, "buy 0.5 @ 90 attached", describe(&commands[0]))
	require.Equal(t, sent, len(b.sent))
}

func TestARestartDropsAReplacementAndSaysSo(t *testing.T) {
	b, w := swap(t, setup{}, func(w *swapper) map[int]func(d *strategy.Desk) {
		return map[int]func(d *strategy.Desk){1: restBuy, 2: func(d *strategy.Desk) {
			w.try(d.In(1).Buy(amount(200), strategy.At(80*at1), strategy.StopAt(70*at1), strategy.Replacing(1)))
		}}
	})
	b.flat(2, 100)
	require.Len(t, b.sent, 2)
	saved := map[string][]byte{}
	require.NoError(t, b.engine.Save(func(part string, data []byte) error {
		saved[part] = append([]byte(nil), data...)
		return nil
	}))
	require.Contains(t, string(saved[engine.PartEngine]),
		`"replaces":[{"strategy":"s1","market":"BTC-EUR","old":1,"order":{"id":2`)
	again := &swapper{}
	again.order = again.hears
	account, restored := b.remake(again)
	commands, err := restored.Restore(b.now, saved, nil)
	require.NoError(t, err)
	require.Empty(t, commands)
	require.Equal(t, []string{"2 rejected"}, again.heard)
	require.Contains(t, b.log.String(), "replace: it waited for the end of order 1 at a restart")
	require.Len(t, account.Open(nil, 0, 0), 1)
	_, held := account.Balance(1, 1)
	require.Equal(t, 90*eur, held)
	require.NoError(t, account.Check())
	require.Equal(t, market.OrderID(2), restored.LastOrder(), "its number is not used again")
	require.Empty(t, w.heard)
}
