package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// replacement is an order that waits for the end of another: it leaves over that one's funds, or
// not at all. It is no order of the account yet. The hold of the old order and the claim together
// are what the new one needs, or more, less what the old one has paid since.
type replacement struct {
	order  market.Order     // as the gate has approved it
	asked  market.Order     // before rounding
	follow *strategy.Follow // of its bracket; nil: none
	old    market.OrderID
	filled market.Qty   // of the old order, at the call
	needs  market.Money // that it holds in the worst case, at the call
	claim  market.Money // that waits for it beyond what the old order holds
}

// Replace places an order over the funds of another, which it cancels: see strategy.Replacing.
func (e *Engine) Replace(id market.StrategyID, old market.OrderID, c *market.Command,
	f *strategy.Follow) (market.OrderID, error) {
	c.At, c.Order.Strategy = e.now, id
	if e.replaying || e.stopped {
		return 0, e.refuse(c)
	}
	if e.buysOutside(id, c) {
		return 0, e.refuseOutside(c)
	}
	if f != nil && f.Parts != nil {
		if err := e.checkEntryParts(c, f.Parts); err != nil {
			e.tell(&e.slots[id-1], c, err)
			return 0, err
		}
	}
	e.asked = *c
	r, err := e.replacing(id, old, c)
	if err != nil {
		e.reportRefusal(c, err)
		e.tell(&e.slots[id-1], c, err)
		return 0, err
	}
	if f != nil {
		follow := *f
		r.follow = &follow
	}
	e.replaces = append(e.replaces, r)
	e.setClaim(r)
	e.cancel(r.old, r, false)
	return r.order.ID, nil
}

// replacing passes a replacement through the gate, as if the order that it replaces had ended. An
// order that waits itself passes its place on.
func (e *Engine) replacing(id market.StrategyID, old market.OrderID, c *market.Command) (*replacement, error) {
	waits := e.waiting(id, old)
	if waits != nil {
		old = waits.old
	}
	own := e.account.Known(old)
	switch {
	case own == nil || own.Strategy != id || own.Market != c.Order.Market || waits == nil && own.State.Terminal():
		e.refusal = risk.Refusal{Reason: risk.ReasonNoSuchOrder, Have: int64(old)}
		return nil, &e.refusal
	case waits == nil && own.Booked() < own.FilledAmount: // what it has paid is not known yet
		e.refusal = risk.Refusal{Reason: risk.ReasonInFlight, Have: int64(old)}
		return nil, &e.refusal
	case own.Side != c.Order.Side:
		return nil, e.gate.NotReplaced(id, fmt.Sprintf("order %d is a %s", old, own.Side))
	case e.brackets.IsExit(old):
		return nil, e.gate.NotReplaced(id, fmt.Sprintf("order %d is an exit of a bracket", old))
	case e.tactics.Owns(id, old):
		return nil, e.gate.NotReplaced(id, fmt.Sprintf("order %d is of a MakerFirst or TWAP: cancel that", old))
	case waits == nil && e.replacementOf(old) != nil:
		return nil, e.gate.NotReplaced(id, fmt.Sprintf("order %d waits for the end of order %d already",
			e.replacementOf(old).order.ID, old))
	}
	r := &replacement{asked: c.Order, old: old, filled: filledOf(own)}
	if err := e.approveReplacement(r, waits, own, c); err != nil {
		return nil, err
	}
	r.claim = max(0, r.needs-own.OnHold)
	if waits != nil {
		r.filled = waits.filled
		if own.Booked() < own.FilledAmount {
			r.claim = max(r.claim, waits.claim) // the missing fills have to be paid
		}
		e.drop(waits, fmt.Sprintf("order %d replaces it", e.lastID+1), market.ExecCanceled)
	}
	r.order = c.Order
	r.order.ID, r.order.Created, r.order.OnHold = e.nextID(), e.now, r.needs
	r.order.OnHoldCurrency = exchange.HoldAsset(e.catalog.Market(r.order.Market), r.order.Side)
	return r, nil
}

// approveReplacement asks the gate, with the funds and the slot of the old order free.
func (e *Engine) approveReplacement(r, waits *replacement, own *state.Order, c *market.Command) (err error) {
	var approved risk.Approved
	check := func() { approved, err = e.gate.Check(e.account, c) }
	if waits != nil {
		e.account.Unclaim(waits.order.ID)
	}
	if own.State.Terminal() {
		check()
	} else {
		e.account.Without(own, check)
	}
	if waits != nil {
		e.setClaim(waits)
	}
	r.needs = approved.Hold()
	return err
}

// filledOf is what an order has filled, as far as is known.
func filledOf(o *state.Order) market.Qty { return max(o.FilledAmount, o.Booked()) }

// setClaim holds what a replacement needs beyond what its old order holds, and its slot once that
// is free.
func (e *Engine) setClaim(r *replacement) {
	e.account.Claim(&r.order, r.claim, e.account.Own(r.old) == nil)
	e.saves.changed = true
}

// waiting is the strategy's replacement with this id, or nil.
func (e *Engine) waiting(s market.StrategyID, id market.OrderID) *replacement {
	for _, r := range e.replaces {
		if r.order.ID == id && r.order.Strategy == s {
			return r
		}
	}
	return nil
}

// holdsUpdate reports whether an update has to wait for a replacement: it changes a waiting order,
// or the terms of the order that it replaces.
func (e *Engine) holdsUpdate(s market.StrategyID, c *market.Command) bool {
	terms := c.Changed&^(market.ChangeExits|market.ChangeSells) != 0
	return e.waiting(s, c.Order.ID) != nil || terms && e.replacementOf(c.Order.ID) != nil
}

// replacementOf is what waits for the end of an order, or nil.
func (e *Engine) replacementOf(old market.OrderID) *replacement {
	for _, r := range e.replaces {
		if r.old == old {
			return r
		}
	}
	return nil
}

// applyReplaced is Account.Apply while replacements wait. What the old order pays, its replacement
// does not have any more. What it frees otherwise stays held: missing fills may have to be paid.
func (e *Engine) applyReplaced(ev *market.Event) (state.Applied, error) {
	var old market.OrderID
	switch {
	case ev.Kind == market.KindReport:
		old = ev.Report.Order
	case ev.Kind == market.KindFill && len(ev.Fills) > 0:
		old = ev.Fills[0].Order
	}
	r := e.replacementOf(old)
	if r == nil {
		return e.account.Apply(ev)
	}
	o := &r.order
	holds, total := e.holdOf(old), e.totalOf(o)
	applied, err := e.account.Apply(ev)
	if err == nil {
		has := holds + r.claim + e.totalOf(o) - total
		r.claim = max(0, has-e.holdOf(old))
		e.setClaim(r)
	}
	return applied, err
}

// holdOf is what an open order holds, 0 for another.
func (e *Engine) holdOf(id market.OrderID) market.Money {
	if own := e.account.Own(id); own != nil {
		return own.OnHold
	}
	return 0
}

// totalOf is the balance of which an order holds a part.
func (e *Engine) totalOf(o *market.Order) market.Money {
	available, held := e.account.Balance(o.Strategy, o.OnHoldCurrency)
	return available + held
}

// followReplaced sends what waited for an order that has ended, before its strategy hears of the
// end: nothing else can spend what has come free. r is nil for fills without a report.
//
//go:noinline
func (e *Engine) followReplaced(o *state.Order, report *market.Report) {
	r := e.replacementOf(o.ID)
	switch {
	case r == nil:
	case e.hasEnded(o.ID):
		e.sendReplacement(r, o)
	case report != nil && report.Exec == market.ExecRejected && report.Command == market.CommandCancel &&
		report.Code != exchange.CodeNotFound: // an order that is not found has ended, and that is about to be reported
		e.drop(r, fmt.Sprintf("the cancel of order %d was refused", o.ID), market.ExecRejected)
	}
}

// sendReplacement sends a replacement if the end of the old order has left enough for it.
func (e *Engine) sendReplacement(r *replacement, old *state.Order) {
	m := e.catalog.Market(old.Market)
	switch filled := filledOf(old) - r.filled; {
	case r.claim >= r.needs:
	case filled > 0:
		e.drop(r, fmt.Sprintf("order %d filled %s meanwhile", old.ID, m.FormatQty(filled)), market.ExecRejected)
		return
	default:
		e.drop(r, fmt.Sprintf("order %d has left less than it needs", old.ID), market.ExecRejected)
		return
	}
	e.forget(r)
	c := &e.command
	*c = market.Command{Kind: market.CommandPlace, At: e.now, Order: r.order}
	c.Order.OnHold, c.Order.OnHoldCurrency = 0, 0
	e.asked = market.Command{Kind: market.CommandPlace, At: e.now, Order: r.asked}
	e.asked.Order.ID = r.old
	approved, err := e.gate.Recheck(e.account, c)
	if e.buysOutside(c.Order.Strategy, c) { // the market has left the universe meanwhile
		err = e.gate.RefuseOutside(c.Order.Strategy)
	}
	if err != nil {
		e.notifyDropped(r, err, market.ExecRejected)
		return
	}
	e.sendPlace(c, approved, r, e.run == uuid.Nil) // live, it is no exit, and has no right of way
	if r.follow != nil {
		e.brackets.Follows(r.order.ID, *r.follow)
	}
}

// forget takes a replacement from those that wait, with its claim.
func (e *Engine) forget(r *replacement) {
	e.account.Unclaim(r.order.ID)
	e.replaces = slices.DeleteFunc(e.replaces, func(x *replacement) bool { return x == r })
	e.saves.changed = true
}

// drop ends a replacement that will not leave.
func (e *Engine) drop(r *replacement, why string, exec market.ExecutionType) {
	e.forget(r)
	e.notifyDropped(r, e.gate.NotReplaced(r.order.Strategy, why), exec)
}

// notifyDropped tells observer, log and strategy that a replacement does not leave. For the
// journal, it belongs to the story of the old order: it has none of its own.
func (e *Engine) notifyDropped(r *replacement, err error, exec market.ExecutionType) {
	rounded := market.Command{Kind: market.CommandPlace, At: e.now, Order: r.order}
	e.asked = market.Command{Kind: market.CommandPlace, At: e.now, Order: r.asked}
	rounded.Order.ID, e.asked.Order.ID = r.old, r.old
	e.reportRefusal(&rounded, err)
	s := &e.slots[r.order.Strategy-1]
	e.tell(s, &rounded, err)
	if s.onOrder == nil {
		return
	}
	o := r.order
	o.OnHold = 0
	if exec == market.ExecCanceled {
		o.Status = market.StatusCanceled
	}
	report := market.ReportOf(&o, exec)
	report.Updated = e.now
	if exec == market.ExecRejected {
		report.Command = market.CommandPlace
	}
	if why := (*risk.Refusal)(nil); errors.As(err, &why) {
		report.Code = why.Code
	}
	e.sent = append(e.sent, sentOrder{slot: s, id: o.ID, dropped: &droppedOrder{o, report}})
}

// droppedOrder is an order that never left, and what its strategy hears of it.
type droppedOrder struct {
	order  market.Order
	report market.Report
}

// dropWaiting drops the entries of a strategy that wait in a market, with whole all orders that do.
func (e *Engine) dropWaiting(id market.StrategyID, m market.ID, whole bool, why string) {
	for i := len(e.replaces) - 1; i >= 0; i-- {
		if o := &e.replaces[i].order; o.Strategy == id && o.Market == m && (whole || o.Bracket.Any()) {
			e.drop(e.replaces[i], why, market.ExecRejected)
		}
	}
}

// dropReplacements drops what waits of a strategy, 0 for all.
func (e *Engine) dropReplacements(id market.StrategyID, why string) {
	for i := len(e.replaces) - 1; i >= 0; i-- {
		if r := e.replaces[i]; id == 0 || r.order.Strategy == id {
			e.drop(r, why, market.ExecRejected)
		}
	}
}

// Figures explain the cancel and the new order of a replacement.
func (r *replacement) Figures(*market.Command, *market.Market) []state.Figure {
	return []state.Figure{{Name: "replace", Before: fmt.Sprint("order ", r.old),
		After: fmt.Sprint("order ", r.order.ID)}}
}

// book is the account as strategies see it: with the orders that wait.
type book struct {
	*state.Account
	engine *Engine
}

// Order returns an own open order, or one that waits, or nil.
func (b *book) Order(id market.OrderID) *market.Order {
	for _, r := range b.engine.replaces {
		if r.order.ID == id {
			return &r.order
		}
	}
	return b.Account.Order(id)
}

// Open appends the strategy's open orders in m, those that wait included.
func (b *book) Open(dst []*market.Order, s market.StrategyID, m market.ID) []*market.Order {
	from := len(dst)
	dst = b.Account.Open(dst, s, m)
	for _, r := range b.engine.replaces {
		if r.order.Strategy == s && (m == 0 || r.order.Market == m) {
			dst = append(dst, &r.order)
		}
	}
	slices.SortFunc(dst[from:], func(x, y *market.Order) int { return cmp.Compare(x.ID, y.ID) })
	return dst
}

func (e *Engine) saveReplaces() (saved []SavedReplace) {
	for _, r := range e.replaces {
		o := r.order
		by, in := e.slots[o.Strategy-1].Name, e.catalog.Market(o.Market).Name
		o.Strategy, o.Market, o.OnHold, o.OnHoldCurrency = 0, 0, 0, 0
		saved = append(saved, SavedReplace{Strategy: by, Market: in, Old: r.old, Order: o})
	}
	return saved
}

// dropSaved drops what waited when the engine was saved.
func (e *Engine) dropSaved(saved []SavedReplace) {
	for i := range saved {
		s, m := e.slotNamed(saved[i].Strategy), e.catalog.MarketNamed(saved[i].Market)
		if s == nil || m == nil {
			continue
		}
		r := &replacement{order: saved[i].Order, old: saved[i].Old}
		r.order.Strategy, r.order.Market = s.id, m.ID
		r.asked = r.order
		e.notifyDropped(r, e.gate.NotReplaced(s.id, fmt.Sprintf("it waited for the end of order %d at a restart",
			r.old)),
			market.ExecRejected)
	}
}
