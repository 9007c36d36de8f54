package engine

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// close is Close; atClose: it is decided on a candle's close.
func (e *Engine) close(id market.StrategyID, m market.ID, amount market.Qty, tag string, atClose bool) error {
	held := e.account.Position(id, m).Amount
	whole := amount == 0 || held > 0 && amount >= held
	if whole {
		amount = max(0, held)
	}
	c := e.sale(id, m, amount, tag)
	switch {
	case e.replaying || e.stopped:
		return e.refusals.Closed(c, e.stopped)
	case e.brackets.Leaves(id, m):
		return nil
	case held <= 0 && (!whole || e.account.SlotsBy(id) == 0):
		if whole {
			e.EndTactics(id, m)
		}
		return nil
	}
	e.refusals.Keep(c)
	if held > 0 {
		if err := e.gate.CheckClose(e.account, c, whole && !e.brackets.Guards(id, m)); err != nil {
			e.refusals.Report(c, err)
			e.refusals.Tell(id, c, err)
			return err
		}
	}
	e.replaces.DropIn(id, m, whole, closeLeaves)
	err := e.brackets.Close(&bracket.Leave{Strategy: id, Market: m, Whole: whole, Amount: c.Order.Amount, Tag: tag,
		Last: e.lastID, AtClose: atClose})
	if err != nil {
		e.refusals.Tell(id, c, err)
	}
	return err
}

// closeLeaves is why a Close drops an order that waits.
const closeLeaves = "a Close leaves the market"

// figures are the gate's figures of an approved command, and the position before and after the
// Close that the command belongs to.
func (e *Engine) figures(c *market.Command, why port.Why) []state.Figure {
	figures := e.gate.Figures()
	m, name := e.catalog.Market(c.Order.Market), "close"
	if why != nil {
		figures = append(slices.Clip(figures), why.Figures(c, m)...)
	}
	if moved := e.brackets.Moving(); moved != nil {
		return append(slices.Clip(figures), state.Figure{Name: "stop follows", Before: m.FormatPrice(moved.From),
			After: m.FormatPrice(moved.To)})
	}
	tag, before, after := e.brackets.Leaving(&c.Order)
	if tag == "" {
		return figures
	}
	if tag != name {
		name += " " + tag
	}
	return append(slices.Clip(figures),
		state.Figure{Name: name, Before: m.FormatQty(before), After: m.FormatQty(after)})
}

// sale is the command of a Close.
func (e *Engine) sale(id market.StrategyID, m market.ID, amount market.Qty, tag string) *market.Command {
	c := &e.command
	*c = market.Command{Kind: market.CommandPlace, At: e.now}
	o := &c.Order
	o.Strategy, o.Market, o.Side, o.Type, o.Amount, o.Tag = id, m, market.Sell, market.TypeMarket, amount, tag
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	return c
}

// notifyCloses reports Closes that failed to the observer and their strategies.
func (e *Engine) notifyCloses(round int) {
	for _, f := range e.brackets.TakeFailures() {
		if e.closes != nil {
			e.closes.CloseFailed(&f)
		}
		switch s := &e.slots[f.Strategy-1]; {
		case s.onCloseFailed == nil:
		case round == maxRounds:
			e.halt(s, fmt.Sprintf("%d rounds of orders in one step", maxRounds))
		default:
			e.args.closeFailed = f
			e.guard(s, CallCloseFailed)
		}
	}
}
