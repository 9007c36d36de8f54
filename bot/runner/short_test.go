package runner

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// spenderKind buys once at market, with as much of its money as the gate lets through. After a
// restart it sells that.
var spenderKind = scripted("spender", func() onTicker {
	var done bool
	return func(d *strategy.Desk, t market.Ticker) {
		in := d.In(t.Market)
		if size := in.Position().Amount; size > 0 && !done {
			_, err := in.Sell(strategy.Amount(size))
			done = err == nil
		}
		const least = market.Qty(100_000)
		for size := market.Qty(int64(in.Cash()) * 1e8 / int64(t.Ask)); !done && size > least; size -= size / 10_000 {
			_, err := in.Buy(strategy.Amount(size))
			done = err == nil
		}
	}
})

// TestABotThatIsShortStartsAgain buys through several levels of a book, dearer than the best price,
// at which the gate checks. It is killed with an allocation below zero.
func TestABotThatIsShortStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 7, func(c *sandbox.Config) { c.Markets[0].Liquidity.Size = "0.001" })
		s.kinds = append(s.kinds, spenderKind)
		s.config = strings.NewReplacer("strategies.restless", "strategies.spender", `"restless"`, `"spender"`,
			"params.seed = 7\n", "", `allocation = "10000"`, `allocation = "600"`).Replace(s.config)
		p := s.start()
		look := func() (has market.Money, holds market.Qty) {
			p.look(func() {
				has, _ = p.account.Balance(1, p.plan.Currency.ID)
				holds = p.account.Position(1, 1).Amount
			})
			return has, holds
		}
		time.Sleep(30 * time.Second)
		has, holds := look()
		require.Negative(t, has)
		require.Positive(t, holds)
		p.kill()
		p.bury()
		p = s.start()
		time.Sleep(30 * time.Second)
		has, holds = look()
		require.Positive(t, has, "the sale has brought the money back")
		require.Zero(t, holds)
		require.NoError(t, p.end())
	})
}
