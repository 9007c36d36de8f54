package engine

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// bracket is an entry with two exits, of which one rests at the venue and the other is watched. The life of one: the entry
// fills → the leg to keep is placed over what was filled → the price reaches the other leg → the resting one is cancelled →
// once that is confirmed the other is placed. At no time do two exits rest, and no exit is placed before the base it sells is
// free.
type bracket struct {
	entry    market.OrderID
	strategy market.StrategyID
	market   market.ID
	levels   market.Bracket
	amount   market.Qty     // bought by the entry and not yet sold by an exit
	exit     market.OrderID // the exit at the venue or on its way; 0: none
	leg      market.Leg     // which of the two that is, or is to be next
	swapping bool           // the exit's cancel is on its way, leg says what comes next
	closed   bool           // the entry can fill no more
	bare     market.Time    // since when amount has no exit at the venue; 0: it has one
	failures int            // exits in a row that were refused or cancelled without a fill
	thin     bool           // the last exit expired without a fill: there was nobody to sell to
}

// maxExitFailures is how often a bracket's exit may be refused or cancelled unfilled before the bracket gives up and leaves the
// position to the strategy. One that expires for want of liquidity is tried again with every open.
const maxExitFailures = 3

func (e *Engine) openBracket(o *state.Order) {
	e.brackets = append(e.brackets, bracket{entry: o.ID, strategy: o.Strategy, market: o.Market, levels: o.Bracket, leg: firstLeg(o.Bracket)})
}

// bracketOf returns the bracket whose entry or exit an order is, or nil.
func (e *Engine) bracketOf(id market.OrderID) *bracket {
	for i := range e.brackets {
		if e.brackets[i].entry == id || e.brackets[i].exit == id {
			return &e.brackets[i]
		}
	}
	return nil
}

func (e *Engine) bracketOfExit(id market.OrderID) *bracket {
	if b := e.bracketOf(id); b != nil && b.exit == id {
		return b
	}
	return nil
}

// followBracket moves on the bracket that a reported order belongs to. What it asks for is attached: in a candle's path it
// acts at once.
func (e *Engine) followBracket(o *state.Order, ev *market.Event, applied state.Applied) {
	b := e.bracketOf(o.ID)
	if b == nil {
		return
	}
	if o.ID == b.entry {
		b.closed = b.closed || o.State.Terminal()
		for _, f := range ev.Fills[:applied.Fresh] {
			b.amount += f.Amount
		}
	} else {
		for _, f := range ev.Fills[:applied.Fresh] {
			b.amount -= f.Amount
			b.failures, b.thin = 0, false
		}
		if ev.Report != nil && ev.Report.Exec == market.ExecRejected {
			b.refused(o, ev.Report)
		}
		e.followExit(b, o)
	}
	e.settleBracket(b)
}

// refused deals with a change of the resting exit that the exchange refused: the exit is as it was, and so is the bracket.
func (b *bracket) refused(o *state.Order, r *market.Report) {
	switch {
	case r.Command == market.CommandCancel && b.swapping:
		b.swapping, b.leg = false, market.KeepTarget-b.leg
	case r.Command == market.CommandUpdate && b.leg == market.KeepStop:
		b.levels.Stop = o.TriggerAmount
	case r.Command == market.CommandUpdate:
		b.levels.Target = o.Price
	}
}

// followExit deals with the end of an exit: swapped, filled, refused, or ended by somebody else.
func (e *Engine) followExit(b *bracket, o *state.Order) {
	if !o.State.Terminal() {
		e.protected(b)
		b.thin = false // somebody may want to buy again by the time that the other exit is due
		return
	}
	b.exit = 0
	switch {
	case b.amount <= 0 || b.swapping || o.FilledAmount > 0:
	case o.State == state.Expired:
		b.thin = true
	case !e.cancelEntry(b):
		b.failures++
	}
	b.swapping = false
}

// cancelEntry stops the entry from buying on once an exit has come to nothing: what still rests of it is in the way of a stop
// (self-trade prevention cancels the stop), and a falling market would go on filling it. It reports whether there was
// something to cancel.
func (e *Engine) cancelEntry(b *bracket) bool {
	o := e.account.Own(b.entry)
	if b.closed || o == nil || o.InFlight != 0 {
		return false
	}
	e.attached = true
	e.sendCancel(o)
	e.attached = false
	return true
}

// settleBracket places, enlarges or ends: it brings the venue to what the bracket is.
func (e *Engine) settleBracket(b *bracket) {
	switch {
	case b.amount <= 0 && b.closed && b.exit == 0, b.failures >= maxExitFailures:
		e.remove(b)
		return
	case b.amount > 0 && b.exit == 0:
		_ = e.placeExit(b, b.failures == 0 && !b.thin) // a second try waits for the next open: the same moment would refuse it again
	case b.amount > 0 && b.exit != 0 && !b.swapping:
		e.enlargeExit(b)
	}
	e.watch(b.market)
}

// placeExit sends the bracket's next exit: a stopLoss or limit that rests, or after a swap the order that takes the price it
// has reached. attached lets it act inside the path under way. A refusal ends the bracket, unless its entry may still fill:
// what was bought so far may be too little to sell.
func (e *Engine) placeExit(b *bracket, attached bool) error {
	if b.bare == 0 {
		b.bare = e.now
	}
	c := &e.command
	*c = market.Command{Kind: market.CommandPlace, At: e.now}
	o := &c.Order
	o.Strategy, o.Market, o.Side, o.Amount = b.strategy, b.market, market.Sell, b.amount
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	if b.leg == market.KeepTarget {
		o.Type, o.Price, o.Tag = market.TypeLimit, b.levels.Target, "target"
	} else {
		o.Type, o.Tag = market.TypeStopLoss, "stop"
		o.TriggerAmount, o.TriggerType, o.TriggerReference = b.levels.Stop, market.TriggerPrice, market.LastTrade
	}
	c.Attached = true
	at := b.entry
	e.attached = attached
	id, err := e.place(c)
	e.attached = false
	if b = e.bracketOf(at); b == nil {
		return nil
	}
	if err != nil {
		if b.closed {
			e.remove(b)
		}
		return err
	}
	b.exit = id
	return nil
}

// protected ends the count of the time without an exit.
func (e *Engine) protected(b *bracket) {
	if b.bare != 0 {
		e.unprotected += e.now.Sub(b.bare)
		b.bare = 0
	}
}

// enlargeExit brings the resting exit to the amount that the entry has bought by now.
func (e *Engine) enlargeExit(b *bracket) {
	o := e.account.Own(b.exit)
	if o == nil || o.InFlight != 0 || o.AmountRemaining == b.amount {
		return
	}
	c := &e.command
	*c = market.Command{Kind: market.CommandUpdate, Changed: market.ChangeAmount, At: e.now, Attached: true}
	c.Order.ID, c.Order.Strategy = b.exit, b.strategy
	c.Order.Amount = o.FilledAmount + b.amount
	e.attached = true
	_ = e.update(c) // a refusal leaves the smaller exit and is counted
	e.attached = false
}

// checkPrice swaps the exits of brackets whose watched leg a price has reached.
func (e *Engine) checkPrice(m market.ID, price market.Price) {
	if len(e.brackets) == 0 || price == 0 {
		return
	}
	for i := range e.brackets {
		b := &e.brackets[i]
		if b.market == m && b.watching() && b.reached(price) {
			e.swap(b)
		}
	}
	e.watch(m)
}

func (e *Engine) checkCandles(group []market.Candle) {
	for i := range group {
		e.checkPrice(group[i].Market, group[i].Close)
	}
}

// watching reports whether the bracket has a second leg to wait for.
func (b *bracket) watching() bool {
	return b.exit != 0 && !b.swapping && b.levels.Stop != 0 && b.levels.Target != 0
}

// reached reports whether a price has reached the leg that does not rest.
func (b *bracket) reached(price market.Price) bool {
	if b.leg == market.KeepStop {
		return price >= b.levels.Target
	}
	return price <= b.levels.Stop
}

// swap cancels the resting exit; the other is placed when the cancel is confirmed.
func (e *Engine) swap(b *bracket) {
	b.swapping = true
	b.leg = market.KeepTarget - b.leg
	e.attached = true
	e.cancel(b.exit)
	e.attached = false
}

// moveExits sets new levels for a bracket; those of the resting exit become an update of it.
func (e *Engine) moveExits(b *bracket, c *market.Command) error {
	m := e.catalog.Market(b.market)
	stop := market.CeilTo(c.Order.Bracket.Stop, m.TickSize)
	target := market.CeilTo(c.Order.Bracket.Target, m.TickSize)
	old := b.levels
	b.levels.Stop, b.levels.Target = stop, target
	e.watch(b.market)
	if b.exit == 0 || b.swapping {
		return nil
	}
	u := &e.command
	*u = market.Command{Kind: market.CommandUpdate, At: e.now}
	u.Order.ID, u.Order.Strategy = b.exit, b.strategy
	switch {
	case b.leg == market.KeepStop && stop != old.Stop:
		u.Changed, u.Order.TriggerAmount = market.ChangeTriggerAmount, stop
	case b.leg == market.KeepTarget && target != old.Target:
		u.Changed, u.Order.Price = market.ChangePrice, target
	default:
		return nil
	}
	if err := e.update(u); err != nil {
		b.levels = old
		e.watch(b.market)
		return err
	}
	return nil
}

// untouched reports whether the entry still waits and has bought nothing: a cancel is then for the entry alone, and what it
// buys before the cancel arrives is protected.
func (b *bracket) untouched() bool { return !b.closed && b.amount == 0 && b.exit == 0 }

// dissolve ends a bracket at the strategy's wish: its exit is cancelled and not replaced.
func (e *Engine) dissolve(b *bracket) {
	exit, m := b.exit, b.market
	e.remove(b)
	e.watch(m)
	if exit != 0 {
		e.cancel(exit)
	}
}

func (e *Engine) remove(b *bracket) {
	m := b.market
	at := slices.IndexFunc(e.brackets, func(x bracket) bool { return x.entry == b.entry })
	e.protected(b)
	e.brackets = slices.Delete(e.brackets, at, at+1)
	e.watch(m)
}

// restoreBrackets puts the brackets back to what they were before the callback under way.
func (e *Engine) restoreBrackets() {
	e.brackets = append(e.brackets[:0], e.before...)
	for i := range e.brackets {
		b := &e.brackets[i]
		if exit := e.account.Own(b.exit); exit != nil && !b.swapping {
			e.account.WantCancel(exit, false)
		}
	}
	for m := range e.watches {
		e.watch(market.ID(m))
	}
}

// watch works out the nearest watched prices of a market.
func (e *Engine) watch(m market.ID) {
	w := market.Watch{}
	for i := range e.brackets {
		b := &e.brackets[i]
		if b.market != m || !b.watching() {
			continue
		}
		if b.leg == market.KeepStop {
			if w.Above == 0 || b.levels.Target < w.Above {
				w.Above = b.levels.Target
			}
			continue
		}
		w.Below = max(w.Below, b.levels.Stop)
	}
	e.watches[m] = w
}

// Unprotected is the time, over all brackets, during which a position that should have had an exit at the venue had none.
func (e *Engine) Unprotected() market.Duration { return e.unprotected }
