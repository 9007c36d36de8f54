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
	"github.com/tidemark-trading/tidemark/strategy"
)

// auditor holds each order that leaves against the account's limits, which it works out anew from
// balances and open orders.
type auditor struct {
	snapshotCache
	bench   *bench
	limit   market.Money // on the exposure of each asset
	lonely  bool         // no two strategies may have opposite orders
	passed  int          // orders that were held against a limit
	exits   int
	refused map[risk.Reason]int
}

func newAuditor(t testing.TB) *auditor {
	return &auditor{snapshotCache: snapshotCache{ended: map[market.OrderID]bool{}, t: t},
		refused: map[risk.Reason]int{}}
}

// Approved is called when the order is among the open ones already.
func (u *auditor) Approved(_ state.Terms, c *market.Command, _ []state.Figure) {
	o := &c.Order
	switch {
	case c.Attached:
		u.exits++
		return
	case c.Kind != market.CommandPlace:
		return
	}
	if u.lonely {
		u.requireLonely(o)
	}
	if o.Side == market.Buy && u.limit > 0 {
		u.requireBelow(o)
	}
}

// requireLonely requires that no other strategy has an opposite order at work in the market.
func (u *auditor) requireLonely(o *market.Order) {
	for _, open := range u.bench.account.Open(nil, 0, o.Market) {
		waits := open.Type.HasTrigger() && !open.Triggered
		require.True(u.t, open.Strategy == o.Strategy || open.Side == o.Side || waits, "orders %d and %d", open.ID,
			o.ID)
	}
	u.passed++
}

// requireBelow requires that the asset of a buy is below its limit.
func (u *auditor) requireBelow(o *market.Order) {
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
	u.bench = newBench(t, setup{markets: 2, venue: venue, observer: u, account: account, slots: []engine.StrategyConfig{
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

func TestNoStrategyTradesAgainstAnother(t *testing.T) {
	passed, refused, exits := 0, 0, 0
	for seed := range uint64(40) {
		r, u := rand.New(rand.NewPCG(seed, 37)), newAuditor(t)
		u.lonely = true
		b := gamblers(t, u, r, risk.AccountLimits{AllowSelfCross: true, RefuseOpposite: true})
		price := [2]market.Price{100, 100}
		for range 60 {
			b.group(randomCandle(r, 1, &price[0]), randomCandle(r, 2, &price[1]))
		}
		passed, refused = passed+u.passed, refused+u.refused[risk.ReasonOpposite]
		exits += u.exits
	}
	require.Greater(t, passed, 1000)
	require.Greater(t, refused, 300)
	require.Greater(t, exits, 300, "exits pass")
}

// In one step the first strategy's ask is the one that counts.
func TestTheFirstOfTwoOppositeAsksOfAStepPasses(t *testing.T) {
	first, second := &script{}, &script{}
	u := newAuditor(t)
	u.bench = newBench(t, setup{observer: u, account: risk.AccountLimits{RefuseOpposite: true},
		slots: []engine.StrategyConfig{{Name: "trend", Strategy: first}, {Name: "grid", Strategy: second}}})
	second.candle = func(d *strategy.Desk, _ market.Candle) {
		_, err := d.In(1).Buy(strategy.Amount(btc))
		require.NoError(t, err)
	}
	u.bench.candle(100, 100, 100, 100)
	u.bench.candle(100, 100, 100, 100) // the second one holds a bitcoin
	second.candle = func(d *strategy.Desk, _ market.Candle) {
		_, err := d.In(1).Sell(strategy.Amount(btc))
		require.EqualError(t, err, "refused: opposite: strategy trend has a buy open there, order 3")
		require.NoError(t, d.In(1).Close())
	}
	first.candle = func(d *strategy.Desk, _ market.Candle) {
		_, err := d.In(1).Buy(strategy.Amount(btc))
		require.NoError(t, err)
	}
	u.bench.candle(100, 100, 100, 100)
	require.Equal(t, 1, u.refused[risk.ReasonOpposite])
	first.candle, second.candle = nil, nil
	u.bench.candle(100, 100, 100, 100)
	require.Zero(t, u.bench.account.Position(2, 1).Amount, "the Close left")
	require.EqualValues(t, btc, u.bench.account.Position(1, 1).Amount)
}
