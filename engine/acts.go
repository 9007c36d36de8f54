package engine

import (
	"errors"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// tagFlatten begins the tag of Flatten's orders and of sales that Adopt takes in.
const tagFlatten = "flatten"

// Liquidates reports whether an order liquidates a halted strategy: an order of Flatten, or a sale
// that Adopt took in. The tag alone is not enough: a strategy may give its own orders any tag.
func Liquidates(o *market.Order) bool {
	return o.Side == market.Sell && o.Type == market.TypeMarket && strings.HasPrefix(o.Tag, tagFlatten)
}

// acts are what a person does to the engine, or the live loop for one: halts, cancels, sales,
// orders that were sent without the engine. They come in through Engine.Enter.
type acts struct{ *Engine }

// HaltAll halts every strategy, for a reason from outside, and cancels their orders except exits of
// brackets, which protect.
func (e acts) HaltAll(at market.Time, reason string) []market.Command {
	e.begin(at)
	for i := range e.slots {
		e.halt(&e.slots[i], reason)
	}
	return e.out
}

// HaltOne halts one strategy as HaltAll halts all. A strategy that is halted already has both
// reasons.
func (e acts) HaltOne(at market.Time, id market.StrategyID, reason string) []market.Command {
	e.begin(at)
	e.haltAlso(&e.slots[id-1], reason)
	return e.out
}

// CancelHalted cancels the open orders of halted strategies again, except exits of brackets and
// Flatten's sales: the first cancel may have been lost or refused. left is the number of orders
// still open.
func (e acts) CancelHalted(at market.Time) (commands []market.Command, left int) {
	e.begin(at)
	for i := range e.slots {
		if s := &e.slots[i]; s.halted && e.account.OpenBy(s.id) > 0 {
			left += e.cancelUnprotected(s)
		}
	}
	return e.out, left
}

// Resume lets a halted strategy trade again. It receives the next event as if it had never been
// halted. One whose saved state was not loaded stays halted. What Flatten has not sold stays, and
// the exits that CancelAll took away come back, also those of a strategy that was not halted.
func (e acts) Resume(at market.Time, id market.StrategyID) []market.Command {
	e.begin(at)
	if e.Unloaded(id) {
		return e.out
	}
	if s := &e.slots[id-1]; s.halted {
		s.halted, s.unsaved, e.saves.changed = false, "", true
		e.gate.Resume(id)
	}
	e.brackets.EndDepartures(id)
	e.brackets.Readmit(id)
	e.brackets.Retry()
	e.notifySent()
	return e.out
}

// CancelAll cancels every own open order, exits of brackets included. Their brackets place no exit
// before Resume, or before a Restore of a strategy that is not halted; until then their positions
// count as unprotected.
func (e acts) CancelAll(at market.Time) []market.Command {
	e.begin(at)
	e.brackets.WithdrawAll()
	for i := range e.slots {
		e.rebalances.Drop(e.slots[i].id)
		e.EndTactics(e.slots[i].id, 0)
	}
	e.replaces.Drop(0, "all orders are cancelled")
	for _, o := range e.account.Open(nil, 0, 0) {
		e.cancel(o.ID, nil, false)
	}
	e.notifySent()
	return e.out
}

// CancelOthers cancels every own open order that neither protects nor liquidates a holding, and
// ends the tactics and other asks that would send more. Brackets stay.
func (e acts) CancelOthers(at market.Time) []market.Command {
	e.begin(at)
	for i := range e.slots {
		s := &e.slots[i]
		e.rebalances.Drop(s.id)
		e.EndTactics(s.id, 0)
		e.cancelUnprotected(s)
	}
	e.replaces.Drop(0, "all orders are cancelled")
	return e.out
}

// Hear keeps a signal from outside, and calls the strategies that want it. A signal is no order:
// what strategies ask because of it passes the gate as always.
func (e acts) Hear(at market.Time, s *market.Signal) (a Answer) {
	e.begin(at)
	if e.err != nil {
		return a
	}
	a.Heard, a.Deaf = e.signals.Hear(s)
	e.endStep(&market.Event{Kind: market.KindTimer, At: at})
	a.Commands = e.out
	return a
}

// Hold lets the brackets of a restored engine send nothing until Guard is called: the loop first
// learns what has happened while no bot ran.
func (e *Engine) Hold() { e.brackets.Hold() }

// Guard lets the brackets of a stopped engine place the exits that positions lack, also of entries
// that buy while the bot stops, and Closes that have begun go on. Nothing new begins. Without exits
// only Closes go on. After Hold, Guard lets brackets work without restriction.
func (e acts) Guard(at market.Time, exits bool) []market.Command {
	e.begin(at)
	e.brackets.Guard(exits)
	e.notifySent()
	return e.out
}

// Cancel sends cancels again for own orders whose first cancel the exchange refused or never
// received. It leaves brackets alone.
func (e acts) Cancel(at market.Time, ids []market.OrderID) []market.Command {
	e.begin(at)
	for _, id := range ids {
		e.cancel(id, nil, false)
	}
	return e.out
}

// Unsold is a holding that Flatten cannot sell now, and why.
type Unsold struct {
	Market  market.ID
	Amount  market.Qty
	Code    int // of the exchange, where it refused or would
	Why     string
	Small   bool // it is below the market's minimum
	Refused bool // the exchange would refuse the sale now, so that nothing was tried
	Tries   int  // that have failed
}

// Flatten brings a strategy one step nearer to holding nothing. The first call halts the strategy
// and cancels its orders except exits; each position is left as by Close, which no limit of the
// strategy stops. An exit goes when the sale in its place would be taken; exits that CancelAll or
// Dissolve took away return. Where nothing can be sold
// now, or a sale fails, the exits stay or return, and the sale goes on by itself when it can, also
// after a restart, until Resume. Sales of an earlier call are waited for. unsold lists the
// positions that are not being sold now.
func (e acts) Flatten(at market.Time, id market.StrategyID, reason string) (commands []market.Command,
	unsold []Unsold) {
	e.begin(at)
	s := &e.slots[id-1]
	e.halt(s, reason)
	e.cancelUnprotected(s)
	e.brackets.Readmit(id)
	for _, m := range e.catalog.Markets() {
		if e.account.Position(id, m.ID).Amount > 0 || len(e.account.Open(nil, id, m.ID)) > 0 {
			e.brackets.Depart(id, m.ID, tagFlatten)
		}
	}
	e.notifySent()
	for _, m := range e.catalog.Markets() {
		if held := e.account.Position(id, m.ID).Amount; held > 0 && !e.brackets.Closing(id, m.ID) {
			unsold = append(unsold, e.unsold(id, m.ID, held))
		}
	}
	return e.out, unsold
}

// unsold says why a position is not being sold.
func (e acts) unsold(id market.StrategyID, m market.ID, held market.Qty) Unsold {
	for _, d := range e.brackets.Departures(id) {
		if d.Market == m && d.Why != "" {
			return Unsold{Market: m, Amount: held, Code: d.Code, Why: d.Why, Small: d.Small, Tries: d.Failures,
				Refused: d.Refused}
		}
	}
	u := Unsold{Market: m, Amount: held, Refused: true}
	c := e.sale(id, m, held, tagFlatten)
	c.Attached = true
	var refused *risk.Refusal
	if errors.As(e.gate.CheckClose(e.account, c, false), &refused) {
		u.Code, u.Why, u.Small = refused.Code, refused.Error(), refused.Dust()
	}
	return u
}

// Delisted ends the brackets, tactics and waiting orders of a market whose trading has ended for
// good; base stays where it is. The commands, cancels of their exits, are valid until the next
// Step.
func (e acts) Delisted(m market.ID) []market.Command {
	e.begin(e.now)
	e.brackets.EndIn(m)
	for i := range e.slots {
		e.EndTactics(e.slots[i].id, m)
		e.replaces.DropIn(e.slots[i].id, m, true, "trading in the market has ended")
	}
	e.notifySent()
	return e.out
}
