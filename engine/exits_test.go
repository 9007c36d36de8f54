package engine_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// bearer is a script that hears of positions without an exit.
type bearer struct {
	script
	heard []string
	act   func(d *strategy.Desk, u strategy.Unprotected)
}

func (h *bearer) OnUnprotected(d *strategy.Desk, u strategy.Unprotected) {
	h.heard = append(h.heard, fmt.Sprintf("%d %s %s", u.Bracket, u.Cause, market.FormatFixed(int64(u.Amount), 8)))
	if h.act != nil {
		h.act(d, u)
	}
}

// guard is an observer that hears of them too.
type guard struct{ why []string }

func (g *guard) Filled(*state.Order, *market.Fill)   {}
func (g *guard) Closed(*state.Order)                 {}
func (g *guard) Unprotected(u *strategy.Unprotected) { g.why = append(g.why, u.Why) }

// bought is a bench whose strategy bought 1 BTC at 100 in a bracket with exits at 90 and 110: the
// stop rests as order 2.
func bought(t *testing.T, h *bearer, with ...strategy.Option) (*bench, *guard) {
	g := &guard{}
	h.candle = once(func(d *strategy.Desk) {
		with = append([]strategy.Option{strategy.StopAt(90 * at1), strategy.TargetAt(110 * at1)}, with...)
		_, err := d.In(1).Buy(strategy.Amount(btc), with...)
		require.NoError(t, err)
	})
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: h}}, observer: g})
	b.flat(2, 100)
	return b, g
}

// byHand is an engine that has bought 1 BTC at 100 in a bracket and hears the exchange's answers by
// hand: its exit, order 2, is sent and not answered.
func byHand(t *testing.T, h *bearer, before ...func(b *bench)) *bench {
	h.candle = once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
	})
	b := byHandOf(t, h, before...)
	b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: reported(1, 1, market.StatusFilled, btc),
		Fills: []market.Fill{fillNumbered(1, 1, btc)}})
	return b
}

// byHandOf is an engine that has seen a candle at 100 and hears the exchange's answers by hand.
func byHandOf(t *testing.T, h *bearer, before ...func(b *bench)) *bench {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: h}}})
	for _, act := range before {
		act(b)
	}
	b.by(&market.Event{Kind: market.KindCandles, At: b.now, Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
	return b
}

// by steps the engine without the venue, and returns the commands in words.
func (b *bench) by(ev *market.Event) (words []string) {
	b.t.Helper()
	ev.At = max(ev.At, b.engine.Now())
	commands := b.engine.Step(ev)
	for i := range commands {
		words = append(words, describe(&commands[i]))
	}
	require.NoError(b.t, b.engine.Err())
	require.NoError(b.t, b.account.Check())
	return words
}

// refuse answers a command of an order with a code of the exchange.
func (b *bench) refuse(kind market.CommandKind, id market.OrderID, code int) []string {
	return b.by(&market.Event{Kind: market.KindReport, At: b.now,
		Report: &market.Report{Exec: market.ExecRejected, Command: kind, Order: id, Market: 1, Code: code}})
}

// accept answers an exit: it rests.
func (b *bench) accept(id market.OrderID) []string {
	o := *b.account.Order(id)
	o.Status, o.AmountRemaining = market.StatusNew, o.Amount
	r := market.ReportOf(&o, market.ExecNew)
	r.Updated = b.now
	return b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: &r})
}

func (b *bench) price(p market.Price) []string {
	return b.by(&market.Event{Kind: market.KindTrade, At: b.now, Trade: &market.Trade{Market: 1, Price: p * at1}})
}

func (b *bench) causes() (list []string) {
	for _, c := range b.engine.Brackets().UnprotectedBy() {
		list = append(list, fmt.Sprintf("%s %d s", c.Cause, c.Time/1e9))
	}
	return list
}

// Seen at 31b5e46: the exit of an entry of 5.19 EUR was refused with 217 once it had filled, and
// the bracket was gone.
func TestAnEntryWhoseStopCouldNotRestIsRefused(t *testing.T) {
	var said []string
	s := &script{candle: once(func(d *strategy.Desk) {
		for _, levels := range [][2]market.Price{{90, 110}, {97, 110}, {-1, 110}} {
			_, err := d.In(1).Buy(strategy.Amount(5_190_000), strategy.Exits(levels[0]*at1, levels[1]*at1))
			said = append(said, fmt.Sprint(err))
		}
		_, err := d.In(1).Buy(strategy.Money(5*eur+40), strategy.Exits(90*at1, 0))
		said = append(said, fmt.Sprint(err))
	})}
	b := one(t, s)
	b.catalog.Market(1).MinOrderInQuote = 5 * eur
	b.flat(2, 100)
	require.Equal(t, []string{"refused: stop: 4.67 EUR is below the minimum of 5", "<nil>",
		"meaningless: Exits(-100): a stop is positive, or 0 for none",
		"refused: stop: 4.86 EUR is below the minimum of 5"}, said)
	require.Equal(t, []string{"buy 0.0519", "stop 0.0519 @ 97 attached"}, b.sent)
	require.Equal(t, []risk.Count{{Reason: "stop", N: 2}, {Reason: "malformed", N: 1}}, b.engine.Refused(1))
}

func TestAnExitThatTheExchangeEndsIsReplacedAndThenTheOtherStandsIn(t *testing.T) {
	h := &bearer{}
	b, g := bought(t, h)
	for id := market.OrderID(2); id <= 4; id++ {
		require.True(t, b.venue.Cancel(id, 0, market.CancelOnAdminRequest), "exit %d", id)
		b.flat(1, 100)
	}
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached", "stop 1 @ 90", "sell 1 @ 110"}, b.sent[:4])
	b.flat(60, 100)
	require.Equal(t, []string{"1 cancelled 1", "1 cancelled 1", "1 cancelled 1"}, h.heard,
		"once for each exit that had rested")
	require.Equal(t, "the exchange cancelled exit 2: cancelOnAdminRequest", g.why[0])
	require.Equal(t, btc, b.position())
	require.Len(t, b.account.Open(nil, 0, 0), 1, "the position is protected again")
	b.candle(100, 100, 80, 85)
	b.flat(2, 85)
	require.Zero(t, b.position(), "and its stop acts, resting or watched")
}

// An exchange that refuses every exit for a day costs a few requests a minute, and every second
// counts. The cause may go at any time, and a minute later there is an exit.
func TestAnExitThatIsAlwaysRefusedIsTriedEachMinuteAndCounted(t *testing.T) {
	h := &bearer{}
	b := byHand(t, h)
	began, sent := b.now, 1
	refuseAll := func() {
		for _, o := range b.account.Open(nil, 0, 0) {
			sent++
			b.refuse(market.CommandPlace, o.ID, exchange.CodeInvalid)
		}
	}
	for range 20 {
		refuseAll()
	}
	for at, waiting := b.engine.NextTimer(); at < began+24*60*minute; at, waiting = b.engine.NextTimer() {
		require.True(t, waiting)
		b.now = at
		b.by(&market.Event{Kind: market.KindTimer, At: b.now})
		refuseAll()
		refuseAll()
	}
	require.Less(t, sent, 3000)
	require.Greater(t, sent, 24*60)
	require.Equal(t, []string{"1 refused 1"}, h.heard)
	require.InDelta(t, float64(24*60*minute), float64(b.engine.Brackets().Unprotected()), float64(2*minute))
	require.Len(t, b.engine.Brackets().Bare(), 1)
	require.Equal(t, strategy.CauseRefused, b.engine.Brackets().Bare()[0].Cause)
}

func TestARefusedStopLeavesTheTargetAndComesBackWithOtherRules(t *testing.T) {
	h := &bearer{}
	b := byHand(t, h)
	require.Equal(t, []string{"stop 1 @ 90"}, b.refuse(market.CommandPlace, 2, exchange.CodeInvalid))
	require.Equal(t, []string{"sell 1 @ 110"}, b.refuse(market.CommandPlace, 3, exchange.CodeInvalid))
	require.Empty(t, b.accept(4))
	require.Empty(t, b.engine.Brackets().Bare(), "the target rests")
	require.Equal(t, market.Watch{Below: 90 * at1}, b.engine.Watches()[1])
	b.now += minute
	require.Equal(t, []string{"cancel 4 attached"},
		b.by(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Trading}),
		"the stop is wanted")
	require.Equal(t, []string{"1 refused 1"}, h.heard)
}

func TestAHaltedMarketIsACauseAndItsReturnBringsTheExit(t *testing.T) {
	h := &bearer{}
	b := byHand(t, h)
	b.by(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Halted})
	require.Empty(t, b.refuse(market.CommandPlace, 2, exchange.CodeHalted))
	require.Equal(t, []string{"1 halted 1"}, h.heard)
	for began := b.now; b.now < began+minute/2-9e9; { // the waits grow: at its end the next attempt is seconds away
		b.now, _ = b.engine.NextTimer()
		require.Empty(t, b.by(&market.Event{Kind: market.KindTimer, At: b.now}))
	}
	b.now = start + minute/2
	at, _ := b.engine.NextTimer()
	require.Greater(t, at, b.now)
	require.Equal(t, []string{"stop 1 @ 90"},
		b.by(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Trading}))
	b.now += minute / 6
	b.accept(3)
	require.Equal(t, []string{"arriving 10 s", "halted 30 s"}, b.causes())
}

// ends answers an exit: the exchange has cancelled it.
func (b *bench) ends(id market.OrderID) []string {
	o := *b.account.Order(id)
	o.Status, o.RestatementReason = market.StatusCanceled, market.CancelOnAdminRequest
	r := market.ReportOf(&o, market.ExecCanceled)
	r.Updated = b.now
	return b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: &r})
}

func TestAnExitThatEndsOnceAnHourIsReplacedAtOnceEachTime(t *testing.T) {
	b := byHand(t, &bearer{})
	for id := market.OrderID(2); id < 12; id++ {
		b.accept(id)
		b.now += 60 * minute
		require.Equal(t, []string{"stop 1 @ 90"}, b.ends(id))
	}
	require.Zero(t, b.engine.Brackets().Unprotected())
}

// A person who cancels an exit (bot cancel) does not end its bracket, unlike bot flatten and bot
// cancel-all. Where it is cancelled twice within minutes, the other exit stands in.
func TestAnExitThatAPersonCancelsIsPlacedAgain(t *testing.T) {
	b := byHand(t, &bearer{})
	cancelled := func(id market.OrderID) []string {
		in := market.Input{Kind: market.InputCancel, At: b.now, Orders: []market.OrderID{id}}
		commands := b.engine.Enter(&in).Commands
		require.Len(t, commands, 1)
		require.Equal(t, fmt.Sprintf("cancel %d", id), describe(&commands[0]))
		return b.ends(id)
	}
	b.accept(2)
	b.now += minute
	require.Equal(t, []string{"stop 1 @ 90"}, cancelled(2))
	b.accept(3)
	b.now += minute
	require.Equal(t, []string{"sell 1 @ 110"}, cancelled(3))
	b.accept(4)
	require.Empty(t, b.engine.Brackets().Bare())
	b.now += 20 * minute
	require.Equal(t, []string{"stop 1 @ 90"}, cancelled(4), "an exit that has lasted is no failure")
	b.accept(5)
	require.Empty(t, b.engine.Brackets().Bare())
	require.Equal(t, btc, b.position())
}

// A bracket that its strategy has ended stays so, whatever its entry still buys before the cancel
// of it arrives.
func TestWhatAnEntryBuysAfterItsBracketWasEndedIsTheStrategysAffair(t *testing.T) {
	minutes := 0
	h := &bearer{script: script{candle: func(d *strategy.Desk, _ market.Candle) {
		if minutes++; minutes == 1 {
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
		} else {
			require.NoError(t, d.Cancel(1))
		}
	}}}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: h}}})
	candles := []market.Candle{candleOf(1, 100, 100, 100, 100)}
	b.by(&market.Event{Kind: market.KindCandles, At: b.now, Candles: candles})
	b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: reported(1, 1, market.StatusPartiallyFilled, btc/2),
		Fills: []market.Fill{fillNumbered(1, 1, btc/2)}})
	b.accept(2)
	require.Equal(t, []string{"cancel 2", "cancel 1"},
		b.by(&market.Event{Kind: market.KindCandles, At: b.now, Candles: candles}))
	require.Empty(t, b.by(&market.Event{Kind: market.KindReport, At: b.now,
		Report: reported(1, 2, market.StatusFilled, btc), Fills: []market.Fill{fillNumbered(2, 1, btc/2)}}))
	require.Empty(t, b.engine.Brackets().Bare())
}

func TestAnExitWhoseOutcomeIsUnknownProtectsNothing(t *testing.T) {
	h := &bearer{}
	b := byHand(t, h)
	b.now += 2e9
	b.by(&market.Event{Kind: market.KindReport, At: b.now,
		Report: &market.Report{Exec: market.ExecUnknown, Command: market.CommandPlace, Order: 2, Market: 1}})
	b.now += 20e9
	b.accept(2)
	require.Equal(t, []string{"arriving 2 s", "unknown 20 s"}, b.causes())
	require.Empty(t, h.heard)
}

// A swap, and an enlargement, that the exchange refuses again and again is not asked for with every
// price or at once.
func TestRefusedChangesOfAnExitAreNotRepeatedAtOnce(t *testing.T) {
	b := byHand(t, &bearer{})
	b.accept(2)
	asked := 0
	for range 100 {
		if len(b.price(111)) > 0 {
			asked++
			b.refuse(market.CommandCancel, 2, exchange.CodeHalted)
		}
	}
	require.Equal(t, 2, asked)
	b.now += minute
	require.Len(t, b.price(111), 1, "the target is still waited for")

	b = byHand(t, &bearer{})
	o := *b.account.Order(2)
	o.Status, o.Amount, o.AmountRemaining = market.StatusNew, btc/2, btc/2 // self-trade prevention took a half of it
	r := market.ReportOf(&o, market.ExecNew)
	commands := b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: &r})
	for asked = 0; len(commands) > 0; asked++ {
		require.Equal(t, []string{"update 2 1 attached"}, commands)
		require.Less(t, asked, 10)
		commands = b.refuse(market.CommandUpdate, 2, exchange.CodeInvalid)
	}
	require.Equal(t, 2, asked)
	at, waiting := b.engine.NextTimer()
	require.True(t, waiting)
	require.Equal(t, b.now+1e9, at)
	b.now = at
	require.Equal(t, []string{"update 2 1 attached"}, b.by(&market.Event{Kind: market.KindTimer, At: at}))
	require.Equal(t, []string{"partly 1 s"}, b.causes())
}

func TestAStrategyMaySellWhatCannotBeProtected(t *testing.T) {
	h := &bearer{act: func(d *strategy.Desk, u strategy.Unprotected) {
		_, err := d.In(u.Market).Sell(strategy.Amount(u.Amount))
		require.NoError(t, err)
	}}
	g := &guard{}
	h.candle = once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(40*at1), strategy.At(100*at1))
	})
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: h}}, observer: g,
		venue: sim.Config{VolumeShare: 40_000}})
	b.catalog.Market(1).MinOrderInQuote = 30 * eur
	b.flat(1, 101)
	b.candle(101, 101, 100, 101) // 0.4 BTC: 16 EUR at the stop, 40 at the market
	require.Equal(t, []string{"1 too small 0.4"}, h.heard)
	require.Equal(t, []string{"stop: 16 EUR is below the minimum of 30"}, g.why)
	require.Len(t, b.engine.Brackets().Bare(), 1)
	require.True(t, b.venue.Cancel(1, 0, market.CancelOnAdminRequest))
	c := candleOf(1, 101, 101, 101, 101)
	c.Volume = 1 << 40
	b.group(c)
	require.Zero(t, b.position())
	require.Empty(t, b.engine.Brackets().Bare(), "what is sold needs no exit")
	unprotected := b.engine.Brackets().Unprotected()
	b.flat(10, 100)
	require.Equal(t, unprotected, b.engine.Brackets().Unprotected())
}

func TestFlattenSellsWhatABracketWithoutAnExitHolds(t *testing.T) {
	b := byHand(t, &bearer{})
	b.refuse(market.CommandPlace, 2, exchange.CodeInvalid)
	b.refuse(market.CommandPlace, 3, exchange.CodeInvalid)
	b.refuse(market.CommandPlace, 4, exchange.CodeInvalid)
	require.Empty(t, b.account.Open(nil, 0, 0))
	require.Len(t, b.engine.Brackets().Bare(), 1)
	commands, unsold := b.engine.Flatten(b.now, 1, "a test")
	require.Empty(t, unsold)
	require.Len(t, commands, 1)
	require.Equal(t, "sell 1", describe(&commands[0]))
	require.Empty(t, b.sells(5, 5, btc, market.StatusFilled))
	require.Empty(t, b.engine.Brackets().Bare())
	_, waiting := b.engine.NextTimer()
	require.False(t, waiting)
}

// An entry that was held to have never arrived has bought after all: what it bought is protected.
func TestAnEntryThatComesBackIsProtected(t *testing.T) {
	h := &bearer{script: script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
	})}}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: h}}})
	b.by(&market.Event{Kind: market.KindCandles, At: b.now, Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
	b.by(&market.Event{Kind: market.KindReport, At: b.now,
		Report: &market.Report{Exec: market.ExecUnknown, Command: market.CommandPlace, Order: 1, Market: 1}})
	b.refuse(market.CommandPlace, 1, 0)
	require.Nil(t, b.account.Order(1))
	require.Equal(t, []string{"stop 1 @ 90 attached"},
		b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: reported(1, 1, market.StatusFilled, btc),
			Fills: []market.Fill{fillNumbered(1, 1, btc)}}))
}

func TestLevelsMoveAsFarAsTheMarketAndNoFurther(t *testing.T) {
	var said []string
	minutes := 0
	h := &bearer{script: script{candle: func(d *strategy.Desk, _ market.Candle) {
		exits := func(stop, target market.Price) {
			said = append(said, fmt.Sprint(d.Update(1, strategy.Exits(stop*at1, target*at1))))
		}
		switch minutes++; minutes {
		case 1:
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1), strategy.At(99*at1))
			exits(99, 110)
			exits(90, 99)
			said = append(said, fmt.Sprint(d.Update(1, strategy.Exits(60*at1, 75*at1))))
		case 2:
			said = append(said, fmt.Sprint(d.Update(1, strategy.At(89*at1))))
			said = append(said, fmt.Sprint(d.Update(1, strategy.At(89*at1), strategy.Exits(80*at1, 95*at1))))
		case 3:
			said = append(said, fmt.Sprint(d.Update(1, strategy.At(99*at1), strategy.Exits(90*at1, 110*at1))))
		case 6: // bought at 99, the market at 106
			exits(103, 110)
		case 7:
			exits(106, 110)
			exits(103, 106)
			exits(0, 0)
			exits(103, 120)
		}
	}}}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: h}}})
	b.flat(3, 100)
	b.flat(1, 98)
	b.candle(98, 106, 98, 106)
	b.flat(2, 106)
	require.Equal(t, []string{
		"refused: stop: 99 is not below 99, the price of the entry",
		"refused: target: 99 is not above 99, the worst price of the entry",
		"refused: target: 75 is not above 99, the worst price of the entry",
		"refused: stop: 90 is not below 89, the price of the entry", "<nil>", "<nil>",
		"<nil>",
		"refused: stop: 106 is not below 106, the latest price",
		"refused: target: 106 is not above 106, the latest price",
		"refused: stop: neither stop nor target is left; Cancel ends the bracket", "<nil>"}, said)
	require.Equal(t, market.Watch{Above: 120 * at1}, b.engine.Watches()[1])
}

func TestTheRestingExitMayBeLeftOutAndTheOtherTakesItsPlace(t *testing.T) {
	minutes := 0
	h := &bearer{script: script{candle: func(d *strategy.Desk, _ market.Candle) {
		switch minutes++; minutes {
		case 1:
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
		case 3:
			require.NoError(t, d.Update(1, strategy.Exits(0, 120*at1)))
		}
	}}}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: h}}})
	b.flat(5, 100)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached", "cancel 2", "sell 1 @ 120 attached"}, b.sent)
	b.candle(100, 101, 50, 60)
	require.Equal(t, btc, b.position())
}

// partsIn are the parts in a folder of testdata.
func partsIn(t *testing.T, folder string) map[string][]byte {
	parts, tree := map[string][]byte{}, os.DirFS(filepath.Join("testdata", folder))
	require.NoError(t, fs.WalkDir(tree, ".", func(path string, of fs.DirEntry, err error) error {
		if err == nil && !of.IsDir() {
			parts[strings.TrimSuffix(path, ".json")], err = fs.ReadFile(tree, path)
		}
		return err
	}))
	return parts
}

// The parts have a bracket whose stop rests, one whose entry waits with a negative stop, one that
// keeps its target, and one that has bought too little for its stop.
func TestSavedBracketsThatWouldBeRefusedNowAreWarnedOf(t *testing.T) {
	h, g := &bearer{}, &guard{}
	b := newBench(t, setup{noDeposit: true, slots: []engine.StrategyConfig{{Strategy: h}}, observer: g})
	b.catalog.Market(1).MinOrderInQuote = 20 * eur
	const at = market.Time(60_240_000_000_000)
	_, err := b.engine.Restore(at, partsIn(t, "exits"), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"2 refused 0"}, h.heard)
	require.Equal(t, []string{"kept from before, and would be refused now: stop: -5 is not above 0"}, g.why)
	require.Equal(t, market.Watch{Above: 110 * at1}, b.engine.Watches()[1])
	require.True(t, b.engine.Brackets().IsExit(5))
	require.Len(t, b.engine.Brackets().Bare(), 1)
	require.Equal(t, market.Time(60_160_000_000_000), b.engine.Brackets().Bare()[0].Since)

	b.now = at
	require.Empty(t, b.price(100))
	require.Equal(t, "4 too small 0.4", h.heard[1])
	fill := fillNumbered(9, 2, btc)
	fill.Price = 95 * at1
	sent := b.by(&market.Event{Kind: market.KindReport, At: at, Report: reported(2, at, market.StatusFilled, btc),
		Fills: []market.Fill{fill}})
	require.Equal(t, []string{"sell 1 @ 120 attached"}, sent, "the target rests without the stop")
	require.Equal(t, "2 refused 1", h.heard[2])
	saved := saveAll(t, b.engine)
	var s engine.SavedEngine
	require.NoError(t, market.ParseSaved(saved[engine.PartEngine], 1, &s))
	require.Len(t, s.Brackets, 4)
}

// The parts have a bracket of which a Close sells a quarter, and a waiting entry.
func TestASavedCloseGoesOn(t *testing.T) {
	b := newBench(t, setup{noDeposit: true, slots: []engine.StrategyConfig{{Strategy: &bearer{}}}})
	b.now = 60_180_000_000_000
	_, err := b.engine.Restore(b.now, partsIn(t, "close"), nil)
	require.NoError(t, err)
	o := *b.account.Order(3)
	o.Amount, o.AmountRemaining = btc*3/4, btc*3/4
	o.OnHold = market.Money(btc * 3 / 4)
	r := market.ReportOf(&o, market.ExecUpdated)
	r.Updated = b.now + 1
	require.Empty(t, b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: &r}))
	require.Equal(t, []string{"sell 0.25 attached"}, b.cancelled(2, 0))
}

// As docs/strategies.md has it: an exit at a distance from the fill, not from the decision's close.
func TestATargetMovesToADistanceFromTheFill(t *testing.T) {
	var moved error
	s := &script{
		candle: once(func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 104*at1))
		}),
		fill: func(d *strategy.Desk, f market.Fill) {
			if m := d.In(f.Market); f.Side == market.Buy {
				moved = d.Update(f.Order, strategy.TargetAt(m.Cost().Above(4*market.Percent)))
			}
		},
	}
	b := one(t, s)
	b.flat(1, 100)
	b.candle(102, 105, 102, 105) // the decision's target is reached, that of the fill at 102 is not
	b.flat(1, 105)
	require.NoError(t, moved)
	require.Equal(t, market.Qty(btc), b.account.Position(1, 1).Amount)
	b.candle(105, 107, 105, 107)
	b.flat(1, 107)
	require.Zero(t, b.account.Position(1, 1).Amount)
}
