package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// guardWait is the longest wait of a bracket for its next attempt that a stop waits for: its exit
// has then been refused five times, within seven seconds.
const guardWait = market.Duration(5 * time.Second)

// ending is the end of a run. It leaves at the exchange only what is to be kept.
type ending struct {
	*Config
	why     error                   // why the loop ends by itself, in good order where possible; nil: it does not
	stopped bool                    // the engine has stopped: events are dropped, and the next run fetches them
	guards  bool                    // the stop places the exits that positions lack
	cancels map[market.OrderID]bool // orders that the stop has tried to cancel
}

// stop ends a loop that has traded, in good order.
func (l *Loop) stop(work context.Context) error {
	commands := l.door.Enter(&market.Input{Kind: market.InputStop, At: l.engineTime()}).Commands
	l.stopped, l.guards = true, l.KeepExits && l.ending.why == nil
	l.queueCommands(commands)
	if !l.KeepExits && l.ending.why == nil {
		l.input(&market.Input{Kind: market.InputFinish})
	}
	return l.end(work)
}

// stopEarly ends a loop that has not traded yet, in good order: of the strategies' commands only
// cancels are sent.
func (l *Loop) stopEarly(work context.Context) error {
	commands := slices.Clone(l.begin())
	commands = append(commands, l.door.Enter(&market.Input{Kind: market.InputStop, At: l.engineTime()}).Commands...)
	l.stopped = true
	l.dropUnsent(commands)
	return l.end(work)
}

// end cancels the orders that are not kept, stops the timers of the others, and waits for every
// answer.
func (l *Loop) end(work context.Context) error {
	within := l.StopWithin
	if l.StopLeft != nil {
		within = min(within, l.StopLeft())
	}
	ctx, cancel := context.WithTimeout(work, within)
	defer cancel()
	if len(l.kept()) > 0 {
		l.open.proof.since = l.now // the last lines about kept orders need a list that is asked for from now on
	}
	l.endTurn(work)
	armed := l.disarm(ctx, work)
	// The first round is at once; later rounds repeat cancels that were lost or refused.
	next := l.now
	for l.failed == nil && !(l.finished() && l.Proven()) && ctx.Err() == nil {
		if next <= l.now {
			next = l.now.Add(firstWait)
			l.endOrders()
			l.endTurn(work)
		}
		l.turn(ctx, work)
	}
	if l.failed != nil {
		return errors.Join(l.ending.why, armed, l.failed)
	}
	return errors.Join(l.ending.why, armed, l.unfinished())
}

// isFinalCancel reports whether a command is the first cancel of its order in a stop. It is sent in
// spite of a ban.
func (e *ending) isFinalCancel(c *market.Command) bool {
	if !e.stopped || c.Kind != market.CommandCancel || e.cancels[c.Order.ID] {
		return false
	}
	e.cancels[c.Order.ID] = true
	return true
}

// endOrders cancels the orders that a stop does not keep, and places the exits that positions lack.
// The brackets of cancelled exits stay: the next start places their exits again.
func (l *Loop) endOrders() {
	if !l.keeps(false) {
		l.input(&market.Input{Kind: market.InputCancelOthers})
	}
	if l.guards {
		l.input(&market.Input{Kind: market.InputGuard})
	}
	var ids []market.OrderID
	for _, o := range l.unwanted() {
		ids = append(ids, o.ID)
	}
	if len(ids) > 0 {
		l.input(&market.Input{Kind: market.InputCancel, Orders: ids})
	}
}

// keeps reports whether a stop keeps the exits of brackets, or other orders. A loop that ends by
// itself, as on a full disk, keeps the exits alone.
func (e *ending) keeps(exits bool) bool {
	switch {
	case e.why != nil:
		return exits
	case exits:
		return e.KeepExits
	}
	return e.KeepOrders
}

// unwanted are the open orders that a stop is to end.
func (e *ending) unwanted() []*market.Order {
	return slices.DeleteFunc(e.Account.Open(nil, 0, 0), func(o *market.Order) bool {
		return e.keeps(e.Engine.Brackets().IsExit(o.ID)) || e.sells(o)
	})
}

// sells reports whether an order is the sale of a Close that has had no answer yet: the exit has
// gone for it.
func (e *ending) sells(o *market.Order) bool {
	return e.why == nil && o.Type == market.TypeMarket && e.Engine.Brackets().IsExit(o.ID) &&
		e.Account.Own(o.ID).InFlight == market.CommandPlace
}

// kept are the open orders that a stop leaves at the exchange.
func (e *ending) kept() []*market.Order {
	return slices.DeleteFunc(e.Account.Open(nil, 0, 0), func(o *market.Order) bool {
		return !e.keeps(e.Engine.Brackets().IsExit(o.ID))
	})
}

// dropUnsent answers commands that will never be sent as an exchange that refuses them. Cancels are
// sent: they leave less behind.
func (l *Loop) dropUnsent(unsent []market.Command) {
	var withheld []market.Command
	for i := range unsent {
		if c := &unsent[i]; c.Kind == market.CommandCancel {
			l.queueCommands(unsent[i : i+1])
		} else {
			l.withhold(c)
			withheld = append(withheld, *c)
		}
	}
	since := l.open.proof.since
	defer func() { l.open.proof.since = since }() // what was never sent needs no proof of its end
	for i := range withheld {                     // after the loop: what follows from them comes after the cancels
		c := &withheld[i]
		l.answer(c, market.ExecRejected, 0)
		l.follow(c.Order.ID)
		if q := l.queries.of[c.Order.ID]; q != nil {
			q.unresolved = nil
		}
	}
}

// finished reports whether a stop has nothing left to wait for.
func (l *Loop) finished() bool {
	return l.quiet() && len(l.unwanted()) == 0 && !l.Engine.Brackets().Guarding(l.now.Add(guardWait))
}

// unfinished says what a stop has wrongly left: open orders, or, where orders are kept, those whose
// last write is unresolved.
func (l *Loop) unfinished() error {
	if left := l.unwanted(); len(left) > 0 {
		return fmt.Errorf("live: %d orders are still open after %s: %s", len(left), time.Duration(l.StopWithin),
			namesOf(left))
	}
	left := l.Account.Open(nil, 0, 0)
	left = slices.DeleteFunc(left, func(o *market.Order) bool { return l.Account.Own(o.ID).InFlight == 0 })
	if len(left) > 0 {
		return fmt.Errorf("live: the last write of %d orders is unresolved after %s: %s", len(left),
			time.Duration(l.StopWithin), namesOf(left))
	}
	if l.Proven() {
		return nil
	}
	text := "no order is open in the books"
	if kept := l.kept(); len(kept) > 0 {
		text = "open in the books: " + namesOf(kept)
	}
	return fmt.Errorf("live: %s, and no list of the exchange has confirmed it within %s", text,
		time.Duration(l.StopWithin))
}

// namesOf lists orders for a person.
func namesOf(orders []*market.Order) (text string) {
	for i, o := range orders {
		if i > 0 {
			text += ", "
		}
		text += o.ClientOrderID.String()
	}
	return text
}
