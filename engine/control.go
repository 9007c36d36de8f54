package engine

import (
	"errors"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// tagFlatten begins the tag of the orders by which Flatten sells, and of sales that Adopt takes in.
const tagFlatten = "flatten"

// SellsOff reports whether an order sells off what a halted strategy holds: it is one of Flatten,
// or a sale that Adopt took in. The tag alone does not make one: a strategy may give its own orders
// any tag.
func SellsOff(o *market.Order) bool {
	return o.Side == market.Sell && o.Type == market.TypeMarket && strings.HasPrefix(o.Tag, tagFlatten)
}

// HaltAll halts every strategy, for a reason from outside, and cancels their orders but for the
// exits of brackets, which protect.
func (e *Engine) HaltAll(at market.Time, reason string) []market.Command {
	e.begin(at)
	for i := range e.seats {
		e.halt(&e.seats[i], reason)
	}
	return e.out
}

// HaltOne halts one strategy as HaltAll does all.
func (e *Engine) HaltOne(at market.Time, id market.StrategyID, reason string) []market.Command {
	e.begin(at)
	e.halt(&e.seats[id-1], reason)
	return e.out
}

// CancelHalted asks once more for the orders of halted strategies to end, but for the exits of
// brackets and what Flatten sells by: their first cancel may have been lost, or refused. left is
// how many are open.
func (e *Engine) CancelHalted(at market.Time) (commands []market.Command, left int) {
	e.begin(at)
	for i := range e.seats {
		if s := &e.seats[i]; s.halted && e.account.OpenBy(s.id) > 0 {
			left += e.cancelUnprotected(s)
		}
	}
	return e.out, left
}

// HaltUnsaved halts the strategies of which Save could not get what they know: they trade no
// further than what a restart would find. some reports whether there were any.
func (e *Engine) HaltUnsaved(at market.Time) (commands []market.Command, some bool) {
	e.begin(at)
	for i := range e.seats {
		if s := &e.seats[i]; s.unsaved != "" && !s.halted {
			e.halt(s, "its state cannot be saved: "+s.unsaved)
			some = true
		}
	}
	return e.out, some
}

// Resume lets a halted strategy trade again. It hears of the next event as if it had never been
// halted.
func (e *Engine) Resume(at market.Time, id market.StrategyID) []market.Command {
	e.begin(at)
	e.seats[id-1].halted, e.seats[id-1].unsaved, e.book.changed = false, "", true
	e.gate.Resume(id)
	return e.out
}

// Halted is the latest halt of a strategy, and whether it still lasts.
func (e *Engine) Halted(id market.StrategyID) (latest Halt, halted bool) {
	for _, h := range e.halts {
		if h.Strategy == id {
			latest = h
		}
	}
	return latest, e.seats[id-1].halted
}

// Stack is where a strategy was when it was halted last: the goroutine's stack where it panicked,
// ended its goroutine, or used its desk from elsewhere; nil where it was halted for another reason.
func (e *Engine) Stack(id market.StrategyID) []byte { return e.seats[id-1].stack }

// Warming reports whether a strategy's warm-up still holds its orders.
func (e *Engine) Warming(id market.StrategyID) bool { return e.seats[id-1].warming }

// Protects reports whether an order is the exit of a bracket: a halt leaves it where it is.
func (e *Engine) Protects(id market.OrderID) bool { return e.brackets.IsExit(id) }

// CancelAll asks for every own open order to end, exits of brackets included; their brackets are
// dissolved.
func (e *Engine) CancelAll(at market.Time) []market.Command {
	e.begin(at)
	e.cancelOf(0)
	return e.out
}

// Cancel asks once more for own orders to end of which the exchange refused, or never heard, the
// first cancel. It leaves brackets alone.
func (e *Engine) Cancel(at market.Time, ids []market.OrderID) []market.Command {
	e.begin(at)
	for _, id := range ids {
		e.cancel(id, false)
	}
	return e.out
}

// cancelOf cancels the open orders of a strategy, 0 being all, and ends its brackets.
func (e *Engine) cancelOf(id market.StrategyID) {
	e.brackets.EndAll(id)
	for _, o := range e.account.Open(nil, id, 0) {
		e.cancel(o.ID, false)
	}
}

// Unsold is something that Flatten could not ask to be sold: dust below the market's minimum, a
// market that is halted.
type Unsold struct {
	Market  market.ID
	Amount  market.Qty
	Refusal risk.Refusal
}

// Flatten brings a strategy one step nearer to holding nothing. While it has open orders they are
// asked to end, exits of brackets included; once none is left, what it holds is sold at market,
// through the gate, as orders that only reduce and that its limits do not hold up. Orders of an
// earlier call are waited for. The strategy is halted with the first call. Where neither commands
// nor open orders are left, it is as flat as it gets: unsold is the rest.
func (e *Engine) Flatten(at market.Time, id market.StrategyID, reason string) (commands []market.Command,
	unsold []Unsold) {
	e.begin(at)
	e.halt(&e.seats[id-1], reason)
	e.brackets.EndAll(id)
	open := e.account.Open(nil, id, 0)
	for _, o := range open {
		if !SellsOff(o) {
			e.cancelOf(id)
			break
		}
	}
	if len(open) > 0 {
		return e.out, nil
	}
	for _, m := range e.catalog.Markets() {
		if held := e.account.Position(id, m.ID).Amount; held > 0 {
			if refusal := e.sellOff(id, m.ID, held); refusal != nil {
				unsold = append(unsold, Unsold{Market: m.ID, Amount: held, Refusal: *refusal})
			}
		}
	}
	return e.out, unsold
}

// sellOff sells at market as an exit, of which the gate asks what the exchange would ask and
// nothing else.
func (e *Engine) sellOff(id market.StrategyID, m market.ID, amount market.Qty) *risk.Refusal {
	c := &e.command
	*c = market.Command{Kind: market.CommandPlace, At: e.now, Attached: true}
	o := &c.Order
	o.Strategy, o.Market, o.Side, o.Type, o.Amount, o.Tag = id, m, market.Sell, market.TypeMarket, amount, tagFlatten
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	_, err := e.place(c, true)
	var refusal *risk.Refusal
	errors.As(err, &refusal)
	return refusal
}
