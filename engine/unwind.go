package engine

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// sellLeg is a sell of a plan. Base that the exits of brackets hold is sold as ClosePart sells it;
// base that other own sells hold is not for sale.
func (e *Engine) sellLeg(s *slot, m *market.Market, amount market.Qty) (leg, error) {
	l := leg{market: m.ID, amount: amount}
	if _, free := (exits{e}).Position(s.id, m.ID); amount <= free {
		return l, nil
	}
	l.closes = true
	if most := e.brackets.Closable(s.id, m.ID); amount > most {
		return l, fmt.Errorf("%s of %s are to be sold, and %w: %s", m.FormatQty(amount),
			m.FormatQty(e.account.Position(s.id, m.ID).Amount), strategy.ErrHeld, e.otherSells(s.id, m))
	}
	return l, nil
}

// otherSells describes the open sells of a strategy that are no exits.
func (e *Engine) otherSells(id market.StrategyID, m *market.Market) (text string) {
	for _, o := range e.account.Open(nil, id, m.ID) {
		if o.Side == market.Sell && !e.brackets.IsExit(o.ID) {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("order %d: %s", o.ID, describe(m, o))
		}
	}
	return text
}

// unwind begins the Close of a plan's sell.
func (e *Engine) unwind(s *slot, l leg) {
	c := e.sale(s.id, l.market, l.amount, strategy.TagRebalance)
	e.asked = *c
	err := e.gate.CheckClose(e.account, c, false)
	if err != nil {
		e.reportRefusal(c, err)
	} else {
		e.replaces.DropIn(s.id, l.market, false, closeLeaves)
		call, _ := e.calls.Now()
		err = e.brackets.Close(&bracket.Leave{Strategy: s.id, Market: l.market, Amount: c.Order.Amount,
			Tag: strategy.TagRebalance, Last: e.lastID, AtClose: call.Kind == CallCandle || call.Kind == CallCandles})
	}
	if err != nil {
		e.tell(s, c, err)
	}
}

// closesOf are the markets of a quote asset in which a Close of a strategy is under way.
func (e *Engine) closesOf(s *slot, quote market.AssetID) (all []market.ID) {
	for _, m := range s.Markets {
		if e.catalog.Market(m).Quote == quote && e.brackets.Closing(s.id, m) {
			all = append(all, m)
		}
	}
	return all
}

// buysWait drops what has ended of the sells and Closes that a strategy's buys wait for, and
// reports whether any is left.
func (e *Engine) buysWait(s *slot) bool {
	r := s.rebalance
	before := len(r.sells) + len(r.closes)
	r.sells = slices.DeleteFunc(r.sells, e.hasEnded)
	r.closes = slices.DeleteFunc(r.closes, func(m market.ID) bool { return !e.brackets.Closing(s.id, m) })
	left := len(r.sells) + len(r.closes)
	e.saves.changed = e.saves.changed || left < before
	return left > 0
}
