package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// closer is a bearer that also hears of Closes that failed.
type closer struct {
	bearer
	failed []string
	again  func(d *strategy.Desk, f strategy.CloseFailed)
}

func (c *closer) OnCloseFailed(d *strategy.Desk, f strategy.CloseFailed) {
	c.failed = append(c.failed, fmt.Sprintf("%s of order %d (%s): %s", market.FormatFixed(int64(f.Amount), 8), f.Order,
		f.Tag, f.Why))
	if c.again != nil {
		c.again(d, f)
	}
}

// leave closes an amount, 0 for all.
func leave(m strategy.MarketDesk, amount market.Qty, with ...strategy.Option) error {
	if amount == 0 {
		return m.Close(with...)
	}
	return m.ClosePart(strategy.Amount(amount), with...)
}

// minutely is a candle callback that does something in each minute, from 1 on.
func minutely(acts map[int]func(d *strategy.Desk)) func(*strategy.Desk, market.Candle) {
	minute := 0
	return func(d *strategy.Desk, _ market.Candle) {
		if minute++; acts[minute] != nil {
			acts[minute](d)
		}
	}
}

// closing is a bench whose strategy bought 1 BTC at 100 with exits at 90 and 110, whose stop rests
// as order 2, and calls Close in its third minute.
func closing(t *testing.T, c *closer, amount market.Qty, config sim.Config) *bench {
	return closingAbove(t, c, amount, config, 0)
}

// closingAbove is closing in a market with a minimum.
func closingAbove(t *testing.T, c *closer, amount market.Qty, config sim.Config, least market.Money) *bench {
	c.candle = minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 110*at1)) },
		3: func(d *strategy.Desk) { require.NoError(t, leave(d.In(1), amount, strategy.Tag("signal"))) },
	})
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}}, venue: config})
	b.oneSell = amount == 0
	b.catalog.Market(1).MinOrderInQuote = least
	for range 3 {
		b.group(ample(100))
	}
	return b
}

// ample is a minute at one price in which all orders find enough volume.
func ample(price market.Price) market.Candle {
	c := candleOf(1, price, price, price, price)
	c.Volume = 1 << 40
	return c
}

// closes are Closes of a bracket of 1 BTC bought at 100, at the candle after the decision.
var closes = []struct {
	name     string
	amount   market.Qty
	next     bar
	sent     []string // after the entry and its stop
	told     []string // after entry and stop
	left     market.Qty
	realised market.Money
}{
	{name: "cancel and sale meet the same open", next: bar{102, 103, 101, 102},
		sent: []string{"cancel 2", "sell 1 attached"}, told: []string{"2 canceled", "3 trade 1 @ 102"}, realised: 2 *
			eur},
	{name: "a gap through the stop: the cancel comes first, the price is the same", next: bar{80, 82, 75, 80},
		sent: []string{"cancel 2", "sell 1 attached"}, told: []string{"2 canceled", "3 trade 1 @ 80"}, realised: -20 *
			eur},
	{name: "a gap through the target", next: bar{120, 121, 119, 120},
		sent: []string{"cancel 2", "sell 1 attached"}, told: []string{"2 canceled", "3 trade 1 @ 120"}, realised: 20 *
			eur},
	{name: "stop and target lie in the candle: it is sold at the open", next: bar{100, 125, 80, 100},
		sent: []string{"cancel 2", "sell 1 attached"}, told: []string{"2 canceled", "3 trade 1 @ 100"}},
	{name: "a part reduces the stop and sells", amount: btc / 4, next: bar{102, 103, 101, 102},
		sent: []string{"update 2 0.75", "sell 0.25 attached"}, told: []string{"2 updated", "3 trade 0.25 @ 102"},
		left: 3 * btc / 4, realised: eur / 2},
	{name: "a part, and the reduced stop fires in the same candle", amount: btc / 4, next: bar{102, 103, 80, 85},
		sent: []string{"update 2 0.75", "sell 0.25 attached"},
		told: []string{"2 updated", "3 trade 0.25 @ 102", "2 trade 0.75 @ 90"}, realised: eur/2 - 7*eur - eur/2},
	{name: "a part, and the open is behind the stop", amount: btc / 4, next: bar{80, 82, 75, 80},
		sent: []string{"update 2 0.75", "sell 0.25 attached"},
		told: []string{"2 updated 0.75 @ 80", "3 trade 0.25 @ 80"}, realised: -20 * eur},
	{name: "more than there is closes all", amount: 3 * btc, next: bar{102, 103, 101, 102},
		sent: []string{"cancel 2", "sell 1 attached"}, told: []string{"2 canceled", "3 trade 1 @ 102"}, realised: 2 *
			eur},
}

func TestACloseLeavesAtTheNextOpen(t *testing.T) {
	for _, c := range closes {
		t.Run(c.name, func(t *testing.T) {
			s := &closer{}
			b := closing(t, s, c.amount, sim.Config{})
			b.candle(c.next.open, c.next.high, c.next.low, c.next.close)
			require.Equal(t, c.sent, b.sent[2:])
			require.Equal(t, c.told, b.told[2:])
			require.Equal(t, c.left, b.position())
			require.Equal(t, c.realised, b.realised())
			require.Zero(t, b.engine.Brackets().Unprotected(), "cancel, sale and exit are of one moment")
			require.Empty(t, s.failed)
			require.Empty(t, s.heard)
			b.flat(2, 100)
			require.Equal(t, c.left > 0, len(b.account.Open(nil, 0, 0)) > 0)
			require.Len(t, b.engine.Brackets().Bare(), 0)
		})
	}
}

func TestACloseWithLatencySellsAfterTheConfirmationAndCountsTheTime(t *testing.T) {
	third := minute / 3
	s := &closer{}
	b := closing(t, s, 0, sim.Config{Latency: market.Duration(third)})
	b.flat(1, 100) // its stop has just come; the cancel arrives at ⅓ and the sale at ⅔
	require.Equal(t, []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 100"}, b.told)
	require.Contains(t, b.causes(), "close 20 s")
}

func TestAnExitThatFillsWhollyEndsAClose(t *testing.T) {
	s := &closer{}
	third := minute / 3
	b := closing(t, s, 0, sim.Config{Latency: market.Duration(third)})
	b.candle(85, 86, 84, 85)
	b.flat(2, 85)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached", "cancel 2"}, b.sent)
	require.Equal(t, "2 trade 1 @ 85", b.told[2])
	require.Zero(t, b.position())
	require.Empty(t, s.failed)
	require.Equal(t, []string{"arriving 20 s"}, b.causes())
}

func TestASaleThatExpiresInPartLeavesTheRestProtectedAtOnce(t *testing.T) {
	s := &closer{}
	b := closing(t, s, 0, sim.Config{VolumeShare: 60_000})
	c := candleOf(1, 100, 100, 100, 100)
	b.group(c) // of 1 BTC 0.6
	require.Equal(t, []string{"cancel 2", "sell 1 attached", "stop 0.4 @ 90 attached"}, b.sent[len(b.sent)-3:])
	require.Equal(t, []string{"0.4 of order 3 (signal): sale 3 found too few buyers"}, s.failed)
	require.Equal(t, 4*btc/10, b.position())
	require.Empty(t, b.engine.Brackets().Bare())
	require.Zero(t, b.engine.Brackets().Unprotected())
}

// byHandClose is byHand with the stop, order 2, resting, and a strategy that calls Close with the
// next candle. It returns the commands of that candle too.
func byHandClose(t *testing.T, c *closer, amount market.Qty) (*bench, []string) {
	b := byHand(t, &c.bearer)
	b.slotOf(t, c)
	b.accept(2)
	c.candle = func(d *strategy.Desk, _ market.Candle) { require.NoError(t, leave(d.In(1), amount)) }
	return b, b.close100()
}

// close100 is a candle that closes at 100.
func (b *bench) close100() []string {
	return b.by(&market.Event{Kind: market.KindCandles, At: b.now,
		Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
}

// slotOf makes the bench's engine anew with a strategy, from what it saves.
func (b *bench) slotOf(t *testing.T, s strategy.Strategy) {
	require.Empty(t, b.restart(nil, s))
}

// cancelled answers the cancel of an exit or a sale that has filled in part.
func (b *bench) cancelled(id market.OrderID, filled market.Qty, fills ...market.Fill) []string {
	o := *b.account.Order(id)
	o.Status, o.FilledAmount, o.AmountRemaining, o.OnHold = market.StatusCanceled, filled, o.Amount-filled, 0
	return b.tell(&o, fills...)
}

func (b *bench) tell(o *market.Order, fills ...market.Fill) []string {
	b.now += 1e9
	r := market.ReportOf(o, market.ExecTrade)
	r.Updated = b.now
	return b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: &r, Fills: fills})
}

// sells answers a sale with its fill.
func (b *bench) sells(id market.OrderID, n byte, amount market.Qty, status market.Status) []string {
	o := *b.account.Order(id)
	o.Status, o.FilledAmount, o.AmountRemaining, o.OnHold = status, amount, o.Amount-amount, 0
	return b.tell(&o, soldNumbered(n, id, amount))
}

func soldNumbered(n byte, id market.OrderID, amount market.Qty) market.Fill {
	f := fillNumbered(n, id, amount)
	f.Side = market.Sell
	return f
}

func TestACloseSellsWhatAPartlyFilledExitLeaves(t *testing.T) {
	c := &closer{}
	b, sent := byHandClose(t, c, 0)
	require.Equal(t, []string{"cancel 2"}, sent)
	require.Equal(t, []string{"sell 0.4 attached"}, b.cancelled(2, 6*btc/10, soldNumbered(2, 2, 6*btc/10)))
	require.Empty(t, b.sells(3, 3, 4*btc/10, market.StatusFilled))
	require.Zero(t, b.position())
	require.Empty(t, b.engine.Brackets().Bare())
	require.Equal(t, []string{"close 1 s"}, b.causes())
	_, waiting := b.engine.NextTimer()
	require.False(t, waiting)
}

// The exchange reports the end of an exit before its fills: what they have sold must not be sold
// again.
func TestACloseWaitsForMissingFills(t *testing.T) {
	c := &closer{}
	b, _ := byHandClose(t, c, 0)
	require.Empty(t, b.cancelled(2, 6*btc/10))
	require.Equal(t, []string{"sell 0.4 attached"}, b.by(&market.Event{Kind: market.KindFill, At: b.now,
		Fills: []market.Fill{soldNumbered(2, 2, 6*btc/10)}}))
	o := *b.account.Order(3)
	o.Status, o.FilledAmount, o.AmountRemaining, o.OnHold = market.StatusExpired, 3*btc/10, btc/10, 0
	require.Empty(t, b.tell(&o), "of the sale too")
	require.Equal(t, []string{"stop 0.1 @ 90 attached"}, b.by(&market.Event{Kind: market.KindFill, At: b.now,
		Fills: []market.Fill{soldNumbered(3, 3, 3*btc/10)}}))
	require.Equal(t, []string{"0.1 of order 3 (close): sale 3 found too few buyers"}, c.failed)
}

func TestWhileASaleIsUnresolvedNothingIsSoldOrProtected(t *testing.T) {
	c := &closer{}
	b, _ := byHandClose(t, c, 0)
	c.candle = func(d *strategy.Desk, _ market.Candle) {
		require.NoError(t, d.In(1).Close())
		require.NoError(t, d.In(1).ClosePart(strategy.Amount(btc/2)))
		_, err := d.In(1).Protect(strategy.Exits(90*at1, 110*at1))
		require.ErrorIs(t, err, strategy.ErrNoPosition)
		require.NoError(t, d.Update(1, strategy.Exits(91*at1, 111*at1)), "the levels may move")
	}
	require.Equal(t, []string{"sell 1 attached"}, b.cancelled(2, 0))
	unknown := market.Report{Exec: market.ExecUnknown, Command: market.CommandPlace, Order: 3, Market: 1}
	require.Empty(t, b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: &unknown}))
	for range 5 {
		b.now += minute
		require.Empty(t, b.close100())
		require.Empty(t, b.price(80))
		require.Empty(t, b.price(120))
	}
	require.Len(t, b.engine.Brackets().Bare(), 1)
	require.Equal(t, strategy.CauseClose, b.engine.Brackets().Bare()[0].Cause)
	require.Equal(t, []string{"close 300 s"}, b.causes())
	require.Equal(t, []string{"stop 1 @ 91 attached"}, b.refuse(market.CommandPlace, 3, 0), "it never arrived")
	require.Equal(t, []string{"1 of order 3 (close): sale 3 did not come to the exchange"}, c.failed)
	require.Empty(t, c.heard)
}

func TestARefusedSaleLeavesThePositionProtectedAtTheOldLevels(t *testing.T) {
	c := &closer{}
	b, _ := byHandClose(t, c, 0)
	b.cancelled(2, 0)
	require.Equal(t, []string{"stop 1 @ 90 attached"}, b.refuse(market.CommandPlace, 3, exchange.CodeInvalid))
	require.Len(t, c.failed, 1)
	b.accept(4)
	require.Empty(t, b.engine.Brackets().Bare())
	require.Equal(t, []string{"cancel 4"}, b.close100(), "the strategy may try again")
}

func TestARefusedCancelEndsACloseAndTheExitStays(t *testing.T) {
	c := &closer{}
	b, _ := byHandClose(t, c, 0)
	require.Empty(t, b.refuse(market.CommandCancel, 2, exchange.CodeHalted))
	require.Equal(t, []string{"1 of order 0 (close): the exchange refused the cancel of order 2: " +
		exchange.ErrCode(exchange.CodeHalted).Error()}, c.failed)
	require.Empty(t, b.engine.Brackets().Bare())
	require.Equal(t, market.Watch{Above: 110 * at1}, b.engine.Watches()[1])

	c = &closer{}
	b, sent := byHandClose(t, c, btc/4)
	require.Equal(t, []string{"update 2 0.75"}, sent)
	require.Empty(t, b.refuse(market.CommandUpdate, 2, exchange.CodeInvalid))
	require.Len(t, c.failed, 1)
	require.Empty(t, b.engine.Brackets().Bare())
}

// An order that the exchange does not know has ended: how, the next report says. Where it is open
// after all, it is cancelled again.
func TestACancelOfAnUnknownOrderIsNoFailure(t *testing.T) {
	c := &closer{}
	b, _ := byHandClose(t, c, 0)
	require.Empty(t, b.refuse(market.CommandCancel, 2, exchange.CodeNotFound))
	o := *b.account.Order(2)
	require.Equal(t, []string{"cancel 2"}, b.tell(&o))
	require.Empty(t, b.refuse(market.CommandCancel, 2, exchange.CodeNotFound))
	o.Status, o.FilledAmount, o.AmountRemaining, o.OnHold = market.StatusFilled, btc, 0, 0
	require.Empty(t, b.tell(&o, soldNumbered(2, 2, btc)))
	require.Empty(t, c.failed)
	require.Zero(t, b.position())
	require.Zero(t, b.engine.Brackets().Unprotected())

	b, _ = byHandClose(t, c, btc/4)
	require.Empty(t, b.refuse(market.CommandUpdate, 2, exchange.CodeNotFound))
	o = *b.account.Order(2)
	require.Equal(t, []string{"update 2 0.75 attached"}, b.tell(&o))
}

func TestACloseOfAHaltedStrategyGoesOn(t *testing.T) {
	c := &closer{}
	b, _ := byHandClose(t, c, 0)
	require.Empty(t, b.engine.HaltAll(b.now, "a test"))
	require.Equal(t, []string{"sell 1 attached"}, b.cancelled(2, 0))
	commands, left := b.engine.CancelHalted(b.now)
	require.Empty(t, commands, "the sale is left alone")
	require.Zero(t, left)
	require.True(t, b.engine.Brackets().IsExit(3))
	require.Empty(t, b.sells(3, 3, btc/2, market.StatusPartiallyFilled))
	o := *b.account.Order(3)
	o.Status, o.OnHold = market.StatusExpired, 0
	require.Equal(t, []string{"stop 0.5 @ 90 attached"}, b.tell(&o))
	require.Empty(t, c.failed, "a halted strategy is not called")
}

func TestFlattenGoesOnWhereACloseFails(t *testing.T) {
	c := &closer{}
	b, _ := byHandClose(t, c, 0)
	b.cancelled(2, 0)
	commands, unsold := b.engine.Flatten(b.now, 1, "a test")
	require.Empty(t, commands, "the sale is on its way")
	require.Empty(t, unsold)
	require.Equal(t, []string{"stop 0.75 @ 90 attached"}, b.sells(3, 3, btc/4, market.StatusExpired),
		"the stop is back at once")
	_, unsold = b.engine.Flatten(b.now, 1, "a test")
	require.Len(t, unsold, 1)
	require.Equal(t, 1, unsold[0].Tries)
	require.NotEmpty(t, unsold[0].Why)
}

func TestACloseOfAllEndsTheOtherOrdersOfTheMarketFirst(t *testing.T) {
	for _, whole := range []bool{true, false} {
		c := &closer{}
		c.candle = minutely(map[int]func(*strategy.Desk){
			1: func(d *strategy.Desk) {
				d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 110*at1))
				d.In(1).Buy(strategy.Amount(btc), strategy.Exits(80*at1, 120*at1), strategy.At(85*at1))
				d.In(1).Buy(strategy.Amount(btc), strategy.At(70*at1))
				d.In(1).Buy(strategy.Amount(2 * btc))
			},
			2: func(d *strategy.Desk) { d.In(1).Sell(strategy.Amount(btc), strategy.At(130*at1)) },
			3: func(d *strategy.Desk) {
				amount := 5 * btc / 2
				if whole {
					amount = 0
				}
				if !whole {
					require.ErrorIs(t, d.In(1).ClosePart(strategy.Amount(amount)), strategy.ErrHeld)
					amount = 3 * btc / 2
				}
				require.NoError(t, leave(d.In(1), amount))
			},
		})
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}}})
		b.flat(3, 100)
		before := len(b.sent)
		b.flat(1, 100)
		sent := b.sent[before:]
		if whole {
			require.Equal(t, []string{"sell 3 attached"}, sent)
			require.Equal(t, []string{"cancel 2", "cancel 3", "cancel 5", "cancel 6"}, b.sent[before-4:before])
			require.Zero(t, b.position())
			require.Empty(t, b.account.Open(nil, 0, 0))
		} else {
			require.Equal(t, []string{"cancel 2", "update 5 0.5"}, b.sent[before-2:before])
			require.Equal(t, []string{"sell 1.5 attached"}, sent)
			require.Equal(t, 3*btc/2, b.position())
			require.Len(t, b.account.Open(nil, 0, 0),
				3, "the stop over the rest, the buy and the sell that are no bracket's")
		}
		require.Empty(t, c.failed)
		require.Empty(t, b.engine.Brackets().Bare())
	}
}

// What an entry and a buy fill before their cancels arrive is sold with the rest.
func TestWhatIsBoughtBeforeTheCancelArrivesIsClosedToo(t *testing.T) {
	c := &closer{}
	c.candle = minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.Exits(80*at1, 120*at1), strategy.At(95*at1))
			d.In(1).Buy(strategy.Amount(btc), strategy.At(95*at1))
		},
		2: func(d *strategy.Desk) { require.NoError(t, d.In(1).Close()) },
	})
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}},
		venue: sim.Config{Latency: 30 * market.Duration(1e9)}})
	b.flat(2, 100)
	b.candle(95, 96, 95, 96)
	b.flat(2, 96)
	require.Contains(t, b.sent, "sell 2 attached")
	require.NotContains(t, b.sent, "stop 1 @ 80 attached")
	require.Zero(t, b.position())
	require.Empty(t, b.account.Open(nil, 0, 0))
}

func TestACloseWithoutABracketSellsAtOnce(t *testing.T) {
	c := &closer{}
	c.candle = minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) },
		2: func(d *strategy.Desk) {
			require.NoError(t, d.In(1).Close())
			require.NoError(t, d.In(1).Close())
		},
		4: func(d *strategy.Desk) { require.NoError(t, d.In(1).Close()) },
	})
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}}})
	b.flat(5, 100)
	require.Equal(t, []string{"buy 1", "sell 1"}, b.sent)
	require.Zero(t, b.position())
}

// A fill inside a candle is heard there; what is asked on it waits for the next open, the sale too.
func TestACloseOnAFillWaitsForTheNextOpen(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.At(98*at1))
		d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 99*at1), strategy.At(98*at1))
	})}
	s.fill = func(d *strategy.Desk, f market.Fill) {
		if f.Side == market.Buy {
			require.NoError(t, d.In(1).Close())
		}
	}
	b := one(t, s)
	b.flat(1, 100)
	b.candle(100, 100, 95, 98)
	require.Equal(t, 2*btc, b.position())
	b.flat(1, 97)
	require.Zero(t, b.position())
	require.Equal(t, -2*eur, b.realised(), "at the next open")
}

func TestACloseIsRefusedWhereNothingCouldBeSold(t *testing.T) {
	var said []string
	c := &closer{}
	minute := 0
	c.candle = func(d *strategy.Desk, _ market.Candle) {
		switch minute++; minute {
		case 1:
			d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 110*at1))
		case 3:
			said = append(said, fmt.Sprint(d.In(1).ClosePart(strategy.Amount(1))),
				fmt.Sprint(d.In(1).ClosePart(strategy.Amount(-1))),
				fmt.Sprint(d.In(9).Close()), fmt.Sprint(d.In(1).Close(strategy.PostOnly())))
		case 4:
			said = append(said, fmt.Sprint(d.In(1).Close()))
		}
	}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}}})
	b.catalog.Market(1).MinOrderInQuote = 5 * eur
	b.flat(3, 100)
	b.catalog.Market(1).Status = market.Auction
	b.flat(1, 100)
	require.Len(t, b.sent, 2, "the stop rests on")
	require.Equal(t, []string{
		"refused: the exchange would answer 217: " + exchange.ErrCode(217).Message,
		"meaningless: ClosePart(-1 base): it is no amount of base; Close closes all",
		"meaningless: market 9: the run has markets 1 to 1", "meaningless: Close takes no option but Tag",
		"refused: the exchange would answer 425: " + exchange.ErrCode(425).Message}, said)
}

func TestACloseOfDustIsFlat(t *testing.T) {
	c := &closer{}
	b := closingAbove(t, c, 0, sim.Config{VolumeShare: 98_000}, 5*eur)
	b.flat(1, 100) // of 1 BTC 0.98 are sold; 2 EUR are left
	require.Equal(t, 2*btc/100, b.position())
	require.Equal(t, []string{"cancel 2", "sell 1 attached"}, b.sent[2:])
	require.Empty(t, c.failed)
	require.Empty(t, b.engine.Brackets().Bare())
	b.flat(1, 100)
	require.Len(t, b.sent, 4)
	require.Zero(t, b.engine.Brackets().Unprotected())
}

// What a Close of a part would leave is dust only once the Close has sold: where its sale finds too
// few buyers, the exit covers that too.
func TestAFailedCloseThatWouldLeaveDustProtectsAllThatIsLeft(t *testing.T) {
	c := &closer{}
	b := closingAbove(t, c, 96*btc/100, sim.Config{VolumeShare: 50_000}, 5*eur)
	b.flat(1, 100) // of 0.96 BTC 0.5 are sold
	require.Len(t, c.failed, 1)
	require.Equal(t, []string{"cancel 2", "sell 0.96 attached", "stop 0.5 @ 90 attached"}, b.sent[len(b.sent)-3:])
	require.Equal(t, btc/2, b.position())
	require.Empty(t, b.engine.Brackets().Bare())
}

// What a Close leaves is no dust where the minimum has risen meanwhile: the Close has failed, and
// the position counts as unprotected until the minimum falls.
func TestWhatACloseLeavesUnderARisenMinimumIsNoDust(t *testing.T) {
	c := &closer{}
	b := closing(t, c, 0, sim.Config{VolumeShare: 98_000})
	b.catalog.Market(1).MinOrderInQuote = 5 * eur
	b.flat(1, 100) // of 1 BTC 0.98 are sold; 2 EUR are left
	require.Equal(t, 2*btc/100, b.position())
	require.Len(t, c.failed, 1)
	require.Len(t, b.engine.Brackets().Bare(), 1)
	require.Equal(t, 2*btc/100, b.engine.Brackets().Bare()[0].Amount)
}

// A panic in the callback that asked for a Close takes it back whole.
func TestAPanicTakesACloseBack(t *testing.T) {
	c := &closer{}
	c.candle = minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 110*at1)) },
		3: func(d *strategy.Desk) {
			require.NoError(t, d.In(1).Close())
			panic("oh")
		},
	})
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}}})
	b.flat(4, 100)
	require.Len(t, b.sent, 2)
	require.Empty(t, b.engine.Brackets().Bare())
	b.candle(100, 101, 85, 86)
	require.Zero(t, b.position(), "the stop acts")
}

// A strategy that answers each failure with another Close is stopped by orders_per_minute.
func TestACloseCountsAsAnOrderOfTheMinute(t *testing.T) {
	said := []string{}
	c := &closer{again: func(d *strategy.Desk, f strategy.CloseFailed) {
		said = append(said, fmt.Sprint(d.In(f.Market).Close()))
	}}
	c.candle = minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) },
		3: func(d *strategy.Desk) { require.NoError(t, d.In(1).Close()) },
	})
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}}, limits: []risk.Limits{{OrdersPerMinute: 3}}})
	b.flat(2, 100)
	b.close100()
	for id := market.OrderID(2); b.account.Order(id) != nil; id++ {
		b.refuse(market.CommandPlace, id, exchange.CodeInvalid)
	}
	require.Equal(t, []string{"<nil>", "<nil>", "refused: orders_per_minute (3, limit 3)"}, said)
}

// The whole life of a Close with a restart after every event: nothing differs.
func TestARestartAtAnyMomentOfACloseChangesNothing(t *testing.T) {
	for _, latency := range []market.Duration{0, 20e9} {
		for _, c := range closes {
			play := func(restarting bool) *bench {
				s := &closer{}
				b := closing(t, s, c.amount, sim.Config{Latency: latency, VolumeShare: 80_000})
				if restarting {
					b.restartAlways(s)
				}
				b.candle(c.next.open, c.next.high, c.next.low, c.next.close)
				b.flat(5, c.next.close)
				b.flat(3, 70)
				return b
			}
			want, have := play(false), play(true)
			require.Equal(t, want.sent, have.sent, c.name)
			require.Equal(t, want.told, have.told, c.name)
			require.Equal(t, want.causes(), have.causes(), c.name)
		}
	}
}

// restartAlways makes the engine anew after every step, from what it saves.
func (b *bench) restartAlways(strategies ...strategy.Strategy) {
	watches := b.engine.Watches() // the venue reads those of the first engine
	b.after = func([]market.Command) { copy(watches, b.engine.Watches()) }
	b.done = func() {
		require.Empty(b.t, b.restartNow(nil, strategies...))
		b.after(nil)
	}
}

// onceMore is a strategy that trades brackets, plain orders and Closes by chance, and nothing else.
type onceMore struct {
	closer
	chance *rand.Rand
	plain  bool // also orders outside brackets
	stop   bool // does nothing more
	last   bool // but close all
	closes int
}

func (s *onceMore) OnCandle(d *strategy.Desk, c market.Candle) {
	if s.stop {
		if s.last {
			d.In(1).Close()
		}
		return
	}
	near := func(least, most int) market.Price {
		return c.Close + market.Price(least+s.chance.IntN(most-least+1))*at1
	}
	draw := s.chance.IntN(10)
	switch {
	case !s.plain && draw < 3 && (d.In(1).Position().Amount > 0 || len(d.In(1).OpenOrders()) > 0):
		// one bracket at a time
	case draw < 2:
		d.In(1).Buy(strategy.Amount(btc/8*market.Qty(1+s.chance.IntN(3))), append(inParts(s.chance, c.Close),
			strategy.Exits(near(-6, -1), near(4, 9)), strategy.Keep(market.Leg(s.chance.IntN(2))))...)
	case draw == 2:
		d.In(1).Buy(strategy.Amount(btc/8*market.Qty(1+s.chance.IntN(3))), append(inParts(s.chance, c.Close),
			strategy.Exits(near(-9, -4), near(4, 9)), strategy.At(near(-3, 0)))...)
	case draw < 5:
		s.leave(d)
	case !s.plain:
	case draw == 5:
		d.In(1).Buy(strategy.Amount(btc / 8))
	case draw == 6:
		d.In(1).Buy(strategy.Amount(btc/4), strategy.At(near(-3, 0)))
	case draw == 7:
		d.In(1).Sell(strategy.Amount(btc/8), strategy.At(near(0, 3)))
	case draw == 8:
		d.In(1).Protect(strategy.Exits(near(-6, -1), near(1, 6)))
	case draw == 9:
		if open := d.In(1).OpenOrders(); len(open) > 0 {
			d.Cancel(open[s.chance.IntN(len(open))].ID)
		}
	}
}

func (s *onceMore) OnFill(d *strategy.Desk, _ market.Fill) {
	if !s.stop && s.chance.IntN(10) == 0 {
		s.leave(d)
	}
}

func (s *onceMore) leave(d *strategy.Desk) {
	amount := market.Qty(0)
	if s.chance.IntN(2) == 0 {
		amount = 1 + market.Qty(s.chance.Int64N(int64(btc/3)))
	}
	if leave(d.In(1), amount) == nil {
		s.closes++
	}
}

// randomly lets a strategy close at random moments before an exchange with latency, little volume
// and a hand that cancels exits and sales.
func randomly(t *testing.T, seed uint64, plain, restarting bool) (*bench, *onceMore, *tally) {
	chance := rand.New(rand.NewPCG(seed, 23))
	s := &onceMore{chance: rand.New(rand.NewPCG(seed, 29)), plain: plain}
	book := &tally{}
	config := sim.Config{Latency: market.Duration(chance.IntN(3)) * 7e9}
	if chance.IntN(2) == 0 {
		config.VolumeShare = market.Rate(1 + chance.IntN(20_000_000))
	}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: config, observer: book,
		account: risk.AccountLimits{AllowSelfCross: true}})
	if plain { // an onlooker would count dust
		b.catalog.Market(1).MinOrderInQuote = market.Money(chance.IntN(2)) * eur
	}
	x := &exposed{b: b, last: b.now}
	if !plain {
		b.before = x.look
	}
	b.done = func() { require.NoError(t, b.engine.CheckBrackets()) }
	if restarting {
		b.restartAlways(s)
	}
	price := market.Price(100)
	for range 120 {
		for _, o := range b.account.Open(nil, 0, 0) {
			if o.Side == market.Sell && chance.IntN(8) == 0 {
				b.venue.Cancel(o.ID, 0, market.CancelOnAdminRequest)
			}
		}
		next := max(20, price+market.Price(chance.IntN(7)-3))
		b.candle(price, max(price, next)+market.Price(chance.IntN(3)),
			min(price, next)-market.Price(chance.IntN(3)), next)
		price = next
	}
	x.look(nil)
	book.exposed = x.sum
	s.stop = true
	b.before = nil
	return b, s, book
}

// tally adds up what an observer is told.
type tally struct {
	bought, sold market.Qty
	exposed      market.Duration
	parts, kept  int // partial targets that were to be sold, and that stayed with the rest
}

func (l *tally) Filled(o *state.Order, f *market.Fill) {
	if o.Side == market.Buy {
		l.bought += f.Amount
	} else {
		l.sold += f.Amount
	}
}

func (l *tally) Closed(*state.Order) {}

func (l *tally) PartReached(p *strategy.PartReached) {
	if p.Why != "" {
		l.kept++
	} else {
		l.parts++
	}
}

// Whatever is closed when: position and sold are what was bought, and once the exchange leaves the
// strategy alone, one Close makes it flat.
func TestWhateverIsClosedPositionAndSoldAreWhatWasBought(t *testing.T) {
	closes, failed, parts, kept := 0, 0, 0, 0
	for seed := range uint64(*markets) {
		b, s, book := randomly(t, seed, true, false)
		closes, failed, parts, kept = closes+s.closes, failed+len(s.failed), parts+book.parts, kept+book.kept
		require.Equal(t, book.bought, b.position()+book.sold, "seed %d", seed)
		for range 5 { // what is under way ends
			b.group(ample(100))
		}
		s.last = true
		for range 5 {
			b.group(ample(100))
		}
		require.Equal(t, book.bought, b.position()+book.sold, "seed %d", seed)
		require.LessOrEqual(t, b.position(), btc/100, "seed %d: %v", seed, s.failed)
		require.Empty(t, b.account.Open(nil, 0, 0), "seed %d", seed)
		require.Empty(t, b.engine.Brackets().Bare(), "seed %d", seed)
	}
	require.Greater(t, closes, 10**markets)
	require.Positive(t, failed)
	require.Greater(t, parts, *markets)
	require.Positive(t, kept)
}

// The time without an exit is what an onlooker measures, Closes included.
func TestTheTimeThatACloseTakesIsWhatAnOnlookerMeasures(t *testing.T) {
	total, closing := market.Duration(0), market.Duration(0)
	for seed := range uint64(*markets) {
		b, _, book := randomly(t, seed, false, false)
		require.Equal(t, book.exposed, b.engine.Brackets().Unprotected(), "seed %d: %v", seed, b.causes())
		total += book.exposed
		for _, c := range b.engine.Brackets().UnprotectedBy() {
			if c.Cause == strategy.CauseClose {
				closing += c.Time
			}
		}
	}
	require.Positive(t, total)
	require.Positive(t, closing)
}

func TestARestartAtAnyMomentOfRandomClosesChangesNothing(t *testing.T) {
	for seed := range uint64(12) {
		want, s, _ := randomly(t, seed, true, false)
		have, again, _ := randomly(t, seed, true, true)
		require.Equal(t, want.sent, have.sent, "seed %d", seed)
		require.Equal(t, want.told, have.told, "seed %d", seed)
		require.Equal(t, want.causes(), have.causes(), "seed %d", seed)
		require.Equal(t, s.failed, again.failed, "seed %d", seed)
	}
}

// Base without a bracket that the strategy sells by itself after the Close is not sold by it.
func TestWhatIsSoldBesideACloseIsNotSoldTwice(t *testing.T) {
	c := &closer{}
	c.candle = minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 110*at1))
			d.In(1).Buy(strategy.Amount(btc))
		},
		3: func(d *strategy.Desk) {
			require.NoError(t, d.In(1).Close())
			_, err := d.In(1).Sell(strategy.Amount(btc))
			require.NoError(t, err)
		},
	})
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}}, venue: sim.Config{Latency: 20e9}})
	b.flat(3, 100)
	b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: reported(4, b.now, market.StatusFilled, btc),
		Fills: []market.Fill{soldNumbered(9, 4, btc)}})
	require.Equal(t, []string{"sell 1 attached"}, b.cancelled(3, 0))
	require.Empty(t, b.sells(5, 5, btc, market.StatusFilled))
	require.Zero(t, b.position())
	require.Empty(t, b.engine.Brackets().Bare())
	require.Empty(t, c.failed)
}

// A sell that the strategy places after the Close keeps its base.
func TestACloseLeavesTheBaseOfLaterSells(t *testing.T) {
	c := &closer{}
	c.candle = minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 110*at1))
			d.In(1).Buy(strategy.Amount(btc))
		},
		3: func(d *strategy.Desk) {
			require.NoError(t, d.In(1).Close())
			_, err := d.In(1).Sell(strategy.Amount(btc/4), strategy.At(130*at1))
			require.NoError(t, err)
		},
	})
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}}})
	b.flat(5, 100)
	require.Contains(t, b.sent, "sell 1.75 attached")
	require.Equal(t, btc/4, b.position())
	require.Empty(t, c.failed)
	require.Empty(t, b.engine.Brackets().Bare())
	require.Len(t, b.account.Open(nil, 0, 0), 1)
}
