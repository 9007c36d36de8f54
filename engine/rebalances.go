package engine

import (
	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Rebalance sells what a portfolio has too much of, and keeps the buys until these sells have
// ended.
func (e *Engine) Rebalance(id market.StrategyID, p strategy.Portfolio) error {
	if e.replaying || e.stopped {
		e.refusal = risk.Refusal{Reason: risk.ReasonWarmUp}
		if e.stopped {
			e.refusal.Reason = risk.ReasonStopping
		}
		return &e.refusal
	}
	err := e.rebalances.Begin(id, &p)
	if err != nil {
		e.tellPlan(&e.slots[id-1], err)
	}
	return err
}

// RefusedPlan logs why the buys of a portfolio are not sent.
func (e core) RefusedPlan(id market.StrategyID, err error) { e.tellPlan(&e.slots[id-1], err) }

// Free is the part of a strategy's position in a market that no open sell holds.
func (e core) Free(id market.StrategyID, m market.ID) market.Qty {
	_, free := (exits{e.Engine}).Position(id, m)
	return free
}

// ClosePart sells base that exits of brackets hold, or tells the strategy why not.
func (e core) ClosePart(id market.StrategyID, m market.ID, amount market.Qty, tag string) {
	c := e.sale(id, m, amount, tag)
	e.asked = *c
	err := e.gate.CheckClose(e.account, c, false)
	if err != nil {
		e.reportRefusal(c, err)
	} else {
		e.replaces.DropIn(id, m, false, closeLeaves)
		call, _ := e.calls.Now()
		err = e.brackets.Close(&bracket.Leave{Strategy: id, Market: m, Amount: c.Order.Amount, Tag: tag, Last: e.lastID,
			AtClose: call.Kind == CallCandle || call.Kind == CallCandles})
	}
	if err != nil {
		e.tell(&e.slots[id-1], c, err)
	}
}
