package engine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// careful is an allocator whose positions have exits: a first group buys 60 of market 1 in two
// brackets, with prices of 100.
type careful struct {
	allocator
	begun bool
	asks  func(d *strategy.Desk)
}

func (s *careful) OnCandles(d *strategy.Desk, g strategy.Group) {
	if !s.begun {
		s.begun = true
		d.In(1).Buy(strategy.Amount(40*btc), strategy.Exits(90*at1, 110*at1))
		d.In(1).Buy(strategy.Amount(20*btc), strategy.Exits(80*at1, 120*at1))
		return
	}
	if s.asks != nil {
		s.asks(d)
		s.asks = nil
	}
	s.allocator.OnCandles(d, g)
}

// protected is a bench of a careful, whose second group asks for a portfolio.
func protected(t *testing.T, config sim.Config, s *careful, p strategy.Portfolio) *weighted {
	w := &weighted{newBench(t, setup{markets: 3, venue: config,
		slots: []engine.StrategyConfig{{Strategy: s, Markets: []market.ID{1, 2, 3}}}}), &s.allocator}
	w.opens(100, 100, 100)
	w.opens(100, 100, 100)
	w.told, w.sent = nil, nil
	s.next(p)
	w.opens(100, 100, 100)
	return w
}

// The newest bracket is closed, and the exit of the other is reduced; sales and buys meet one open.
func TestWeightsSellTheBaseOfBracketsAsClosePartDoes(t *testing.T) {
	for _, restarting := range []bool{false, true} {
		s := &careful{}
		w := protected(t, sim.Config{}, s, percents(30, 60, -1))
		require.Equal(t, []string{"cancel 4", "update 3 30"}, w.sent)
		if restarting {
			w.restart(nil, &careful{begun: true})
		}
		w.opens(100, 100, 100)
		require.Equal(t, []string{"cancel 4", "update 3 30", "sell 30 attached", "buy for 6000 attached"}, w.sent)
		require.Equal(t, []string{"4 canceled", "3 updated", "5 trade 30 @ 100", "6 trade 60 @ 100"}, w.told)
		require.Equal(t, [3]int64{30_00, 60_00, 0}, w.held())
		require.Equal(t, 1_000*eur, w.cash())
		require.Empty(t, w.engine.Brackets().Bare())
		require.Zero(t, w.engine.Brackets().Unprotected())
	}
	w := protected(t, sim.Config{}, &careful{}, percents(0, 50, -1))
	w.opens(100, 100, 100)
	require.Equal(t, [3]int64{0, 50_00, 0}, w.held())
	require.Empty(t, w.account.Open(nil, 0, 0), "no exit is left")
	w.opens(100, 100, 100)
	require.Empty(t, w.engine.Brackets().Bare())
}

func TestWeightsThatNeedBaseOfOwnSellsAreRefusedWhole(t *testing.T) {
	s := &careful{asks: func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(20 * btc))
	}}
	w := protected(t, sim.Config{}, s, percents(-1, 5, -1))
	w.opens(100, 100, 100)
	s.asks = func(d *strategy.Desk) { d.In(1).Sell(strategy.Amount(15*btc), strategy.At(130*at1)) }
	w.opens(100, 100, 100)
	w.sent = nil
	s.next(percents(10, 50, -1))
	w.opens(100, 100, 100)
	require.EqualError(t, s.errors[len(s.errors)-1], "BTC-EUR: 70 of 80 are to be sold, and other own sells hold a "+
		"part of the position: order 7: sell 15, limit at 130")
	require.ErrorIs(t, s.errors[len(s.errors)-1], strategy.ErrHeld)
	require.Empty(t, w.sent)
	require.Contains(t, w.log.String(), "order 7: sell 15, limit at 130")
	s.next(percents(15, 50, -1))
	w.opens(100, 100, 100)
	w.opens(100, 100, 100)
	require.Equal(t, int64(15_00), w.held()[0], "what no sell holds may go")
	require.Empty(t, w.engine.Brackets().Bare())
}

// The sale is refused: the exits come back, and the buys have the cash that there is.
func TestACloseOfWeightsThatFailsShrinksTheBuys(t *testing.T) {
	s := &careful{}
	w := protected(t, sim.Config{}, s, percents(30, 60, -1))
	w.step(&market.Event{Kind: market.KindMarketStatus, At: w.now, Market: 1, Status: market.CancelOnly})
	w.opens(100, 100, 100)
	require.Equal(t, int64(60_00), w.held()[0])
	require.Equal(t, int64(30_00), w.held()[1], "30 of 60, and the reserve stays")
	w.step(&market.Event{Kind: market.KindMarketStatus, At: w.now, Market: 1, Status: market.Trading})
	w.opens(100, 100, 100)
	require.Empty(t, w.engine.Brackets().Bare())
}

// Whatever portfolios meet positions with exits: no base is sold twice, the account and the venue
// agree after every step, and the weights come about.
func TestRandomWeightsOverPositionsWithExits(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 41))
		s := &careful{}
		w := protected(t, sim.Config{}, s, percents(market.Rate(r.IntN(60)), 10, -1))
		if r.IntN(2) == 0 {
			w.restartAlways(s)
		}
		for range 6 {
			share := market.Rate(r.IntN(70))
			if r.IntN(2) == 0 {
				s.asks = func(d *strategy.Desk) { _, _ = d.In(1).Protect(strategy.Exits(90*at1, 110*at1)) }
				w.opens(100, 100, 100)
			}
			s.next(percents(share, 70-share, -1))
			w.opens(100, 100, 100)
			w.opens(100, 100, 100)
			require.Equal(t, [3]int64{int64(share) * 100, int64(70-share) * 100, 0}, w.held(), "seed %d", seed)
			require.Equal(t, 3_000*eur, w.cash(), "seed %d", seed)
			require.Zero(t, w.engine.Brackets().Unprotected(), "seed %d", seed)
		}
	}
}
