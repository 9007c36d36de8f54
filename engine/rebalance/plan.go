package rebalance

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// planned works out the orders of a portfolio at the latest prices.
func (s *Set) planned(id market.StrategyID, p *strategy.Portfolio) (plan legs, err error) {
	if err = p.Check(s.catalog); err != nil || len(p.Weights) == 0 {
		return plan, err
	}
	plan.quote = s.catalog.Market(p.Weights[0].Market).Quote
	equity, err := s.account.EquityOf(id, plan.quote)
	if err != nil {
		return plan, fmt.Errorf("equity: %w", err)
	}
	for _, w := range p.Weights {
		m := s.catalog.Market(w.Market)
		if w.Share > 0 && s.core.Outside(id, m.ID) {
			return plan, fmt.Errorf("a weight of %s for %s: %w", w.Share, m.Name, s.gate.RefuseOutside(id))
		}
		if s.cannotTrade(id, m) {
			plan.kept = append(plan.kept, m.ID)
			continue
		}
		sold, bought, err := s.difference(id, w, p, m.MoneyValue(max(0, equity)))
		switch {
		case err != nil:
			return plan, fmt.Errorf("%s: %w", m.Name, err)
		case sold > 0:
			l, err := s.sellLeg(id, m, sold)
			if err != nil {
				return plan, fmt.Errorf("%s: %w", m.Name, err)
			}
			plan.sells = append(plan.sells, l)
		case bought > 0:
			plan.buys = append(plan.buys, leg{market: m.ID, amount: bought})
		}
	}
	plan.reserve, err = s.reserved(id, &plan)
	return plan, err
}

// cannotTrade reports whether a market keeps its units now: it is in its warm-up or halted, its
// price is late or unknown, or a Close of the strategy is under way that the exchange has not
// confirmed.
func (s *Set) cannotTrade(id market.StrategyID, m *market.Market) bool {
	return s.core.Cold(id, m.ID) || m.Status != market.Trading || s.account.Last(m.ID) == 0 ||
		s.gate.Stale(s.account, id, m.ID, *s.clock) ||
		s.exits.Closing(id, m.ID)
}

// difference is the amount that a market has too much for its weight, or lacks.
func (s *Set) difference(id market.StrategyID, w strategy.Weight, p *strategy.Portfolio,
	equity market.Value) (sold, bought market.Qty, err error) {
	m, last := s.catalog.Market(w.Market), s.account.Last(w.Market)
	coming, going := s.underWay(id, m)
	free := s.account.Position(id, m.ID).Amount - going
	held, err := market.Add(free, coming)
	if err != nil {
		return 0, 0, err
	}
	value, err := m.Value(last, max(0, held))
	if err != nil {
		return 0, 0, err
	}
	wanted, keep := aim(value, equity, w.Share, p)
	if keep {
		return 0, 0, nil
	}
	units := m.Tradable(m.AmountFor(wanted, last), last)
	if units < held {
		return m.Tradable(min(held-units, free), last), 0, nil
	}
	return 0, m.Tradable(units-held, last), nil
}

// aim is the value that a market is to have. keep: it stays where it is, inside the band.
func aim(value, equity market.Value, weight market.Rate, p *strategy.Portfolio) (wanted market.Value, keep bool) {
	if weight == 0 {
		return market.Value{}, false
	}
	low, high := shareOf(equity, max(0, weight-p.Band)), shareOf(equity, weight+p.Band)
	switch {
	case weight >= p.Band && value.Cmp(low) <= 0:
		wanted = low
	case value.Cmp(high) >= 0:
		wanted = high
	default:
		return wanted, true
	}
	if !p.ToEdge {
		wanted = shareOf(equity, weight)
	}
	return wanted, false
}

// shareOf is a share of up to 200 % of an equity, rounded down. Above 100 % it matters for a
// position that is worth a part of a cent more than the equity, which has whole cents.
func shareOf(equity market.Value, share market.Rate) market.Value {
	part := equity.Part(int64(min(share, market.Whole)), int64(market.Whole))
	if more := share - market.Whole; more > 0 {
		if sum, err := part.Add(equity.Part(int64(more), int64(market.Whole))); err == nil {
			return sum
		}
	}
	return part
}

// underWay is the base that a strategy's open market orders may still buy and sell, and that Closes
// are to sell.
func (s *Set) underWay(id market.StrategyID, m *market.Market) (coming, going market.Qty) {
	for _, o := range s.account.Open(nil, id, m.ID) {
		amount := o.AmountRemaining
		switch {
		case o.Type != market.TypeMarket:
			continue
		case o.ByQuote() && o.Side == market.Buy:
			costs := s.core.Costs(m.ID)
			amount = exchange.BaseForMoney(m, o.AmountQuoteRemaining, costs.Buy, costs.Taker)
		case o.ByQuote():
			amount = exchange.BaseForValue(m, m.MoneyValue(o.AmountQuoteRemaining), s.account.Last(m.ID))
		}
		if o.Side == market.Buy {
			coming += amount
		} else {
			going += amount
		}
	}
	return coming, going + s.exits.Unsent(id, m.ID)
}

// reserved is the cash that stays when all orders of a plan, and the sells that are under way, do
// as they should.
func (s *Set) reserved(id market.StrategyID, plan *legs) (market.Money, error) {
	sells := plan.sells
	for _, m := range s.core.Markets(id) {
		if in := s.catalog.Market(m); in.Quote == plan.quote {
			if _, going := s.underWay(id, in); going > 0 {
				sells = append(sells[:len(sells):len(sells)], leg{market: m, amount: going})
			}
		}
	}
	left, _ := s.account.Balance(id, plan.quote)
	for _, l := range sells {
		money, err := s.proceeds(l)
		if err == nil {
			left, err = market.Add(left, money)
		}
		if err != nil {
			return 0, err
		}
	}
	for _, l := range plan.buys {
		money, err := s.cost(l)
		if err != nil {
			return 0, err
		}
		if left -= money; left <= 0 {
			return 0, nil
		}
	}
	return left, nil
}

// sellLeg is a sell of a plan. Base that the exits of brackets hold is sold as ClosePart sells it;
// base that other own sells hold is not for sale.
func (s *Set) sellLeg(id market.StrategyID, m *market.Market, amount market.Qty) (leg, error) {
	l := leg{market: m.ID, amount: amount}
	if amount <= s.core.Free(id, m.ID) {
		return l, nil
	}
	l.closes = true
	if most := s.exits.Closable(id, m.ID); amount > most {
		return l, fmt.Errorf("%s of %s are to be sold, and %w: %s", m.FormatQty(amount),
			m.FormatQty(s.account.Position(id, m.ID).Amount), strategy.ErrHeld, s.otherSells(id, m))
	}
	return l, nil
}

// otherSells describes the open sells of a strategy that are no exits.
func (s *Set) otherSells(id market.StrategyID, m *market.Market) (text string) {
	for _, o := range s.account.Open(nil, id, m.ID) {
		if o.Side == market.Sell && !s.exits.IsExit(o.ID) {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("order %d: %s", o.ID, m.Describe(o))
		}
	}
	return text
}

// closesOf are the markets of a quote asset in which a Close of a strategy is under way.
func (s *Set) closesOf(id market.StrategyID, quote market.AssetID) (all []market.ID) {
	for _, m := range s.core.Markets(id) {
		if s.catalog.Market(m).Quote == quote && s.exits.Closing(id, m) {
			all = append(all, m)
		}
	}
	return all
}

// buysWait drops what has ended of the sells and Closes that a strategy's buys wait for, and
// reports whether any is left.
func (s *Set) buysWait(id market.StrategyID, r *rebalance) bool {
	before := len(r.sells) + len(r.closes)
	r.sells = slices.DeleteFunc(r.sells, s.hasEnded)
	r.closes = slices.DeleteFunc(r.closes, func(m market.ID) bool { return !s.exits.Closing(id, m) })
	left := len(r.sells) + len(r.closes)
	if left < before {
		s.core.Changed()
	}
	return left > 0
}
