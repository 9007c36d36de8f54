package shipped_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

const day = market.Time(24 * 3600 * 1e9)

// startRotation is over the best two of three days, chosen each week; it begins on a Thursday.
func startRotation(t *testing.T) *stage {
	s := begin(t, 0, 2, 1000_00, 1000_00, 1000_00)
	s.next = 7 * day
	return s.with(shipped.Rotation, market.Interval1d, map[string]any{"top": int64(2), "candles": int64(3)})
}

// days closes a day of the markets; 0: without a trade.
func (s *stage) days(prices [3]market.Price, want ...string) {
	s.Helper()
	var group []market.Candle
	for i, p := range prices {
		if p != 0 {
			group = append(group, market.Candle{Open: p, High: p, Low: p, Close: p, Start: s.next,
				Market: s.markets[i].ID, Interval: market.Interval1d})
		}
	}
	s.next += day
	s.Group(s.strategy, s.desk, group...)
	require.Equal(s, want, s.Asked())
}

func TestItHoldsTheBestOfTheWeek(t *testing.T) {
	s := startRotation(t)
	s.days([3]market.Price{100, 100, 100}) // Thursday
	s.days([3]market.Price{100, 100, 100})
	s.days([3]market.Price{100, 100, 100})
	s.days([3]market.Price{105, 101, 110}, "rebalance 50% ADA-EUR 50% BTC-EUR 0% ETH-EUR band 2%") // Sunday
	for range 6 {
		s.days([3]market.Price{120, 120, 120})
	}
	s.days([3]market.Price{119, 121, 118}, "rebalance 50% ETH-EUR 0% BTC-EUR 0% ADA-EUR band 2%") // one has risen
	for range 6 {
		s.days([3]market.Price{100, 100, 100})
	}
	s.days([3]market.Price{99, 100, 98}, "rebalance 0% ETH-EUR 0% BTC-EUR 0% ADA-EUR band 2%") // all is cash
}

func TestAMarketWithoutATradeKeepsItsMomentumAndAYoungOneHasNone(t *testing.T) {
	s := startRotation(t)
	s.days([3]market.Price{100, 100, 0})
	s.days([3]market.Price{100, 100, 100})
	s.days([3]market.Price{100, 100, 100})
	s.days([3]market.Price{105, 110, 200}, "rebalance 50% ETH-EUR 50% BTC-EUR 0% ADA-EUR band 2%")
	for range 6 {
		s.days([3]market.Price{0, 100, 100})
	}
	s.days([3]market.Price{0, 90, 101}, "rebalance 50% BTC-EUR 50% ADA-EUR 0% ETH-EUR band 2%")
}

func TestARefusedPlanWaitsForTheNextWeek(t *testing.T) {
	s := startRotation(t)
	for range 3 {
		s.days([3]market.Price{100, 100, 100})
	}
	s.RefusePlan = true
	s.days([3]market.Price{105, 101, 100}, "rebalance 50% BTC-EUR 50% ETH-EUR 0% ADA-EUR band 2% refused")
	s.RefusePlan = false
	s.days([3]market.Price{105, 101, 100})
}

func TestWhatItCannotTradeIsRefusedAtTheStart(t *testing.T) {
	var b strategytest.Bench
	b.Market("BTC-EUR", 0, 2, 1000_00)
	_, err := shipped.Rotation.New(map[string]any{"every": "1h"}, b.Setup(market.Interval1d))
	require.EqualError(t, err,
		"strategy rotation: parameter every: 1h is shorter than the main interval, which is 1d")
	b.Market("ETH-USDC", 0, 2, 1000_00)
	_, err = shipped.Rotation.New(nil, b.Setup(market.Interval1d))
	require.EqualError(t, err, "strategy rotation: BTC-EUR and ETH-USDC have different quote assets")
	needs, err := shipped.Rotation.Needs(nil)
	require.NoError(t, err)
	require.Equal(t, 31, needs.Warmup)
}

func TestOnlyMembersOfTheUniverseAreRankedAndALeaverIsSold(t *testing.T) {
	s := startRotation(t)
	s.days([3]market.Price{100, 100, 100}) // Thursday
	s.days([3]market.Price{100, 100, 100})
	s.days([3]market.Price{100, 100, 100})
	s.Universe = []market.ID{s.markets[0].ID, s.markets[1].ID}
	s.days([3]market.Price{105, 101, 110}, "rebalance 50% BTC-EUR 50% ETH-EUR band 2%") // ADA is no member
	id, err := s.desk.In(s.markets[0].ID).Buy(strategy.Amount(1))
	require.NoError(t, err)
	s.Fill(id, 105, 1)
	s.Asked()
	for range 6 {
		s.days([3]market.Price{120, 120, 120})
	}
	s.Universe = []market.ID{s.markets[2].ID}
	s.days([3]market.Price{130, 130, 130}, "rebalance 50% ADA-EUR 0% BTC-EUR band 2%")
}
