package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
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

func TestFlattenCancelsFirstAndSellsWhenTheCancelsAreConfirmed(t *testing.T) {
	b := newBench(t, setup{slots: []engine.Slot{{Name: "holder", Strategy: holder()}},
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
	b.flat(1, 180)
	commands, unsold = b.engine.Flatten(b.now, 1, "flatten")
	require.Empty(t, unsold)
	require.Len(t, commands, 1)
	b.send(commands)
	again, _ := b.engine.Flatten(b.now, 1, "flatten")
	require.Empty(t, again, "the sell is on its way")
	b.flat(2, 180)
	require.Zero(t, b.position())
	require.Empty(t, b.account.Open(nil, 0, 0))
	latest, halted := b.engine.Halted(1)
	require.True(t, halted)
	require.Equal(t, "flatten", latest.Reason)
	require.Len(t, b.engine.Halts(), 1, "said once")
}

func TestFlattenTellsWhatTheExchangeWouldNotTake(t *testing.T) {
	b := newBench(t, setup{slots: []engine.Slot{{Name: "holder",
		Strategy: &script{candle: once(func(d *strategy.Desk) { _, _ = d.In(1).Buy(strategy.Amount(btc)) })}}}})
	b.flat(2, 100)
	b.step(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: market.Halted})
	commands, unsold := b.engine.Flatten(b.now, 1, "flatten")
	require.Empty(t, commands)
	require.Equal(t, []engine.Unsold{{Market: 1, Amount: btc,
		Refusal: risk.Refusal{Reason: risk.ReasonExchange, Code: exchange.CodeHalted,
			Message: unsold[0].Refusal.Message}}}, unsold)
}

func TestAHaltLeavesTheExitsAndCancelAllDoesNot(t *testing.T) {
	b := newBench(t, setup{slots: []engine.Slot{{Name: "holder", Strategy: holder()}}})
	b.flat(3, 100)
	var exit market.OrderID
	for _, o := range b.account.Open(nil, 1, 0) {
		if b.engine.Protects(o.ID) {
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
	b := newBench(t, setup{slots: []engine.Slot{{Name: "a", Strategy: &script{}}}})
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
	b := newBench(t, setup{observer: l, slots: []engine.Slot{{Strategy: s}}})
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
	b := newBench(t, setup{slots: []engine.Slot{{Name: "holder", Strategy: holder()}}})
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
	b.send(commands)
	b.flat(1, 100)
	commands, _ = b.engine.Flatten(b.now, 1, "flatten")
	require.Len(t, commands, 1, "the sell")
	again, left = b.engine.CancelHalted(b.now)
	require.Empty(t, again)
	require.Zero(t, left, "what flatten sells by is to fill")
	b.send(commands)
	b.flat(1, 100)
}

func TestAnOrderTaggedAsThoseOfFlattenDoesNotOutliveAHalt(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		_, err := d.In(1).Buy(strategy.Amount(btc), strategy.At(60*at1), strategy.Tag("flatten"))
		require.NoError(t, err)
	})}
	b := newBench(t, setup{slots: []engine.Slot{{Name: "holder", Strategy: s}}})
	b.flat(3, 100)
	require.Len(t, b.account.Open(nil, 1, 0), 1)
	b.send(b.engine.HaltOne(b.now, 1, "enough"))
	b.flat(1, 100)
	require.Empty(t, b.account.Open(nil, 1, 0))
}
