package replace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/engine/port"
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

// Core is the engine as its replacements see it.
type Core interface {
	port.Orders
	port.Strategies
	// NextID is a new order number, Newest the newest one.
	NextID() market.OrderID
	Newest() market.OrderID
	// Send sends an order that the gate has approved and that has its number; asked is the ask.
	Send(asked, c *market.Command, approved risk.Approved, why port.Why)
	// NotSent tells the observer and the log that an order which waited was refused.
	NotSent(asked, rounded *market.Command, err error)
	// Dropped tells a strategy of an order that never left.
	Dropped(o market.Order, r market.Report)
	// OwnsTactic reports whether an order is one of a tactic of a strategy.
	OwnsTactic(id market.StrategyID, order market.OrderID) bool
}

// Exits are the brackets of entries.
type Exits interface {
	// IsExit reports whether an order is an exit of a bracket.
	IsExit(id market.OrderID) bool
	// Follows sets what the exits of an entry follow.
	Follows(entry market.OrderID, f strategy.Follow)
}

// Set is all orders of an engine that wait for the end of others. It is a plain value owned by the
// engine's goroutine.
type Set struct {
	core    Core
	exits   Exits
	catalog *market.Catalog
	clock   *market.Time // arrival of the current event
	account *state.Account
	gate    *risk.Gate
	all     []*replacement
	book    Book
	// reused: a pointer to a local through an interface would allocate
	command, asked market.Command
	refusal        risk.Refusal
}

// New is an engine's set of replacements. clock is the engine's.
func New(core Core, exits Exits, catalog *market.Catalog, clock *market.Time, account *state.Account,
	gate *risk.Gate) *Set {
	s := &Set{core: core, exits: exits, catalog: catalog, clock: clock, account: account, gate: gate}
	s.book = Book{account, s}
	return s
}

// Len is the number of orders that wait.
func (s *Set) Len() int { return len(s.all) }

// Begin lets an order wait for the end of another, which it cancels: see strategy.Replacing. It
// returns the number of the order, or the gate's refusal.
func (s *Set) Begin(old market.OrderID, c *market.Command, f *strategy.Follow) (market.OrderID, error) {
	r, err := s.replacing(c.Order.Strategy, old, c)
	if err != nil {
		return 0, err
	}
	if f != nil {
		follow := *f
		r.follow = &follow
	}
	s.all = append(s.all, r)
	s.setClaim(r)
	s.core.Cancel(r.old, r, false)
	return r.order.ID, nil
}

// replacing passes a replacement through the gate, as if the order that it replaces had ended. An
// order that waits itself passes its place on.
func (s *Set) replacing(id market.StrategyID, old market.OrderID, c *market.Command) (*replacement, error) {
	waits := s.waiting(id, old)
	if waits != nil {
		old = waits.old
	}
	own := s.account.Known(old)
	switch {
	case own == nil || own.Strategy != id || own.Market != c.Order.Market || waits == nil && own.State.Terminal():
		s.refusal = risk.Refusal{Reason: risk.ReasonNoSuchOrder, Have: int64(old)}
		return nil, &s.refusal
	case waits == nil && own.BookedAmount() < own.FilledAmount: // what it has paid is not known yet
		s.refusal = risk.Refusal{Reason: risk.ReasonInFlight, Have: int64(old)}
		return nil, &s.refusal
	case own.Side != c.Order.Side:
		return nil, s.gate.NotReplaced(id, fmt.Sprintf("order %d is a %s", old, own.Side))
	case s.exits.IsExit(old):
		return nil, s.gate.NotReplaced(id, fmt.Sprintf("order %d is an exit of a bracket", old))
	case s.core.OwnsTactic(id, old):
		return nil, s.gate.NotReplaced(id, fmt.Sprintf("order %d is of a MakerFirst or TWAP: cancel that", old))
	case waits == nil && s.replacementOf(old) != nil:
		return nil, s.gate.NotReplaced(id, fmt.Sprintf("order %d waits for the end of order %d already",
			s.replacementOf(old).order.ID, old))
	}
	r := &replacement{asked: c.Order, old: old, filled: filledOf(own)}
	if err := s.approve(r, waits, own, c); err != nil {
		return nil, err
	}
	r.claim = max(0, r.needs-own.OnHold)
	if waits != nil {
		r.filled = waits.filled
		if own.BookedAmount() < own.FilledAmount {
			r.claim = max(r.claim, waits.claim) // the missing fills have to be paid
		}
		s.drop(waits, fmt.Sprintf("order %d replaces it", s.core.Newest()+1), market.ExecCanceled)
	}
	r.order = c.Order
	r.order.ID, r.order.Created, r.order.OnHold = s.core.NextID(), *s.clock, r.needs
	r.order.OnHoldCurrency = exchange.HoldAsset(s.catalog.Market(r.order.Market), r.order.Side)
	return r, nil
}

// approve asks the gate, with the funds and the slot of the old order free.
func (s *Set) approve(r, waits *replacement, own *state.Order, c *market.Command) (err error) {
	var approved risk.Approved
	check := func() { approved, err = s.gate.Check(s.account, c) }
	if waits != nil {
		s.account.Unclaim(waits.order.ID)
	}
	if own.State.Terminal() {
		check()
	} else {
		s.account.Without(own, check)
	}
	if waits != nil {
		s.setClaim(waits)
	}
	r.needs = approved.Hold()
	return err
}

// filledOf is the known filled amount of an order.
func filledOf(o *state.Order) market.Qty { return max(o.FilledAmount, o.BookedAmount()) }

// setClaim holds what a replacement needs beyond what its old order holds, and its slot once that
// is free.
func (s *Set) setClaim(r *replacement) {
	s.account.Claim(&r.order, r.claim, s.account.Own(r.old) == nil)
	s.core.Changed()
}

// waiting is the strategy's replacement with this id, or nil.
func (s *Set) waiting(by market.StrategyID, id market.OrderID) *replacement {
	for _, r := range s.all {
		if r.order.ID == id && r.order.Strategy == by {
			return r
		}
	}
	return nil
}

// MustWait reports whether a replacement that is under way forbids an update: the update is of the
// new order, or of the terms of the old one.
func (s *Set) MustWait(by market.StrategyID, c *market.Command) bool {
	terms := c.Changed&^(market.ChangeExits|market.ChangeSells) != 0
	return s.waiting(by, c.Order.ID) != nil || terms && s.replacementOf(c.Order.ID) != nil
}

// replacementOf is the replacement that waits for the end of an order, or nil.
func (s *Set) replacementOf(old market.OrderID) *replacement {
	for _, r := range s.all {
		if r.old == old {
			return r
		}
	}
	return nil
}

// Apply is Account.Apply. What the old order of a replacement pays, the replacement does not have
// any more. What it frees otherwise stays held: missing fills may have to be paid.
func (s *Set) Apply(ev *market.Event) (state.Applied, error) {
	var old market.OrderID
	switch {
	case ev.Kind == market.KindReport:
		old = ev.Report.Order
	case ev.Kind == market.KindFill && len(ev.Fills) > 0:
		old = ev.Fills[0].Order
	}
	r := s.replacementOf(old)
	if r == nil {
		return s.account.Apply(ev)
	}
	o := &r.order
	holds, total := s.holdOf(old), s.totalOf(o)
	applied, err := s.account.Apply(ev)
	if err == nil {
		has := holds + r.claim + s.totalOf(o) - total
		r.claim = max(0, has-s.holdOf(old))
		s.setClaim(r)
	}
	return applied, err
}

// holdOf is the money that an open order holds, 0 for another.
func (s *Set) holdOf(id market.OrderID) market.Money {
	if own := s.account.Own(id); own != nil {
		return own.OnHold
	}
	return 0
}

// totalOf is the balance of which an order holds a part.
func (s *Set) totalOf(o *market.Order) market.Money {
	available, held := s.account.Balance(o.Strategy, o.OnHoldCurrency)
	return available + held
}

// Follow sends what waited for an order that has ended, before its strategy hears of the end:
// nothing else can spend what has come free. report is nil for fills without a report.
//
//go:noinline
func (s *Set) Follow(o *state.Order, report *market.Report) {
	r := s.replacementOf(o.ID)
	switch {
	case r == nil:
	case s.account.Known(o.ID).Over():
		s.send(r, o)
	case report != nil && report.Exec == market.ExecRejected && report.Command == market.CommandCancel &&
		report.Code != exchange.CodeNotFound: // an order that is not found has ended, and that is about to be reported
		s.drop(r, fmt.Sprintf("the cancel of order %d was refused", o.ID), market.ExecRejected)
	}
}

// send sends a replacement if the end of the old order has left enough for it.
func (s *Set) send(r *replacement, old *state.Order) {
	m := s.catalog.Market(old.Market)
	switch filled := filledOf(old) - r.filled; {
	case r.claim >= r.needs:
	case filled > 0:
		s.drop(r, fmt.Sprintf("order %d filled %s meanwhile", old.ID, m.FormatQty(filled)), market.ExecRejected)
		return
	default:
		s.drop(r, fmt.Sprintf("order %d has left less than it needs", old.ID), market.ExecRejected)
		return
	}
	s.forget(r)
	c := &s.command
	*c = market.Command{Kind: market.CommandPlace, At: *s.clock, Order: r.order}
	c.Order.OnHold, c.Order.OnHoldCurrency = 0, 0
	s.asked = market.Command{Kind: market.CommandPlace, At: *s.clock, Order: r.asked}
	s.asked.Order.ID = r.old
	approved, err := s.gate.Recheck(s.account, c)
	if c.Order.Side == market.Buy && s.core.Outside(c.Order.Strategy, c.Order.Market) {
		// the market has left the universe meanwhile
		err = s.gate.RefuseOutside(c.Order.Strategy)
	}
	if err != nil {
		s.notify(r, err, market.ExecRejected)
		return
	}
	s.core.Send(&s.asked, c, approved, r)
	if r.follow != nil {
		s.exits.Follows(r.order.ID, *r.follow)
	}
}

// forget takes a replacement from those that wait, with its claim.
func (s *Set) forget(r *replacement) {
	s.account.Unclaim(r.order.ID)
	s.all = slices.DeleteFunc(s.all, func(x *replacement) bool { return x == r })
	s.core.Changed()
}

// drop ends a replacement that will not leave.
func (s *Set) drop(r *replacement, why string, exec market.ExecutionType) {
	s.forget(r)
	s.notify(r, s.gate.NotReplaced(r.order.Strategy, why), exec)
}

// notify tells observer, log and strategy that a replacement does not leave. For the journal, it
// belongs to the story of the old order: it has none of its own.
func (s *Set) notify(r *replacement, err error, exec market.ExecutionType) {
	rounded := market.Command{Kind: market.CommandPlace, At: *s.clock, Order: r.order}
	s.asked = market.Command{Kind: market.CommandPlace, At: *s.clock, Order: r.asked}
	rounded.Order.ID, s.asked.Order.ID = r.old, r.old
	s.core.NotSent(&s.asked, &rounded, err)
	o := r.order
	o.OnHold = 0
	if exec == market.ExecCanceled {
		o.Status = market.StatusCanceled
	}
	report := market.ReportOf(&o, exec)
	report.Updated = *s.clock
	if exec == market.ExecRejected {
		report.Command = market.CommandPlace
	}
	if why := (*risk.Refusal)(nil); errors.As(err, &why) {
		report.Code = why.Code
	}
	s.core.Dropped(o, report)
}

// DropIn drops the entries of a strategy that wait in a market, with whole all orders that do.
func (s *Set) DropIn(id market.StrategyID, m market.ID, whole bool, why string) {
	for i := len(s.all) - 1; i >= 0; i-- {
		if o := &s.all[i].order; o.Strategy == id && o.Market == m && (whole || o.Bracket.Any()) {
			s.drop(s.all[i], why, market.ExecRejected)
		}
	}
}

// Drop drops the waiting replacements of a strategy, 0 for all.
func (s *Set) Drop(id market.StrategyID, why string) {
	for i := len(s.all) - 1; i >= 0; i-- {
		if r := s.all[i]; id == 0 || r.order.Strategy == id {
			s.drop(r, why, market.ExecRejected)
		}
	}
}

// Figures explain the cancel and the new order of a replacement.
func (r *replacement) Figures(*market.Command, *market.Market) []state.Figure {
	return []state.Figure{{Name: "replace", Before: fmt.Sprint("order ", r.old),
		After: fmt.Sprint("order ", r.order.ID)}}
}

// Book is the account as strategies see it: with the orders that wait.
type Book struct {
	*state.Account
	set *Set
}

// Book is the account with the orders that wait.
func (s *Set) Book() *Book { return &s.book }

// Order returns an own open order, or one that waits, or nil.
func (b *Book) Order(id market.OrderID) *market.Order {
	for _, r := range b.set.all {
		if r.order.ID == id {
			return &r.order
		}
	}
	return b.Account.Order(id)
}

// Open appends the strategy's open orders in m, those that wait included.
func (b *Book) Open(dst []*market.Order, s market.StrategyID, m market.ID) []*market.Order {
	from := len(dst)
	dst = b.Account.Open(dst, s, m)
	for _, r := range b.set.all {
		if r.order.Strategy == s && (m == 0 || r.order.Market == m) {
			dst = append(dst, &r.order)
		}
	}
	slices.SortFunc(dst[from:], func(x, y *market.Order) int { return cmp.Compare(x.ID, y.ID) })
	return dst
}

// Saved is an order that waits for the end of another.
type Saved struct {
	Strategy string         `json:"strategy"`
	Market   string         `json:"market"`
	Old      market.OrderID `json:"old"`
	Order    market.Order   `json:"order"` // without strategy, market and hold
}

// Save returns the input of DropSaved; the caller owns it.
func (s *Set) Save() (saved []Saved) {
	for _, r := range s.all {
		o := r.order
		by, in := s.core.Name(o.Strategy), s.catalog.Market(o.Market).Name
		o.Strategy, o.Market, o.OnHold, o.OnHoldCurrency = 0, 0, 0, 0
		saved = append(saved, Saved{Strategy: by, Market: in, Old: r.old, Order: o})
	}
	return saved
}

// DropSaved drops what waited when the engine was saved.
func (s *Set) DropSaved(saved []Saved) {
	for i := range saved {
		id, _ := s.core.Named(saved[i].Strategy)
		m := s.catalog.MarketNamed(saved[i].Market)
		if id == 0 || m == nil {
			continue
		}
		r := &replacement{order: saved[i].Order, old: saved[i].Old}
		r.order.Strategy, r.order.Market = id, m.ID
		r.asked = r.order
		s.notify(r, s.gate.NotReplaced(id, fmt.Sprintf("it waited for the end of order %d at a restart", r.old)),
			market.ExecRejected)
	}
}

// Waiting reports whether an order of a strategy waits in a market.
func (s *Set) Waiting(id market.StrategyID, m market.ID) bool {
	return slices.ContainsFunc(s.all, func(r *replacement) bool {
		return r.order.Strategy == id && r.order.Market == m
	})
}

// Claimed is the base that the sells of a strategy that wait in a market hold beside their old
// orders.
func (s *Set) Claimed(id market.StrategyID, m market.ID) (base market.Qty) {
	for _, r := range s.all {
		if r.order.Strategy == id && r.order.Market == m && r.order.Side == market.Sell {
			base += market.Qty(r.claim)
		}
	}
	return base
}

// Cancel drops an order of a strategy that waits, and reports whether there is one with this id.
func (s *Set) Cancel(id market.StrategyID, order market.OrderID) bool {
	r := s.waiting(id, order)
	if r != nil {
		s.drop(r, "its strategy cancelled it", market.ExecCanceled)
	}
	return r != nil
}
