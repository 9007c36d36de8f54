package engine

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// checkParts refuses partial targets that do not fit the exits beside them, x.Levels, or that are
// not above the price of the entry. It rounds them down to the tick, where they are reached sooner.
func (e asks) checkParts(x risk.Exits, parts *strategy.Parts) error {
	if x.Market < 1 || int(x.Market) > len(e.catalog.Markets()) {
		return nil // the gate refuses the market
	}
	m := e.catalog.Market(x.Market)
	if err := parts.Check(&x.Levels, m); err != nil {
		return err
	}
	for i := range *parts {
		p := &(*parts)[i]
		p.Price = market.FloorTo(p.Price, m.TickSize)
		x.Levels, x.Current = market.Bracket{Target: p.Price}, market.Bracket{}
		e.exits = x
		if err := e.gate.CheckExits(e.account, &e.exits); err != nil {
			return fmt.Errorf("partial target: %w", err)
		}
	}
	return nil
}

// checkEntryParts is checkParts for an entry that is about to be sent.
func (e asks) checkEntryParts(c *market.Command, parts *strategy.Parts) error {
	e.refusals.Keep(c)
	err := e.checkParts(risk.Exits{Strategy: c.Order.Strategy, Market: c.Order.Market, Levels: c.Order.Bracket,
		Entry: &c.Order}, parts)
	if err != nil {
		e.refusals.Report(c, err)
	}
	return err
}

// checkUpdatedParts is checkParts for a bracket that is there: as for its levels, the price of an
// entry that has bought nothing counts, and otherwise that of the market.
func (e asks) checkUpdatedParts(c *market.Command, parts *strategy.Parts) error {
	terms, _ := e.brackets.Terms(c.Order.Strategy, c.Order.ID)
	x := risk.Exits{Strategy: c.Order.Strategy, Market: terms.Market, Levels: terms.Levels}
	if c.Changed.Has(market.ChangeExits) {
		x.Levels = c.Order.Bracket
	}
	if own := e.account.Own(terms.Entry); own != nil && terms.Untouched {
		x.Entry = &own.Order
	}
	e.refusals.KeepExits(c, x.Market)
	err := e.checkParts(x, parts)
	if err != nil {
		e.refusals.Report(c, err)
	}
	return err
}
