package engine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// exposed measures from outside how long a position had no exit, or too small a one: what is held
// against the sells that the exchange has confirmed.
type exposed struct {
	b    *bench
	last market.Time
	bare bool
	sum  market.Duration
}

func (x *exposed) look(*market.Event) {
	now := x.b.engine.Now()
	if x.bare {
		x.sum += now.Sub(x.last)
	}
	x.last = now
	held := x.b.position()
	for _, o := range x.b.account.Open(nil, 0, 0) {
		own := x.b.account.Own(o.ID)
		if o.Side == market.Sell && own.State != state.Sent && own.State != state.Unknown {
			held -= o.AmountRemaining
		}
	}
	x.bare = held > 0
}

// following draws options of exits that follow.
func following(r *rand.Rand) (with []strategy.Option) {
	for _, option := range []strategy.Option{strategy.Trail(market.Rate(1 + r.Int64N(int64(6*percent)))),
		strategy.BreakEvenAfter(market.Rate(1 + r.Int64N(int64(3*percent)))), strategy.ExitAfter(1 + r.IntN(20)),
		strategy.ExitAfterTime(market.Duration(1 + r.Int64N(20*60e9)))} {
		if r.IntN(3) == 0 {
			with = append(with, option)
		}
	}
	if r.IntN(2) == 0 {
		with = append(with, strategy.Trail(3*percent), strategy.ByPrices())
	}
	return with
}

// followingAll is following with the options that the traces of mixed_test.go do not have.
func followingAll(r *rand.Rand) (with []strategy.Option) {
	with = following(r)
	if r.IntN(3) == 0 {
		with = append(with, strategy.EnoughAfter(market.Duration(r.Int64N(20*60e9)),
			market.Rate(r.Int64N(int64(4*percent)))))
	}
	if r.IntN(3) == 0 {
		with = append(with, strategy.Trail(2*percent), strategy.TrailAfter(market.Rate(1+r.Int64N(int64(3*percent)))))
	}
	return with
}

// inParts draws up to three partial targets above a price.
func inParts(r *rand.Rand, price market.Price) (with []strategy.Option) {
	for range r.IntN(4) {
		level, share := price+market.Price(1+r.IntN(4))*at1, market.Rate(1+r.Int64N(int64(33*percent)))
		with = append(with, strategy.PartAt(level, share))
	}
	return with
}

// An exchange with latency, little volume and a hand that cancels exits: the time without an exit
// is what an onlooker measures, no base is sold twice, and once it is left alone the
// position is protected.
func TestTheTimeWithoutAnExitIsWhatAnOnlookerMeasures(t *testing.T) {
	total, book := market.Duration(0), &tally{}
	for seed := range uint64(*markets) {
		chance := rand.New(rand.NewPCG(seed, 17))
		s := &script{candle: func(d *strategy.Desk, c market.Candle) {
			if d.In(1).Position().Amount > 0 || len(d.In(1).OpenOrders()) > 0 {
				return
			}
			stop, target := c.Close-market.Price(1+chance.IntN(6))*at1, c.Close+market.Price(1+chance.IntN(6))*at1
			with := append(followingAll(chance), strategy.Exits(stop, target),
				strategy.Keep(market.Leg(chance.IntN(2))))
			d.In(1).Buy(strategy.Amount(btc/8), append(with, inParts(chance, c.Close)...)...)
		}}
		config := sim.Config{Latency: market.Duration(chance.IntN(3)) * 7e9}
		if chance.IntN(2) == 0 {
			config.VolumeShare = market.Rate(1 + chance.IntN(20_000_000))
		}
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: config, observer: book})
		x := &exposed{b: b, last: b.now}
		b.before = x.look
		price := market.Price(100)
		for range 120 {
			for _, o := range b.account.Open(nil, 0, 0) {
				if o.Side == market.Sell && chance.IntN(6) == 0 {
					b.venue.Cancel(o.ID, 0, market.CancelOnAdminRequest)
				}
			}
			next := max(20, price+market.Price(chance.IntN(7)-3))
			b.candle(price, max(price, next)+market.Price(chance.IntN(3)),
				min(price, next)-market.Price(chance.IntN(3)), next)
			price = next
		}
		x.look(nil)
		require.Equal(t, x.sum, b.engine.Brackets().Unprotected(), "seed %d: %v", seed, b.causes())
		total += x.sum
		b.flat(3, price)
		if b.engine.Brackets().Bare() != nil && b.engine.Brackets().Bare()[0].Cause == strategy.CauseClose {
			b.flat(3, price) // an exit after a time has just begun
		}
		if b.position() > 0 && config.VolumeShare == 0 {
			require.Empty(t, b.engine.Brackets().Bare(), "seed %d", seed)
		}
	}
	require.Positive(t, total)
	require.Greater(t, book.parts, *markets)
}
