package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// leaves lets base leave the strategy's position beside its own orders.
func (b *bench) leaves(amount market.Qty) []string {
	return b.by(&market.Event{Kind: market.KindTransfer, At: b.now, Asset: b.catalog.Market(1).Base,
		Money: -market.Money(amount), Owner: 1, Market: 1})
}

// bareByHand is byHand after the exchange has refused each exit: someone else has the coins.
func bareByHand(t *testing.T, h *bearer) *bench {
	b := byHand(t, h)
	for id := market.OrderID(2); len(b.account.Open(nil, 0, 0)) > 0; id++ {
		b.refuse(market.CommandPlace, id, exchange.CodeInsufficientBalance)
	}
	require.Len(t, b.engine.Brackets().Bare(), 1)
	return b
}

func TestABracketEndsWhenItsBaseHasLeftTheBooks(t *testing.T) {
	b := bareByHand(t, &bearer{})
	require.Empty(t, b.leaves(btc), "nothing is left to protect")
	require.Empty(t, b.engine.Brackets().Bare())
	require.Zero(t, b.engine.Brackets().Covered(1, 1))
	_, waits := b.engine.NextTimer()
	require.False(t, waits)
}

func TestABracketShrinksToWhatIsHeldAndHasItsExitAtOnce(t *testing.T) {
	b := bareByHand(t, &bearer{})
	require.Equal(t, []string{"stop 0.4 @ 90 attached"}, b.leaves(6*btc/10), "though the next try was a while away")
	require.EqualValues(t, 4*btc/10, b.engine.Brackets().Covered(1, 1))
	last := b.engine.LastOrder()
	b.accept(last)
	require.Empty(t, b.engine.Brackets().Bare())
}

// Base that no bracket protects goes first, then that of brackets without an exit, the newest
// first. What an exit holds is still there.
func TestSeveralBracketsShrinkInOrder(t *testing.T) {
	h := &bearer{}
	buys := 0
	h.candle = func(d *strategy.Desk, _ market.Candle) {
		if buys++; buys <= 3 {
			_, err := d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(market.Price(80+buys)*at1))
			require.NoError(t, err)
		} else if buys == 4 {
			_, err := d.In(1).Buy(strategy.Amount(btc))
			require.NoError(t, err)
		}
	}
	b := one(t, &h.script)
	b.flat(6, 100)
	require.Equal(t, 4*btc, b.position())
	exits := b.account.Open(nil, 1, 1)
	require.Len(t, exits, 3)
	require.Empty(t, b.leaves(btc), "the base without a bracket")
	require.Equal(t, 3*btc, b.engine.Brackets().Covered(1, 1))
	for _, exit := range []market.OrderID{exits[0].ID, exits[1].ID} { // the owner takes two exits away
		b.ends(exit)
		for len(b.engine.Brackets().Bare()) == 0 || b.account.Own(b.engine.LastOrder()) != nil {
			b.refuse(market.CommandPlace, b.engine.LastOrder(), exchange.CodeInsufficientBalance)
		}
	}
	require.Equal(t, []string{"stop 0.5 @ 82 attached"}, b.leaves(btc/2), "the newer of the two bare ones")
	b.refuse(market.CommandPlace, b.engine.LastOrder(), exchange.CodeInsufficientBalance)
	b.refuse(market.CommandPlace, b.engine.LastOrder(), exchange.CodeInsufficientBalance)
	require.Empty(t, b.leaves(btc/2+btc), "its rest, then the other")
	require.Equal(t, btc, b.engine.Brackets().Covered(1, 1))
	require.Equal(t, exits[2].ID, b.account.Open(nil, 1, 1)[0].ID, "the exit that rests was never touched")
}
