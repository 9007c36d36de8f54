package backtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// meeting runs two strategies over closes of hours from 1000 on, with a bid 1 % below and an ask
// 1 % above. The first strategy buys 10 for 10100 with exits, the second acts after two hours. It
// returns what the strategies have at the end of each hour from the second on.
func meeting(t *testing.T, exits strategy.Option, act func(m strategy.MarketDesk), closes ...int64) (r *Result,
	first, second []market.Qty) {
	s := newStage(t, func(d *strategy.Desk, c market.Candle) {
		if c.Start == 0 {
			_, err := d.In(1).Buy(strategy.Amount(10), exits)
			require.NoError(t, err)
			return
		}
		first = append(first, d.In(1).Position().Amount)
	}, func(d *strategy.Desk, c market.Candle) {
		if c.Start == market.Interval1h.End(0) {
			act(d.In(1))
		} else if c.Start > 0 {
			second = append(second, d.In(1).Position().Amount)
		}
	})
	s.plan.Deposits[0].Money, s.plan.Venue.HalfSpread, s.plan.Account.AllowSelfCross = 1_000_000, 1_000_000, true
	for i := range s.plan.Strategies {
		s.plan.Strategies[i].Markets = s.plan.Catalog.Markets()[:1]
	}
	var rows [][5]int64
	last := int64(1000)
	for i, now := range append([]int64{1000}, closes...) {
		rows = append(rows, [5]int64{int64(i) * 60, last, max(last, now), min(last, now), now})
		last = now
	}
	s.feed(1, market.Interval1h, true, true, rows...)
	return s.run(t, Options{}), first, second
}

// The purchase of another strategy meets a resting target. Whatever its self-trade prevention does
// to the target, all of the position has an exit again at once, and is sold once.
func TestATargetThatAnOwnPurchaseMeetsIsWholeAgainAtOnce(t *testing.T) {
	for mode := market.DecrementAndCancel; mode <= market.CancelBoth; mode++ {
		for _, amount := range []market.Qty{4, 10, 30} {
			r, first, second := meeting(t, strategy.TargetAt(1012), func(m strategy.MarketDesk) {
				_, err := m.Buy(strategy.Amount(amount), strategy.SelfTrade(mode))
				require.NoError(t, err)
			}, 1003, 1003, 1003, 1100, 1100)
			bought := map[market.SelfTradePrevention]market.Qty{market.DecrementAndCancel: max(0, amount-10),
				market.CancelOldest: amount}[mode]
			require.Equal(t, []market.Qty{10, 10, 10, 0, 0}, first, "%s %d", mode, amount)
			require.Equal(t, []market.Qty{bought, bought, bought, bought}, second, "%s %d", mode, amount)
			require.Zero(t, time.Duration(r.Unprotected), "%s %d", mode, amount)
			require.EqualValues(t, 1_000_000-10_100+10_120+int64(bought)*(1100-1014), r.Performance.Final.Units,
				"%s %d", mode, amount)
		}
	}
}

// A stop that meets the bid of another strategy, as an incoming order, sells less than it should or
// nothing, whatever the bid's self-trade prevention. What is left is sold at once, and the bid buys
// nothing of it. After two meetings the bracket waits, as for any exit that fails, and says so.
func TestAStopThatMeetsAnOwnBidSellsAllOfItsPosition(t *testing.T) {
	for mode := market.DecrementAndCancel; mode <= market.CancelBoth; mode++ {
		for amount, bare := range map[market.Qty]time.Duration{4: 0, 10: 0, 20: 20 * time.Minute,
			30: 80 * time.Minute} {
			r, first, second := meeting(t, strategy.StopAt(950), func(m strategy.MarketDesk) {
				_, err := m.Buy(strategy.Amount(amount), strategy.At(945), strategy.SelfTrade(mode))
				require.NoError(t, err)
			}, 1003, 1003, 950, 950, 950, 990)
			require.EqualValues(t, 1_000_000-10_100+9400, r.Performance.Final.Units, "%s %d", mode, amount)
			require.Equal(t, []market.Qty{0, 0, 0, 0, 0}, second, "%s %d", mode, amount)
			require.Zero(t, first[5], "%s %d", mode, amount)
			require.Equal(t, bare, time.Duration(r.Unprotected), "%s %d", mode, amount)
		}
	}
}
