package runner

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// swapperKind trades at market, at a third of the tickers.
var swapperKind = strategy.Define("swapper", "buys and sells at market",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p restlessParams, _ strategy.Setup) (strategy.Strategy, error) {
		return &swapper{chance: rand.New(rand.NewPCG(uint64(p.Seed), 16))}, nil
	})

type swapper struct {
	strategy.Base
	chance *rand.Rand
}

func (s *swapper) OnTicker(d *strategy.Desk, t market.Ticker) {
	m, amount := d.In(t.Market), strategy.Amount(market.Qty(100_000+s.chance.IntN(900_000)))
	switch s.chance.IntN(9) {
	case 0:
		_, _ = m.Buy(amount)
	case 1:
		_, _ = m.Buy(strategy.Money(market.Money(10_00 + s.chance.IntN(400_00))))
	case 2, 3:
		_, _ = m.Sell(strategy.PositionShare(market.Rate(10*(1+s.chance.IntN(10))) * market.Percent))
	}
}

// crossKill is an observer that kills the bot in the step of a cross, before its commit.
type crossKill struct {
	legsSeen
	seen, parts int
	at          int // the number of the cross; 0: it kills nothing
	kill        func()
}

func (k *crossKill) Crossed(c *state.Cross) {
	if c.Sell.Of|c.Buy.Of != 0 {
		k.parts++
	}
	if k.seen++; k.seen == k.at {
		k.kill()
	}
}

// Kills come in the step of a cross before its commit, and as the rest of an order that crossed
// reaches the exchange, behind that commit. A file has both orders of a cross or neither; books and
// exchange agree to the last unit; a replay crosses the same.
func TestACrossIsInTheBooksWholeOrNotAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := followed(t, 5)
		s.kinds = append(s.kinds, swapperKind)
		at := strings.Index(s.config, "[strategies")
		one := strings.NewReplacer("restless", "swapper").Replace(s.config[at:])
		other := strings.NewReplacer("strategies.swapper", "strategies.other", "seed = 5", "seed = 6",
			"operator_id = 7", "operator_id = 8").Replace(one)
		s.config = strings.NewReplacer("[risk]\n", "[risk]\nopposite = \"cross\"\n", "minute = 40", "minute = 20").
			Replace(s.config[:at]) + one + other
		k, canary := &crossKill{}, s.canary
		s.observer, s.canary = k, nil
		require.NoError(t, s.start().end())
		s.sealNow(false)
		s.traffic.position, s.traffic.money = 0, 0 // prices move for days while no bot runs
		for nth := 1; nth < 4; nth++ {
			p := s.start()
			p.look(func() { k.seen, k.at, k.kill = 0, nth, p.kill })
			p.bury()
			k.at = 0
			s.killAtWrite(market.CommandPlace, nth%2 == 0, int64(2*nth))
			s.traffic.on(nil)
		}
		s.canary = canary
		var p *process
		for range 2 { // over two midnights: a sealed bot judges the day between
			time.Sleep(24*time.Hour - time.Duration(time.Now().UnixNano())%(24*time.Hour) - 90*time.Second)
			p = s.start()
			time.Sleep(3 * time.Minute)
			require.NoError(t, p.end())
		}
		s.onlyExits(p)
		a := s.agree(p)
		require.Greater(t, a.Crossed, 10)
		require.Greater(t, k.parts, 4)
		require.Greater(t, a.Orders, 20)
		require.Zero(t, s.replayed().Unchecked)
		require.Nil(t, p.Canary.State().First, "a canary crosses the same")
		require.Greater(t, p.Canary.State().Equal, 20)
		if !testing.Short() {
			s.proven()
		}
	})
}
