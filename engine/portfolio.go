package engine

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// planned works out the orders of a portfolio at the latest prices.
func (e *Engine) planned(s *slot, p *strategy.Portfolio) (plan legs, err error) {
	if err = p.Check(e.catalog); err != nil || len(p.Weights) == 0 {
		return plan, err
	}
	plan.quote = e.catalog.Market(p.Weights[0].Market).Quote
	equity, err := e.account.EquityOf(s.id, plan.quote)
	if err != nil {
		return plan, fmt.Errorf("equity: %w", err)
	}
	for _, w := range p.Weights {
		m := e.catalog.Market(w.Market)
		if w.Share > 0 && e.outside(s.id, m.ID) {
			return plan, fmt.Errorf("a weight of %s for %s: %w", w.Share, m.Name, e.gate.RefuseOutside(s.id))
		}
		if e.cannotTrade(s, m) {
			plan.kept = append(plan.kept, m.ID)
			continue
		}
		sold, bought, err := e.difference(s, w, p, m.MoneyValue(max(0, equity)))
		switch {
		case err != nil:
			return plan, fmt.Errorf("%s: %w", m.Name, err)
		case sold > 0:
			l, err := e.sellLeg(s, m, sold)
			if err != nil {
				return plan, fmt.Errorf("%s: %w", m.Name, err)
			}
			plan.sells = append(plan.sells, l)
		case bought > 0:
			plan.buys = append(plan.buys, leg{market: m.ID, amount: bought})
		}
	}
	plan.reserve, err = e.reserved(s, &plan)
	return plan, err
}

// cannotTrade reports whether a market keeps its units now: it is in its warm-up or halted, its
// price is late or unknown, or a Close of the strategy is under way that the exchange has not
// confirmed.
func (e *Engine) cannotTrade(s *slot, m *market.Market) bool {
	return s.cold(m.ID) || m.Status != market.Trading || e.account.Last(m.ID) == 0 ||
		e.gate.Stale(e.account, s.id, m.ID, e.now) ||
		e.brackets.Closing(s.id, m.ID)
}

// difference is the amount that a market has too much for its weight, or lacks.
func (e *Engine) difference(s *slot, w strategy.Weight, p *strategy.Portfolio,
	equity market.Value) (sold, bought market.Qty, err error) {
	m, last := e.catalog.Market(w.Market), e.account.Last(w.Market)
	coming, going := e.underWay(s, m)
	free := e.account.Position(s.id, m.ID).Amount - going
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
func (e *Engine) underWay(s *slot, m *market.Market) (coming, going market.Qty) {
	for _, o := range e.account.Open(nil, s.id, m.ID) {
		amount := o.AmountRemaining
		switch {
		case o.Type != market.TypeMarket:
			continue
		case o.ByQuote() && o.Side == market.Buy:
			costs := e.Costs(m.ID)
			amount = exchange.BaseForMoney(m, o.AmountQuoteRemaining, costs.Buy, costs.Taker)
		case o.ByQuote():
			amount = exchange.BaseForValue(m, m.MoneyValue(o.AmountQuoteRemaining), e.account.Last(m.ID))
		}
		if o.Side == market.Buy {
			coming += amount
		} else {
			going += amount
		}
	}
	return coming, going + e.brackets.Unsent(s.id, m.ID)
}

// reserved is the cash that stays when all orders of a plan, and the sells that are under way, do
// as they should.
func (e *Engine) reserved(s *slot, plan *legs) (market.Money, error) {
	sells := plan.sells
	for _, m := range s.Markets {
		if in := e.catalog.Market(m); in.Quote == plan.quote {
			if _, going := e.underWay(s, in); going > 0 {
				sells = append(sells[:len(sells):len(sells)], leg{market: m, amount: going})
			}
		}
	}
	left, _ := e.account.Balance(s.id, plan.quote)
	for _, l := range sells {
		money, err := e.proceeds(l)
		if err == nil {
			left, err = market.Add(left, money)
		}
		if err != nil {
			return 0, err
		}
	}
	for _, l := range plan.buys {
		money, err := e.cost(l)
		if err != nil {
			return 0, err
		}
		if left -= money; left <= 0 {
			return 0, nil
		}
	}
	return left, nil
}
