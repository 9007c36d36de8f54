package live

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// restInFee is an answer of an exchange whose amounts had one decimal when a buy for money was
// filled: the fee has the rest of the money.
func restInFee(amount market.Qty) func(r *exchange.WireOrder) {
	return func(r *exchange.WireOrder) {
		o := &r.Order
		if !o.ByQuote() || len(r.Fills) == 0 {
			return
		}
		f := &r.Fills[0]
		r.Fills = r.Fills[:1]
		f.Amount = amount
		value := market.ValueOf(int64(f.Price) * int64(f.Amount))
		fee, _ := market.ValueOf(int64(o.AmountQuote) * 1e8).Sub(value)
		f.Fee, f.Settled, f.FeeCurrency = fee, true, 1
		o.FilledAmount, o.FilledAmountQuote, o.FeePaid = amount, value, fee
	}
}

func spend(money market.Money) func(*strategy.Desk) {
	return func(d *strategy.Desk) { _, _ = d.In(1).Buy(strategy.Money(money)) }
}

// The market's decimals fall and come back before the bot hears of either.
func TestAnAnswerThatFewerDecimalsExplainIsBookedWhenItIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, spend(90_00))
		p.box.tamper = restInFee(80000000)
		p.run()
		p.tick(10)
		require.Equal(t, market.Qty(80000000), p.account.Position(1, 1).Amount)
		require.Empty(t, p.haltedNow())
		require.Contains(t, p.journal.concluded, "booked: repeated, and fewer decimals explain it")
		_, open := p.own(1)
		require.False(t, open)
		p.end()
	})
}

// What nothing explains and the exchange repeats does not stay unknown in silence.
func TestAnAnswerThatNothingExplainsHaltsTheStrategyWhenItIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, spend(90_00))
		p.box.tamper = restInFee(80000001)
		p.run()
		p.tick(4)
		require.Empty(t, p.haltedNow(), "once is a slip")
		p.tick(6)
		require.Equal(t, []market.StrategyID{1}, p.haltedNow())
		why, _ := p.loop.Engine.Halted(1)
		require.Regexp(t, "^the exchange repeats an answer about order 1 .* fill fee: want .*bot resolve 1$",
			why.Reason)
		require.Zero(t, p.account.Position(1, 1).Amount)
		require.NoError(t, p.loop.Do(t.Context(), func(market.Time) []market.Command {
			require.NoError(t, p.loop.ResolveAsExchange(1))
			return nil
		}))
		p.tick(2)
		require.Equal(t, market.Qty(80000001), p.account.Position(1, 1).Amount)
		p.end()
	})
}
