package risk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// of is the command of another strategy.
func of(s market.StrategyID, c market.Command) market.Command {
	c.Order.Strategy = s
	return c
}

var refuseOpposite = risk.AccountLimits{RefuseOpposite: true, AllowSelfCross: true}

func TestAnOppositeOrderOfAnotherStrategyRefuses(t *testing.T) {
	b := newBench(t, risk.Limits{}, refuseOpposite)
	b.sent(of(2, limit(buy, btc, 90*at1)))
	o := b.sent(of(2, limit(buy, btc, 80*at1)))
	b.passes(of(2, limit(market.Sell, btc, 110*at1))) // its own buy is no opponent
	refusal := b.refused(limit(market.Sell, btc, 110*at1), risk.ReasonOpposite)
	require.EqualError(t, refusal, "refused: opposite: strategy number 2 has a buy open there, order 1")
	b.gate.NameStrategies([]string{"trend", "grid"})
	refusal = b.refused(atMarket(market.Sell, btc), risk.ReasonOpposite)
	require.EqualError(t, refusal, "refused: opposite: strategy grid has a buy open there, order 1")
	require.EqualValues(t, 1, refusal.Have)
	b.passes(limit(buy, btc, 95*at1)) // the same side
	b.passes(of(2, update(o.ID, market.ChangeAmount, market.OrderState{Amount: 2 * btc})))

	b.passes(attached(atMarket(market.Sell, btc))) // an exit
	sale := atMarket(market.Sell, btc)
	sale.Order.Strategy, sale.At = 1, b.now
	require.NoError(t, b.gate.CheckClose(b.account, &sale, false))
}

func TestAnOppositeOrderCountsFromTheAskToItsEnd(t *testing.T) {
	b := newBench(t, risk.Limits{}, refuseOpposite)
	approved, asked, refusal := b.check(of(2, atMarket(buy, btc))) // asked for in the same step
	require.Nil(t, refusal)
	b.id++
	asked.Order.ID = b.id
	o := b.account.Send(&asked.Order, approved.Hold())
	b.refused(atMarket(market.Sell, btc), risk.ReasonOpposite)
	b.fills(o, 100*at1)
	b.passes(atMarket(market.Sell, btc))
}

func TestAnOrderThatWaitsForItsTriggerIsNoOpponent(t *testing.T) {
	b := newBench(t, risk.Limits{}, refuseOpposite)
	o := b.sent(of(2, trigger(market.TypeStopLoss, market.Sell, btc, 90*at1)))
	b.passes(limit(buy, btc, 95*at1))
	r := market.ReportOf(&o.Order, market.ExecTriggered)
	r.Status, r.Updated, r.Triggered = market.StatusNew, b.now, true
	b.step(market.Event{Kind: market.KindReport, Report: &r})
	b.refused(limit(buy, btc, 95*at1), risk.ReasonOpposite)
}

// An order that is there already may become smaller, or move: only more of it is an opposite
// intent.
func TestAnOpenOrderMayShrinkBesideAnOppositeOne(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{AllowSelfCross: true})
	o := b.sent(limit(market.Sell, 2*btc, 110*at1))
	b.sent(of(2, limit(buy, btc, 90*at1)))
	b.limit(risk.Limits{}, refuseOpposite)
	b.passes(update(o.ID, market.ChangeAmount, market.OrderState{Amount: btc}))
	b.passes(update(o.ID, market.ChangePrice, market.OrderState{Price: 120 * at1}))
	b.refused(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 3 * btc}), risk.ReasonOpposite)
	b.limit(risk.Limits{}, risk.AccountLimits{AllowSelfCross: true})
	b.passes(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 3 * btc}))
}
