package backtest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// aparted gives each strategy of a plan money of its own, and nothing in common with the others:
// no base, no share of the volume, no limit of the account or of a market, and no moment inside a
// candle. There the paths of several markets go on in thirds, one market after another; what a fill
// leads to is sent at the latest time that a strategy could know, of whatever market.
func aparted(p *Plan) {
	p.Deposits, p.Venue.VolumeShare = nil, 0
	p.Venue.Latency, p.DataLatency = 0, 0
	p.Account.AllowSelfCross, p.Account.MaxExposure = true, 0
	for _, m := range p.Catalog.Markets() {
		m.MaxOpenOrders = 0
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		s.Own = true
		if s.Kind.Name == "gambler" {
			s.Values = wagered(s.Values, "calm", true)
		}
		p.Deposits = append(p.Deposits, Deposit{Asset: p.Currency.ID, Money: 50_000_00,
			Owner: market.StrategyID(i + 1)})
	}
}

// fillsOf are the fills of a strategy in a market, or in all, without its number.
func fillsOf(all []market.Fill, s market.StrategyID, in market.ID) (list []market.Fill) {
	for _, f := range all {
		if f.Strategy == s && (in == 0 || f.Market == in) {
			f.Strategy = 0
			list = append(list, f)
		}
	}
	return list
}

// M17: all the cash as an allocation is the cash.
func TestAnAllocationOfAllTheCashChangesNoFill(t *testing.T) {
	inWorlds(t, func(seed uint64) {
		relation(t, seed, func(p *Plan) {
			p.Strategies = p.Strategies[:1]
			p.Strategies[0].Own = false
			p.Deposits = slices.DeleteFunc(p.Deposits, func(d Deposit) bool { return d.Owner != 0 })
		}, func(p *Plan) {
			p.Strategies[0].Own = true
			for i := range p.Deposits {
				p.Deposits[i].Owner = 1
			}
		}, nil)
	})
}

// M17, M18: strategies with money of their own trade together, in any order, as each does alone.
// Orders of two strategies that meet at the exchange are one account's, so each gambler has a
// market of its own; strategies that rest no order share the others.
func TestStrategiesWithOwnMoneyTradeTogetherAsEachAlone(t *testing.T) {
	inWorlds(t, func(seed uint64) {
		play := func(choose func(list []StrategyPlan) []StrategyPlan) []market.Fill {
			p := world(t, seed)
			markets := p.Catalog.Markets()
			p.Strategies = p.Strategies[:min(len(p.Strategies), len(markets)-1)]
			for i := range p.Strategies {
				p.Strategies[i].Markets = markets[i : i+1]
			}
			markets = markets[len(p.Strategies):]
			for _, kind := range []strategy.Definition{shipped.SMACross, shipped.DCA} {
				p.Strategies = append(p.Strategies, StrategyPlan{Name: kind.Name, Kind: kind, Markets: markets,
					Values: map[string]any{"every_candles": int64(7)}, Interval: market.Interval1m})
			}
			last := &p.Strategies[len(p.Strategies)-2]
			last.Values = map[string]any{"fast": int64(5), "slow": int64(20), "share": "0.1"}
			p.Strategies = choose(p.Strategies)
			aparted(p)
			if p.Venue.Path == sim.Pessimistic || p.Venue.Path == sim.Optimistic { // by what the account holds
				p.Venue.Path = sim.Adaptive
			}
			h, _ := played(t, seed, p)
			return h.fills
		}
		var count int
		together := play(func(list []StrategyPlan) []StrategyPlan {
			count = len(list)
			return list
		})
		turned := play(func(list []StrategyPlan) []StrategyPlan {
			slices.Reverse(list)
			return list
		})
		for i := range count {
			own := fillsOf(together, market.StrategyID(i+1), 0)
			alone := play(func(list []StrategyPlan) []StrategyPlan { return list[i : i+1] })
			sameFills(t, seed, fillsOf(alone, 1, 0), own, "together", i)
			sameFills(t, seed, fillsOf(turned, market.StrategyID(count-i), 0), own, "turned", i)
		}
	})
}

// M19: a market beside its own copy has the same fills.
func TestAMarketBesideItsCopyHasTheSameFills(t *testing.T) {
	inWorlds(t, func(seed uint64) {
		p := world(t, seed)
		one := p.Catalog.Markets()[0]
		_, err := p.Catalog.AddAsset("COPY", p.Catalog.Asset(one.Base).Digits)
		require.NoError(t, err)
		two := &market.Market{Name: "COPY-EUR", PriceDigits: one.PriceDigits, VolumeDigits: one.VolumeDigits,
			Rules: one.Rules}
		require.NoError(t, p.Catalog.AddMarket(two))
		open := p.Open
		p.Open = func(f Feed, from, to market.Time) (Source, error) {
			if f.Market != two {
				return open(f, from, to)
			}
			f.Market = one
			source, err := open(f, from, to)
			list := slices.Clone(source.(*memory).candles)
			for i := range list {
				list[i].Market = two.ID
			}
			return &memory{list}, err
		}
		for _, f := range p.Feeds {
			if f.Market == one {
				f.Market = two
				p.Feeds = append(p.Feeds, f)
			}
		}
		s := p.Strategies[0]
		s.Markets = []*market.Market{one}
		copied := s
		copied.Name, copied.Markets = "copy", []*market.Market{two}
		p.Strategies = []StrategyPlan{s, copied}
		aparted(p)
		h, _ := played(t, seed, p)
		want, have := fillsOf(h.fills, 1, one.ID), fillsOf(h.fills, 2, two.ID)
		for i := range have {
			have[i].Market = one.ID
		}
		sameFills(t, seed, want, have)
	})
}
