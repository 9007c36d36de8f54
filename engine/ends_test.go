package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A strategy sells what its bracket could not protect. The bracket ends with the position, and
// places no exit over base that is bought later, after a restart neither.
func TestABracketEndsWithAPositionThatAnOwnOrderSells(t *testing.T) {
	for name, with := range map[string][]strategy.Option{"sell 1": nil, "sell 1 @ 101": {strategy.At(101 * at1)},
		"stop 1 @ 95": {strategy.StopLoss(95 * at1)}} {
		for _, restarts := range []bool{false, true} {
			h := &bearer{}
			b := bareByHand(t, h)
			h.candle = once(func(d *strategy.Desk) {
				_, err := d.In(1).Sell(strategy.Amount(btc), with...)
				require.NoError(t, err, name)
			})
			require.Equal(t, []string{name}, b.close100())
			sale := b.engine.LastOrder()
			require.Empty(t, b.timer(60e9), "%s holds the base", name)
			require.Empty(t, b.sells(sale, 2, btc, market.StatusFilled), name)
			require.Empty(t, b.engine.Brackets().Bare(), "%s: nothing is held", name)
			_, waits := b.engine.NextTimer()
			require.False(t, waits, name)
			if restarts {
				require.Empty(t, b.restart(nil, h), name)
			}
			h.candle = once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) })
			require.Equal(t, []string{"buy 1"}, b.close100(), name)
			require.Empty(t, b.buys(b.engine.LastOrder(), 3, btc), "after %s", name)
			require.Empty(t, b.timer(600e9), "after %s", name)
			require.Empty(t, b.engine.Brackets().Bare(), name)
		}
	}
}

// sharing is an engine of two strategies without allocations. The first holds 1 BTC in a bracket
// whose exits the exchange has refused; the second asks for a sale at each close.
func sharing(t *testing.T, ask func(d *strategy.Desk) error) (b *bench, said *error) {
	said = new(error)
	h := &bearer{script: script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
	})}}
	other := &script{candle: func(d *strategy.Desk, _ market.Candle) { *said = ask(d) }}
	b = newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: h}, {Strategy: other}}})
	b.close100()
	b.buys(1, 1, btc)
	for id := market.OrderID(2); len(b.account.Open(nil, 0, 0)) > 0; id++ {
		b.refuse(market.CommandPlace, id, exchange.CodeInsufficientBalance)
	}
	return b, said
}

// Seen at 13330872: where strategies share their money and the exchange had refused the exits of
// one, another sold the base. The bracket stayed, and its exit would have sold what was bought
// later.
func TestNoStrategySellsWhatAnotherHasBought(t *testing.T) {
	amount := btc
	b, said := sharing(t, func(d *strategy.Desk) error {
		_, err := d.In(1).Sell(strategy.Amount(amount))
		return err
	})
	require.Empty(t, b.close100())
	require.ErrorContains(t, *said, "nothing_to_sell")
	b.by(&market.Event{Kind: market.KindTransfer, At: b.now, Asset: b.catalog.Market(1).Base,
		Money: market.Money(btc / 2)})
	require.Empty(t, b.close100())
	require.ErrorContains(t, *said, "needs 1 BTC, has 0.5 BTC")
	amount = btc / 2
	require.Equal(t, []string{"sell 0.5"}, b.close100(), "in no position")
	require.NoError(t, *said)
	require.Len(t, b.engine.Brackets().Bare(), 1)
	require.Equal(t, btc, b.position())
}
