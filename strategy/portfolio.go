package strategy

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Portfolio is the shares that markets are to have of the strategy's equity (MarketDesk.Equity),
// for Desk.Rebalance. What the weights leave stays cash.
type Portfolio struct {
	Weights []Weight // at most 100 % together, each market once, all of one quote asset
	// Band is against churning: a market whose share differs from its weight by less keeps its
	// units. A weight of 0 has no band: the market is sold whole.
	Band   market.Rate
	ToEdge bool // trade to the edge of the band that is nearest, not to the weight itself
}

// Weight is the share of the equity that a market is to have.
type Weight struct {
	Market market.ID
	Share  market.Rate
}

// TagRebalance is the tag of Rebalance's orders.
const TagRebalance = "rebalance"

// Rebalance brings markets to their weights, at the equity and the latest prices of this moment.
//
// Markets that have too much are sold at once. When all sells have ended, the others are bought,
// with the money of market orders (Money), the fee inside. The buys spend the cash that is there
// then, less what the weights leave as cash. Where it does not suffice at the worst price with
// fees, because a sell failed for example, all buys are smaller in proportion. In a backtest sells
// and buys arrive at the same open. The engine keeps the buys over a restart. They are dropped by
// the next candle of the main interval, by the next call, and by a halt or a stop.
//
// A market keeps its units where the portfolio does not name it, where it is halted, where its
// price is late or too old, and where the difference is below the market's minimum. An open market
// order counts as filled. Base that the exits of brackets hold is sold as ClosePart sells it: the
// exits are reduced to the rest, or come back where that fails. A plan that would sell base that
// other own sells hold is refused whole, with an error that wraps ErrHeld and names them. A market
// in which a Close is under way keeps its units.
//
// The error says why nothing was done: a portfolio that is not valid, or a *risk.Refusal where the
// limits do not allow all orders of the plan. Then an earlier plan stays. Orders that the gate
// refuses later are in the log.
func (d *Desk) Rebalance(p Portfolio) error {
	if !d.engine.Admit(d.id, "Rebalance") {
		return ErrElsewhere
	}
	return d.engine.Rebalance(d.id, p)
}

// Check returns an error wrapping ErrMeaningless where no account could have the portfolio. An
// engine calls it.
func (p *Portfolio) Check(c *market.Catalog) error {
	sum, quote, seen := market.Rate(0), market.AssetID(0), make(map[market.ID]bool, len(p.Weights))
	for _, w := range p.Weights {
		if w.Market < 1 || int(w.Market) > len(c.Markets()) {
			return fmt.Errorf("%w: market %d: the run has markets 1 to %d", ErrMeaningless, w.Market, len(c.Markets()))
		}
		m := c.Market(w.Market)
		switch {
		case seen[w.Market]:
			return fmt.Errorf("%w: %s has two weights", ErrMeaningless, m.Name)
		case w.Share < 0 || w.Share > market.Whole:
			return fmt.Errorf("%w: a weight of %s for %s: a share is between 0%% and 100%%", ErrMeaningless, w.Share,
				m.Name)
		case quote != 0 && m.Quote != quote:
			return fmt.Errorf("%w: %s and %s have different quote assets; rebalance them by themselves", ErrMeaningless,
				c.Market(p.Weights[0].Market).Name, m.Name)
		}
		seen[w.Market], quote, sum = true, m.Quote, sum+w.Share
	}
	switch {
	case sum > market.Whole:
		return fmt.Errorf("%w: the weights are %s together, and can be 100%%", ErrMeaningless, sum)
	case p.Band < 0 || p.Band > market.Whole:
		return fmt.Errorf("%w: a band of %s: it is between 0%% and 100%%", ErrMeaningless, p.Band)
	}
	return nil
}
