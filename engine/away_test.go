package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// bearing makes a strategy like the one of byHand that asks for nothing more.
func bearing() *bearer {
	return &bearer{script: script{candle: func(*strategy.Desk, market.Candle) {}}}
}

// rules changes the lowest value of an order in the market.
func (b *bench) rules(least market.Money) []string {
	m := *b.catalog.Market(1)
	m.MinOrderInQuote = least
	return b.by(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Trading, Rules: &m})
}

// The exit is taken away while no exit could be sold, because the exchange's minimum has risen
// above the position. It comes back with the rules, also over a restart, and where a part was sold.
func TestMinimumsThatRiseForAWhileTakeNoBracketAway(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for _, sold := range []market.Qty{0, btc / 4} {
			b := byHand(t, bearing(), func(b *bench) { b.rules(5 * eur) })
			b.accept(2)
			b.price(100)
			left := market.FormatFixed(int64(btc-sold), 8)
			if sold > 0 {
				b.by(&market.Event{Kind: market.KindReport, At: b.now,
					Report: reported(2, 2, market.StatusPartiallyFilled, sold),
					Fills:  []market.Fill{fillNumbered(2, 2, sold)}})
			}
			require.Empty(t, b.rules(2000*eur))
			require.Empty(t, b.ends(2))
			require.Len(t, b.engine.Brackets().Bare(), 1, "it is said while it lasts")
			require.Equal(t, strategy.CauseTooSmall, b.engine.Brackets().Bare()[0].Cause)
			require.Equal(t, btc-sold, b.engine.Brackets().Bare()[0].Amount)
			if restart {
				b.now += minute
				require.Empty(t, b.restartAt(b.now, nil, bearing()))
				require.Empty(t, b.by(&market.Event{Kind: market.KindTimer, At: b.now}))
				require.Len(t, b.engine.Brackets().Bare(), 1)
			}
			b.now += minute
			back := b.rules(5 * eur)
			require.Len(t, back, 1)
			require.Contains(t, back[0], "stop "+left+" @ 90")
		}
	}
}

// What is too small by the rules of its purchase is dust, which counts as nothing.
func TestARestBelowTheMinimumOfItsPurchaseIsDust(t *testing.T) {
	b := byHand(t, bearing(), func(b *bench) { b.rules(5 * eur) })
	b.accept(2)
	b.price(100)
	b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: reported(2, 2, market.StatusPartiallyFilled,
		btc*96/100), Fills: []market.Fill{fillNumbered(2, 2, btc*96/100)}})
	require.Empty(t, b.ends(2))
	require.Empty(t, b.engine.Brackets().Bare())
}

// The rest of a sale is no dust where only the minimum has risen: the Close that cannot sell it
// fails, the exit comes back with the rules, and a Close asked for meanwhile touches no exit.
func TestARestBelowAMinimumThatHasRisenIsNoDust(t *testing.T) {
	c := &closer{}
	b, _ := byHandClose(t, c, 0)
	require.Equal(t, []string{"sell 1 attached"}, b.cancelled(2, 0))
	require.Empty(t, b.rules(2000*eur))
	require.Empty(t, b.sells(3, 3, 6*btc/10, market.StatusExpired))
	require.Equal(t, 4*btc/10, b.engine.Brackets().Covered(1, 1))
	require.Len(t, c.failed, 1)
	require.Equal(t, strategy.CauseTooSmall, b.engine.Brackets().Bare()[0].Cause)
	b.now += minute
	back := b.rules(5 * eur)
	require.Len(t, back, 1)
	require.Contains(t, back[0], "stop 0.4 @ 90")
	b.accept(4)
	require.Empty(t, b.rules(2000*eur))
	c.candle = once(func(d *strategy.Desk) { require.Error(t, d.In(1).Close()) })
	require.Empty(t, b.close100(), "the exit stays")
	require.Empty(t, b.engine.Brackets().Bare())
}

// A stopped engine sends no exit, whatever it hears of meanwhile; the next one does so before all
// else.
func TestAStoppedEngineLeavesItsBracketsToTheNext(t *testing.T) {
	again := []string{"stop 1 @ 90 attached"}
	refuse := func(b *bench) { b.refuse(market.CommandPlace, 2, exchange.CodeInvalid) }
	for name, c := range map[string]struct {
		happens func(b *bench)
		sent    []string // with the first timer after the restart
	}{
		"the exit rests":                  {func(b *bench) { b.accept(2) }, nil},
		"the exit is refused":             {refuse, again},
		"the exit is cancelled":           {func(b *bench) { b.accept(2); b.ends(2) }, again},
		"the exit is cancelled by a stop": {func(b *bench) { b.accept(2); b.withdraw(2); b.ends(2) }, again},
	} {
		t.Run(name, func(t *testing.T) {
			h := bearing()
			b := byHand(t, h)
			b.price(100)
			require.Empty(t, b.engine.Enter(&market.Input{Kind: market.InputStop, At: b.now}).Commands)
			require.Empty(t, b.engine.Enter(&market.Input{Kind: market.InputCancelOthers, At: b.now}).Commands)
			sent := b.account.Open(nil, 0, 0)
			c.happens(b)
			require.LessOrEqual(t, len(b.account.Open(nil, 0, 0)), len(sent), "nothing is placed")
			require.Equal(t, btc, b.engine.Brackets().Covered(1, 1), "the bracket stays")
			b.now += minute
			require.Empty(t, b.restartAt(b.now, nil, bearing()))
			if at, due := b.engine.NextTimer(); c.sent != nil {
				require.True(t, due && at <= b.now)
				require.Equal(t, c.sent, b.by(&market.Event{Kind: market.KindTimer, At: b.now}))
			}
			require.Len(t, b.account.Open(nil, 0, 0), 1)
			require.Equal(t, market.Watch{Above: 110 * at1}, b.engine.Watches()[1], "the target is watched")
		})
	}
}

// What a stop that keeps exits meets has its exit at once: an entry that fills, an exit that is
// refused or cancelled, a Close whose sale is refused. No other Close begins.
func TestAStopThatKeepsExitsPlacesThemItself(t *testing.T) {
	guard := &market.Input{Kind: market.InputGuard}
	again := []string{"stop 1 @ 90"}
	for name, c := range map[string]struct {
		happens func(b *bench) []string
		sent    []string
	}{
		"the exit is refused": {func(b *bench) []string {
			return b.refuse(market.CommandPlace, 2, exchange.CodeInvalid)
		}, again},
		"the exit is cancelled": {func(b *bench) []string { b.accept(2); return b.ends(2) }, again},
	} {
		t.Run(name, func(t *testing.T) {
			b := byHand(t, bearing())
			b.price(100)
			require.Empty(t, b.engine.Enter(&market.Input{Kind: market.InputStop, At: b.now}).Commands)
			guard.At = b.now
			require.Empty(t, b.engine.Enter(guard).Commands)
			require.Equal(t, c.sent, c.happens(b))
			require.Empty(t, b.engine.Enter(guard).Commands, "once")
		})
	}
}

// withdraw cancels an order as a stop does that keeps no exits.
func (b *bench) withdraw(id market.OrderID) {
	b.engine.Enter(&market.Input{Kind: market.InputCancel, At: b.now, Orders: []market.OrderID{id}})
}

// What an entry buys after the stop has no exit until the next start.
func TestAnEntryThatFillsDuringAStopHasItsExitAtTheNextStart(t *testing.T) {
	h := bearing()
	h.candle = once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1), strategy.At(99*at1))
	})
	b := byHandOf(t, h)
	b.price(100)
	b.accept(1)
	b.engine.Enter(&market.Input{Kind: market.InputStop, At: b.now})
	commands := b.engine.Enter(&market.Input{Kind: market.InputCancelOthers, At: b.now}).Commands
	require.Len(t, commands, 1)
	require.Equal(t, "cancel 1", describe(&commands[0]))
	require.Empty(t, b.by(&market.Event{Kind: market.KindReport, At: b.now,
		Report: reported(1, 1, market.StatusPartiallyFilled, btc/2), Fills: []market.Fill{fillNumbered(1, 1, btc/2)}}))
	require.Empty(t, b.ends(1))
	require.Equal(t, strategy.CauseStopped, b.engine.Brackets().Bare()[0].Cause)
	b.now += minute
	b.restartAt(b.now, nil, bearing())
	require.Equal(t, []string{"stop 0.5 @ 90 attached"}, b.by(&market.Event{Kind: market.KindTimer, At: b.now}))
}
