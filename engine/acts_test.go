package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// holder buys one at market with exits, and has a buy resting.
func holder() *script {
	return &script{candle: once(func(d *strategy.Desk) {
		_, _ = d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(50*at1), strategy.TargetAt(200*at1))
		_, _ = d.In(1).Buy(strategy.Amount(btc), strategy.At(60*at1))
	})}
}

// flattens enters a Flatten until the strategy holds nothing or cannot go on, minute by minute.
func (b *bench) flattens(t *testing.T, minutes int, price market.Price) (unsold []engine.Unsold) {
	for range minutes {
		var commands []market.Command
		commands, unsold = b.engine.Flatten(b.now, 1, "flatten")
		b.send(commands)
		b.flat(1, price)
	}
	return unsold
}

func TestFlattenSellsWhenTheCancelsAreConfirmed(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "holder", Strategy: holder()}},
		limits: []risk.Limits{{MaxOrderValue: 150 * eur}}})
	b.flat(3, 100)
	require.EqualValues(t, btc, b.position())
	require.Len(t, b.account.Open(nil, 1, 0), 2, "the buy and the stop")
	b.flat(1, 180) // the position is worth more than an order may be
	sent := len(b.sent)

	commands, unsold := b.engine.Flatten(b.now, 1, "flatten")
	b.send(commands)
	require.Empty(t, unsold)
	require.ElementsMatch(t, []string{"cancel 2", "cancel 3"}, b.sent[sent:],
		"the stop too: the sell needs what it holds")
	commands, unsold = b.engine.Flatten(b.now, 1, "flatten")
	require.Empty(t, commands, "nothing is sold before the cancels are confirmed")
	require.Empty(t, unsold)
	b.flat(2, 180)
	require.Zero(t, b.position())
	require.Equal(t, []string{"sell 1 attached"}, b.sent[sent+2:])
	require.Empty(t, b.account.Open(nil, 0, 0))
	latest, halted := b.engine.Halted(1)
	require.True(t, halted)
	require.Equal(t, "flatten", latest.Reason)
	require.Len(t, b.engine.Halts(), 1, "said once")
}

// statuses in which no market order is taken.
var notTrading = []market.MarketStatus{market.Halted, market.CancelOnly, market.Auction, market.AuctionMatching}

func TestFlattenLeavesTheExitWhereNothingCanBeSoldAndGoesOnWhenItCan(t *testing.T) {
	for _, status := range notTrading {
		t.Run(status.String(), func(t *testing.T) {
			b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "holder", Strategy: holder()}}})
			b.flat(3, 100)
			b.step(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: status})
			sent := len(b.sent)
			commands, unsold := b.engine.Flatten(b.now, 1, "flatten")
			b.send(commands)
			require.Equal(t, []string{"cancel 2"}, b.sent[sent:], "the stop stays")
			require.Len(t, unsold, 1)
			require.True(t, unsold[0].Refused)
			require.Contains(t, unsold[0].Why, "the exchange would answer 4")
			require.EqualValues(t, btc, unsold[0].Amount)
			b.step(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Trading})
			b.flat(2, 100)
			require.Zero(t, b.position(), "the sale goes on by itself")
			require.Equal(t, []string{"cancel 2", "cancel 3", "sell 1 attached"}, b.sent[sent:])
			require.Empty(t, b.account.Open(nil, 1, 0))
		})
	}
}

func TestAPositionBelowTheMinimumThatHasRisenKeepsItsExit(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "holder", Strategy: holder()}}})
	b.flat(3, 100)
	rules := *b.catalog.Market(1)
	rules.MinOrderInQuote = 200 * eur
	b.step(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Trading, Rules: &rules})
	unsold := b.flattens(t, 2, 100)
	require.Len(t, unsold, 1)
	require.True(t, unsold[0].Small)
	require.Contains(t, unsold[0].Why, "100", "the value")
	require.Contains(t, unsold[0].Why, "minimum 200")
	require.True(t, b.engine.Brackets().IsExit(3), "the stop stays")
	require.Len(t, b.account.Open(nil, 1, 0), 1)
	rules.MinOrderInQuote = 5 * eur
	b.step(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Trading, Rules: &rules})
	b.flat(2, 100)
	require.Zero(t, b.position())
}

func TestWhatIsLargerThanTheLargestOrderIsSoldInSeveral(t *testing.T) {
	for _, c := range []struct {
		name       string
		base       market.Qty
		quote      market.Money
		minimum    market.Qty
		last       []string
		untilSells int
	}{
		{name: "base", base: btc * 4 / 10, minimum: btc * 3 / 10,
			last: []string{"cancel 3", "sell 0.33333334 attached", "sell 0.33333333 attached",
				"sell 0.33333333 attached"}},
		{name: "quote", quote: 60 * eur, last: []string{"cancel 3", "sell 0.5 attached", "sell 0.5 attached"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "holder", Strategy: holder()}}})
			b.flat(3, 100)
			rules := *b.catalog.Market(1)
			rules.MaxOrderInBase, rules.MaxOrderInQuote, rules.MinOrderInBase = c.base, c.quote, c.minimum
			b.step(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Trading,
				Rules: &rules})
			sent := len(b.sent)
			require.Empty(t, b.flattens(t, 6, 100))
			require.Zero(t, b.position())
			require.Equal(t, append([]string{"cancel 2"}, c.last...), b.sent[sent:])
		})
	}
}

func TestAStopThatIsLargerThanTheMarketTakesSellsInTurns(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "holder",
		Strategy: &script{candle: once(func(d *strategy.Desk) {
			_, _ = d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(50*at1))
		})}}}})
	b.flat(3, 100)
	rules := *b.catalog.Market(1)
	rules.MaxOrderInBase = btc * 6 / 10
	b.step(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Trading, Rules: &rules})
	require.EqualValues(t, btc, b.account.Order(2).AmountRemaining, "what rests is not touched")
	b.send(b.engine.Cancel(b.now, []market.OrderID{2}))
	b.flat(2, 100)
	open := b.account.Open(nil, 1, 0)
	require.Len(t, open, 1)
	require.EqualValues(t, btc/2, open[0].AmountRemaining)
	bare := b.engine.Brackets().Bare()
	require.Len(t, bare, 1)
	require.Equal(t, strategy.CausePartly, bare[0].Cause)
	require.EqualValues(t, btc/2, bare[0].Amount)
	b.candle(100, 100, 40, 45)
	b.flat(3, 45)
	require.Zero(t, b.position())
	require.Empty(t, b.engine.Brackets().Bare())
}

func TestAfterCancelAllThePositionCountsAsUnprotectedUntilItsStrategyIsResumed(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "holder", Strategy: holder()}}})
	b.flat(3, 100)
	b.send(b.engine.CancelAll(b.now))
	b.flat(3, 100)
	require.Empty(t, b.account.Open(nil, 1, 0), "no exit comes by itself")
	bare := b.engine.Brackets().Bare()
	require.Len(t, bare, 1)
	require.Equal(t, strategy.CauseCancelled, bare[0].Cause)
	require.EqualValues(t, btc, bare[0].Amount)
	require.True(t, b.engine.Brackets().Withdrawn(1))
	b.send(b.engine.Resume(b.now, 1))
	b.flat(2, 100)
	open := b.account.Open(nil, 1, 0)
	require.Len(t, open, 1)
	require.EqualValues(t, 50*at1, open[0].TriggerAmount)
	require.Empty(t, b.engine.Brackets().Bare())
}

func TestAHaltLeavesTheExitsAndCancelAllDoesNot(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "holder", Strategy: holder()}}})
	b.flat(3, 100)
	var exit market.OrderID
	for _, o := range b.account.Open(nil, 1, 0) {
		if b.engine.Brackets().IsExit(o.ID) {
			exit = o.ID
		}
	}
	require.EqualValues(t, 3, exit)
	b.send(b.engine.HaltOne(b.now, 1, "enough"))
	b.flat(1, 100)
	left := b.account.Open(nil, 1, 0)
	require.Len(t, left, 1)
	require.Equal(t, exit, left[0].ID)
	b.send(b.engine.CancelAll(b.now))
	require.Empty(t, b.engine.Cancel(b.now, []market.OrderID{exit}), "it is on its way")
	b.flat(1, 100)
	require.Empty(t, b.account.Open(nil, 1, 0))
	require.EqualValues(t, btc, b.position())
}

func TestAResumeIsSaved(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "a", Strategy: &script{}}}})
	b.flat(1, 100)
	b.send(b.engine.HaltOne(b.now, 1, "enough"))
	saveAll(t, b.engine)
	require.Empty(t, b.engine.Resume(b.now, 1))
	var written []string
	require.NoError(t, b.engine.Save(func(part string, _ []byte) error { written = append(written, part); return nil }))
	require.Equal(t, []string{"gate", "engine"}, written)
	_, halted := b.engine.Halted(1)
	require.False(t, halted)
}

// listener is an observer that hears what passes.
type listener struct{ heard []string }

func (*listener) Filled(*state.Order, *market.Fill) {}
func (*listener) Closed(*state.Order)               {}
func (l *listener) Approved(asked state.Terms, c *market.Command, figures []state.Figure) {
	l.heard = append(l.heard, fmt.Sprint(describe(c), " of ", c.Order.ID, ", asked for ", asked.Price, ", figures: ",
		len(figures) > 0))
}
func (l *listener) Refused(asked, rounded *market.Command, why *risk.Refusal) {
	l.heard = append(l.heard, fmt.Sprint(describe(asked), " refused, rounded to ", describe(rounded), ": ", why.Word()))
}

func TestAnObserverHearsWhatPassesAndWhatIsRefused(t *testing.T) {
	l := &listener{}
	s := &script{candle: once(func(d *strategy.Desk) {
		_, _ = d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
		_, _ = d.In(1).Buy(strategy.Amount(1_000_000*btc), strategy.At(50*at1+3)) // refused: it has not that much
		_ = d.Update(7, strategy.At(50*at1))
	}), stop: func(d *strategy.Desk) {
		_ = d.CancelAll()
	}, order: func(d *strategy.Desk, o market.Order, _ market.Report) {
		if o.Status == market.StatusCanceled {
			_, _ = d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
		}
	}}
	b := newBench(t, setup{observer: l, slots: []engine.StrategyConfig{{Strategy: s}}})
	b.flat(2, 100)
	b.send(b.engine.Stop(b.now))
	b.flat(1, 100)
	require.Equal(t, []string{
		"buy 1 @ 50 of 1, asked for 5000, figures: false", // figures are kept where risk.Config.Explain asks for them
		"buy 1000000 @ 50.03 refused, rounded to buy 1000000 @ 50.03: exchange 216",
		"update 7 @ 50 refused, rounded to update 7 @ 50: no_such_order",
		"cancel 1 of 1, asked for 0, figures: false",
		"buy 1 @ 50 refused, rounded to buy 1 @ 50: stopping",
	}, l.heard)
}

func TestWhatAHaltCouldNotCancelIsAskedForAgain(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "holder", Strategy: holder()}}})
	b.flat(3, 100)
	require.Len(t, b.account.Open(nil, 1, 0), 2, "the buy and the stop")
	commands := b.engine.HaltAll(b.now, "why")
	require.Len(t, commands, 1)
	again, left := b.engine.CancelHalted(b.now)
	require.Empty(t, again, "it is on its way")
	require.Equal(t, 1, left)
	o := commands[0].Order
	b.step(&market.Event{Kind: market.KindReport, At: b.now, Market: 1,
		Report: &market.Report{Exec: market.ExecRejected, Command: market.CommandCancel, Order: o.ID, Market: 1,
			OrderState: market.OrderState{Updated: b.now}}})
	again, left = b.engine.CancelHalted(b.now)
	require.Len(t, again, 1)
	require.Equal(t, o.ID, again[0].Order.ID, "and not the stop, which protects")
	require.Equal(t, 1, left)
	b.send(again)
	b.flat(1, 100)
	_, left = b.engine.CancelHalted(b.now)
	require.Zero(t, left)
	require.Len(t, b.account.Open(nil, 1, 0), 1)

	commands, _ = b.engine.Flatten(b.now, 1, "flatten")
	require.Len(t, commands, 1, "the cancel of the stop")
	require.Equal(t, []string{"sell 1 attached"}, b.cancelled(3, 0))
	again, left = b.engine.CancelHalted(b.now)
	require.Empty(t, again)
	require.Zero(t, left, "what flatten sells by is to fill")
}

func TestAnOrderTaggedAsThoseOfFlattenDoesNotOutliveAHalt(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		_, err := d.In(1).Buy(strategy.Amount(btc), strategy.At(60*at1), strategy.Tag("flatten"))
		require.NoError(t, err)
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "holder", Strategy: s}}})
	b.flat(3, 100)
	require.Len(t, b.account.Open(nil, 1, 0), 1)
	b.send(b.engine.HaltOne(b.now, 1, "enough"))
	b.flat(1, 100)
	require.Empty(t, b.account.Open(nil, 1, 0))
}
