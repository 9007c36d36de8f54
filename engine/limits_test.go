package engine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// auditor holds each order that leaves against the account's limits, which it works out anew from
// balances and open orders.
type auditor struct {
	snapshotCache
	bench   *bench
	limit   market.Money // on the exposure of each asset
	passed  int          // buys that leave an asset's exposure beside its limit
	refused map[risk.Reason]int
}

func newAuditor(t testing.TB) *auditor {
	return &auditor{snapshotCache: snapshotCache{ended: map[market.OrderID]bool{}, t: t},
		refused: map[risk.Reason]int{}}
}

// Approved is called when the order is among the open ones already.
func (u *auditor) Approved(_ state.Terms, c *market.Command, _ []state.Figure) {
	o := &c.Order
	if c.Kind != market.CommandPlace || c.Attached || o.Side == market.Sell || u.limit == 0 {
		return
	}
	m := u.bench.catalog.Market(o.Market)
	exposure, err := m.Notional(u.bench.account.Last(m.ID), market.Qty(u.bench.account.Total(m.Base).Total))
	require.NoError(u.t, err)
	for _, open := range u.bench.account.Open(nil, 0, m.ID) {
		if open.Side == market.Buy {
			exposure += open.OnHold
		}
	}
	require.LessOrEqual(u.t, exposure, u.limit, "order %d lifts %s", o.ID, m.Name)
	u.passed++
}

func (u *auditor) Refused(_, _ *market.Command, why *risk.Refusal) { u.refused[why.Reason]++ }

// gamblers is a bench with two gamblers in two markets.
func gamblers(t testing.TB, u *auditor, r *rand.Rand, account risk.AccountLimits) *bench {
	venue := sim.Config{VolumeShare: market.Rate(r.IntN(2)) * 10_000, HalfSpread: market.Rate(r.IntN(2)) * 100_000,
		Latency: market.Duration(r.IntN(2)) * market.Duration(minute),
		Fees:    func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }}
	both := []market.ID{1, 2}
	u.bench = newBench(t, setup{markets: 2, venue: venue, observer: u, account: account, slots: []engine.Slot{
		{Strategy: &gambler{random: r}, Markets: both}, {Strategy: &gambler{random: r}, Markets: both}}})
	return u.bench
}

func TestNoBuyLiftsAnAssetAboveItsLimit(t *testing.T) {
	passed, refused := 0, 0
	for seed := range uint64(40) {
		r, u := rand.New(rand.NewPCG(seed, 31)), newAuditor(t)
		u.limit = market.Money(100+r.IntN(400)) * eur
		b := gamblers(t, u, r, risk.AccountLimits{AllowSelfCross: true,
			MaxAssetExposure: map[string]market.Money{risk.EveryAsset: u.limit}})
		price := [2]market.Price{100, 100}
		for range 60 {
			b.group(randomCandle(r, 1, &price[0]), randomCandle(r, 2, &price[1]))
		}
		passed, refused = passed+u.passed, refused+u.refused[risk.ReasonMaxAssetExposure]
	}
	require.Greater(t, passed, 300)
	require.Greater(t, refused, 300)
}
