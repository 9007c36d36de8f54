package engine_test

import (
	"flag"
	"math/rand/v2"
	"slices"
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

// gambler asks for anything at any time.
type gambler struct {
	strategy.Base
	random *rand.Rand
	asked  int
	quiet  bool
	killed bool // again and again: it replaces nothing, because a restart drops what waits
}

func (g *gambler) OnCandle(d *strategy.Desk, c market.Candle) {
	for range g.random.IntN(3) {
		g.ask(d, c.Market, c.Close)
	}
}

func (g *gambler) OnFill(d *strategy.Desk, f market.Fill) {
	if g.random.IntN(4) == 0 {
		g.ask(d, f.Market, f.Price)
	}
}

func (g *gambler) OnOrder(d *strategy.Desk, o market.Order, _ market.Report) {
	if g.random.IntN(12) == 0 {
		g.ask(d, o.Market, d.In(o.Market).Last())
	}
}

// ask draws one ask; refusals are part of the game.
func (g *gambler) ask(d *strategy.Desk, m market.ID, price market.Price) {
	if g.quiet {
		return
	}
	r := g.random
	near := func() market.Price { return max(1, price+market.Price(r.IntN(1001)-500)) }
	amount, side := market.Qty(1+r.IntN(200))*btc/100, market.Side(1+r.IntN(2))
	open := d.OpenOrders()
	g.asked++
	switch r.IntN(12) {
	case 11:
		if len(open) > 0 && !g.killed {
			o := open[r.IntN(len(open))]
			d.In(o.Market).Place(o.Side, strategy.Amount(amount), strategy.At(near()), strategy.Replacing(o.ID))
		}
	case 10:
		leave(d.In(m), amount*market.Qty(r.IntN(2)))
	case 0:
		d.In(m).Buy(strategy.Amount(amount))
	case 1:
		d.In(m).Sell(strategy.Amount(amount))
	case 2:
		d.In(m).Buy(strategy.Money(market.Money(1 + r.IntN(20_000))))
	case 3:
		d.In(m).Place(side, strategy.Amount(amount), strategy.At(near()),
			strategy.InForce(market.TimeInForce(1+r.IntN(3))))
	case 4:
		d.In(m).Place(side, strategy.Amount(amount), strategy.StopLoss(near()))
	case 5, 6, 7:
		with := []strategy.Option{strategy.Keep(market.Leg(r.IntN(2)))}
		if r.IntN(2) == 0 {
			with = append(with, strategy.At(near()))
		}
		exits := strategy.Exits(price-market.Price(r.IntN(400)), price+market.Price(r.IntN(400)))
		d.In(m).Buy(strategy.Amount(amount), append(append(with, exits), followingAll(r)...)...)
	case 8:
		if len(open) > 0 {
			d.Update(open[r.IntN(len(open))].ID, append(followingAll(r), strategy.Exits(near(), near()))...)
		}
	case 9:
		if len(open) > 0 && r.IntN(2) == 0 {
			d.Cancel(open[r.IntN(len(open))].ID)
		} else if len(open) > 0 {
			d.Update(open[r.IntN(len(open))].ID, strategy.Resize(strategy.Amount(amount)))
		}
	}
}

// snapshotCache is an observer that adds up what the account was told.
type snapshotCache struct {
	bought market.Qty
	ended  map[market.OrderID]bool
	t      testing.TB
}

func (l *snapshotCache) Filled(o *state.Order, f *market.Fill) {
	if o.Market != 1 {
		return
	}
	if l.bought += f.Amount; o.Side == market.Sell {
		l.bought -= 2 * f.Amount
	}
}

func (l *snapshotCache) Closed(o *state.Order) {
	require.False(l.t, l.ended[o.ID], "order %d ended twice", o.ID)
	l.ended[o.ID] = true
}

// More markets:
//
//	go test ./engine -run 'Whatever|PartsOfATactic|PartialTargets|Onlooker|AStop' -markets 300
var markets = flag.Int("markets", 60, "how many random markets each test of random orders, exits and closes plays")

func TestWhateverStrategiesAskAccountAndVenueStayOne(t *testing.T) {
	asked := 0
	for seed := range uint64(*markets) {
		r := rand.New(rand.NewPCG(seed, 7))
		venue := sim.Config{
			Path: sim.Path(r.IntN(5)), Latency: market.Duration(r.IntN(2)) *
				market.Duration(r.Int64N(int64(2*minute))), VolumeShare: market.Rate(r.IntN(2)) * 10_000,
			HalfSpread: market.Rate(r.IntN(2)) * 100_000, Slippage: market.Rate(r.IntN(2)) *
				50_000, FeeRounding: exchange.FeeRounding(r.IntN(3)),
			Fees: func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} },
		}
		players := []*gambler{{random: r}, {random: r}}
		book := &snapshotCache{ended: map[market.OrderID]bool{}, t: t}
		both := []market.ID{1, 2}
		b := newBench(t, setup{markets: 2, venue: venue, observer: book,
			account: risk.AccountLimits{AllowSelfCross: r.IntN(2) == 0},
			slots: []engine.StrategyConfig{{Strategy: players[0], Markets: both}, {Strategy: players[1],
				Markets: both}}})
		price := [2]market.Price{100, 100}
		for range 60 {
			group := []market.Candle{randomCandle(r, 1, &price[0]), randomCandle(r, 2, &price[1])}
			b.group(group...)
			require.NoError(t, b.engine.CheckBrackets(), "seed %d", seed)
		}
		players[0].quiet, players[1].quiet = true, true
		b.drain(price)
		require.Equal(t, market.Money(book.bought), b.account.Total(2).Total, "seed %d", seed)
		asked += players[0].asked + players[1].asked
	}
	require.Greater(t, asked, 66**markets)
}

func randomCandle(r *rand.Rand, m market.ID, last *market.Price) market.Candle {
	open := max(30, *last+market.Price(r.IntN(5)-2))
	closing := max(30, open+market.Price(r.IntN(9)-4))
	*last = closing
	c := candleOf(m, open, max(open, closing)+market.Price(r.IntN(4)), min(open, closing)-market.Price(r.IntN(4)),
		closing)
	c.Volume = market.Volume(1 + r.IntN(50_000))
	return c
}

// drain waits for the answers that are under way, and compares everything that account and venue
// hold.
func (b *bench) drain(price [2]market.Price) {
	b.t.Helper()
	var ids []market.OrderID
	for _, o := range b.account.Open(nil, 0, 0) {
		ids = append(ids, o.ID)
	}
	for _, id := range ids {
		b.venue.Cancel(id, 0, market.CancelOnAdminRequest)
	}
	b.candleOnly(price)
	for _, asset := range b.catalog.Assets() {
		require.Equal(b.t, b.venue.Balance(asset.ID), sim.Balance(b.account.Total(asset.ID)), "holds of %s",
			asset.Symbol)
	}
	for _, m := range b.catalog.Markets() {
		require.Equal(b.t, b.venue.Open(m.ID), b.account.OpenIn(m.ID), "open orders in %s", m.Name)
	}
}

// candleOnly moves the venue, and lets the engine hear its answers but not the candles, until no
// command is under way.
func (b *bench) candleOnly(price [2]market.Price) {
	b.t.Helper()
	waiting := func() bool {
		return slices.ContainsFunc(b.account.Open(nil, 0, 0),
			func(o *market.Order) bool { return b.account.Own(o.ID).InFlight != 0 })
	}
	for n := 0; n < 12 || n < 60 && waiting(); n++ { // brackets whose time is over close by themselves
		first, second := candleOf(1, price[0], price[0], price[0], price[0]), candleOf(2, price[1], price[1], price[1],
			price[1])
		first.Start, second.Start, first.Volume, second.Volume = b.now, b.now, 1e12, 1e12
		b.now += minute
		require.NoError(b.t, b.venue.Advance(&market.Event{Kind: market.KindCandles, At: b.now,
			Candles: []market.Candle{first, second}}))
	}
}
