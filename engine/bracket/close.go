package bracket

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// closing is a Close under way: a strategy leaves its position in a market, or a part of it. The
// life of a closing: cancel what may still buy, cancel or reduce the exits over the base that is to
// go (bracket.leaving), wait until the exchange has confirmed it all, sell, and wait for the sale.
// A bracket keeps its levels meanwhile: where the sale fails, leaving becomes 0, and the bracket
// protects its amount as ever.
type closing struct {
	strategy market.StrategyID
	market   market.ID
	whole    bool           // a part leaves other orders than those of brackets alone
	last     market.OrderID // at the Close; later orders and brackets are not part of it
	free     market.Qty     // to be sold that no bracket covers
	sale     market.OrderID // 0: not sent yet
	tag      string
	since    market.Time
	atClose  bool // decided on a candle's close: all that follows acts inside the next paths
	inPath   bool // the sale may act inside the path, because what led to it came later than since

	failed bool // a cancel or a change was refused; it ends with this step
	code   int
	why    string
}

// closings is all closings of a set.
type closings struct {
	all     []closing
	marked  []closing // before the current callback
	saved   []closing // as last saved
	sending bool      // a sale is at the gate

	failures, spare []strategy.CloseFailed
}

// of returns the closing of a strategy in a market, or nil.
func (l *closings) of(id market.StrategyID, m market.ID) *closing {
	for i := range l.all {
		if c := &l.all[i]; c.strategy == id && c.market == m {
			return c
		}
	}
	return nil
}

// selling returns the closing with this sale, or nil.
func (l *closings) selling(order market.OrderID) *closing {
	for i := range l.all {
		if l.all[i].sale == order && order != 0 {
			return &l.all[i]
		}
	}
	return nil
}

func (l *closings) remove(c *closing) {
	id, m := c.strategy, c.market
	l.all = slices.DeleteFunc(l.all, func(x closing) bool { return x.strategy == id && x.market == m })
}

func (l *closings) endAll(id market.StrategyID) {
	l.all = slices.DeleteFunc(l.all, func(x closing) bool { return id == 0 || x.strategy == id })
}

// Closing reports whether a strategy's Close is under way in a market.
func (s *Set) Closing(id market.StrategyID, m market.ID) bool { return s.closes.of(id, m) != nil }

// Leave is what a Close leaves.
type Leave struct {
	Strategy market.StrategyID
	Market   market.ID
	Whole    bool       // the position and all orders of the market
	Amount   market.Qty // of a part
	Last     market.OrderID
	AtClose  bool // decided on a candle's close
	Tag      string
}

// Close begins to close a part of a strategy's position in a market, or the whole. Where other sells
// hold a part of the amount, it returns ErrHeld and begins nothing.
func (s *Set) Close(l *Leave) error {
	held, free := s.orders.Position(l.Strategy, l.Market)
	covered := s.Covered(l.Strategy, l.Market)
	c := closing{strategy: l.Strategy, market: l.Market, whole: l.Whole, last: l.Last, tag: cmp.Or(l.Tag, "close"),
		since: never, atClose: l.AtClose, free: max(0, held-covered)}
	if !l.Whole {
		free -= s.wanted(l.Strategy, l.Market)
		if c.free = min(l.Amount, max(0, free)); l.Amount > c.free+covered {
			return strategy.ErrHeld
		}
	}
	s.closes.all = append(s.closes.all, c)
	begun := &s.closes.all[len(s.closes.all)-1]
	s.release(begun, l.Amount-c.free)
	begun.since = s.now()
	s.advance(l.Strategy, l.Market)
	return nil
}

// wanted is the base of brackets that their exits do not hold.
func (s *Set) wanted(id market.StrategyID, m market.ID) (amount market.Qty) {
	for i := range s.all {
		if b := &s.all[i]; b.strategy == id && b.market == m {
			amount += max(0, s.uncovered(b)-b.leaving)
		}
	}
	return amount
}

// release takes the exits off the base that is to go, part of it from the newest brackets first,
// and cancels what may still buy.
func (s *Set) release(c *closing, part market.Qty) {
	for i := len(s.all) - 1; i >= 0; i-- {
		b := &s.all[i]
		if b.strategy != c.strategy || b.market != c.market {
			continue
		}
		if b.leaving = b.amount; !c.whole {
			b.leaving = min(part, b.amount)
			part -= b.leaving
			s.cancelRest(b)
		}
		if b.leaving == 0 {
			continue
		}
		switch {
		case b.exit != 0:
			s.releaseExit(c, b)
		case b.kept() == 0:
			s.expose(b, strategy.CauseClose)
		}
	}
	if c.whole {
		s.orders.CancelAll(c.strategy, c.market)
	}
	s.watch(c.market)
}

// cancelRest cancels what the entry of a bracket may still buy.
func (s *Set) cancelRest(b *bracket) {
	if !b.closed && s.orders.Own(b.entry) != nil {
		s.orders.Cancel(b.entry, false)
	}
}

// releaseExit cancels the exit of a bracket, or reduces it to what is kept.
func (s *Set) releaseExit(c *closing, b *bracket) {
	switch {
	case b.kept() == 0 || s.fault(b, b.leg).Found() && !b.swapping:
		b.ending = true
		if !c.whole { // whose orders are cancelled together, those that buy first
			s.orders.Cancel(b.exit, false)
		}
	case !b.swapping: // of a swap, the next exit is smaller
		s.resize(b)
	}
}

// leaveBought adds what an entry buys before its cancel arrives to what leaves.
func (s *Set) leaveBought(b *bracket, fresh []market.Fill) {
	c := s.closes.of(b.strategy, b.market)
	if c == nil || !c.whole || c.sale != 0 || b.entry > c.last {
		return
	}
	for i := range fresh {
		b.leaving += fresh[i].Amount
	}
}

// count counts what the other orders of a closing buy and sell before their cancels arrive.
func (l *closings) count(o *state.Order, fresh []market.Fill, bracketed bool) {
	c := l.of(o.Strategy, o.Market)
	if bracketed || c == nil || !c.whole || c.sale != 0 || o.ID > c.last || hasLevels(o.Bracket) {
		return
	}
	for i := range fresh {
		if o.Side == market.Buy {
			c.free += fresh[i].Amount
		} else {
			c.free = max(0, c.free-fresh[i].Amount)
		}
	}
}

// clip takes from a closing what other orders have sold of the base without a bracket.
func (s *Set) clip(o *state.Order, held market.Qty) {
	if c := s.closes.of(o.Strategy, o.Market); c != nil {
		c.free = min(c.free, max(0, held-s.Covered(o.Strategy, o.Market)))
	}
}

// concerns reports whether a closing waits for the end of an order: b is its bracket, nil for none.
func (c *closing) concerns(o *state.Order, b *bracket) bool {
	switch {
	case c == nil || c.sale != 0:
		return false
	case b != nil && b.exit == o.ID:
		return b.ending
	}
	return o.ID <= c.last && (c.whole || b != nil)
}

// answer notes that the sale may follow a report inside its path. After a Close that was decided on
// a candle's close it always may. What was decided inside a path, on a fill, arrives at the next
// open, and so does its answer; an order that has filled before its cancel arrived is no answer.
func (s *Set) answer(o *state.Order, r *market.Report) {
	c, b := s.closes.of(o.Strategy, o.Market), s.of(o.ID)
	switch {
	case c == nil || r == nil:
	case c.atClose && o.Updated >= c.since,
		r.Exec == market.ExecUpdated && b != nil && b.exit == o.ID && b.reducing,
		o.State == state.Canceled && o.RestatementReason == 0 && c.concerns(o, b) && (b == nil || !b.swapping):
		c.inPath = true
	}
}

// InPath reports whether a cancel or a change that has waited for the arrival of its order acts
// inside the path: that of a swap, and of a Close that was decided before.
func (s *Set) InPath(o *state.Order) bool {
	b, c := s.of(o.ID), s.closes.of(o.Strategy, o.Market)
	return b != nil && b.exit == o.ID && b.swapping && !b.ending ||
		c != nil && c.sale == 0 && c.atClose && o.Updated >= c.since
}

// closeRefused handles the refusal of a closing's cancel or change before its bracket does. An
// order that the exchange does not know (240) has ended, and its end is about to be reported.
func (s *Set) closeRefused(o *state.Order, r *market.Report) {
	c, b := s.closes.of(o.Strategy, o.Market), s.of(o.ID)
	if c == nil || r == nil || r.Exec != market.ExecRejected || r.Command == market.CommandPlace {
		return
	}
	ours := r.Command == market.CommandCancel && c.concerns(o, b)
	if r.Command == market.CommandUpdate && b != nil && b.exit == o.ID && b.reducing {
		ours = true
	}
	switch {
	case !ours || r.Code == exchange.CodeNotFound:
	case r.Code == 0:
		c.fail(0, fmt.Sprintf("the exchange did not carry out the %s of order %d", r.Command, o.ID))
	default:
		c.fail(r.Code, fmt.Sprintf("the exchange refused the %s of order %d: %s", r.Command, o.ID,
			exchange.ErrCode(r.Code)))
	}
}

func (c *closing) fail(code int, why string) {
	if !c.failed {
		c.failed, c.code, c.why = true, code, why
	}
}

// insist repeats a cancel or a reduction of an order that is open after all, though the exchange
// did not know it.
func (s *Set) insist(o *state.Order, r *market.Report) {
	if r == nil || r.Exec == market.ExecRejected || r.Exec == market.ExecUnknown || o.State.Terminal() ||
		o.State == state.Unknown || o.InFlight != 0 || o.CancelWanted {
		return
	}
	b := s.of(o.ID)
	switch c := s.closes.of(o.Strategy, o.Market); {
	case c.concerns(o, b):
		s.orders.Cancel(o.ID, false)
	case c != nil && b != nil && b.reducing:
		b.reducing = false
		s.resize(b)
	}
}

// advance brings the closing of a strategy in a market as far as it comes.
func (s *Set) advance(id market.StrategyID, m market.ID) {
	switch c := s.closes.of(id, m); {
	case c == nil || c.sale != 0:
	case c.failed:
		s.closeFailed(c)
	case s.released(c):
		s.sell(c)
	}
}

// advanceAll is advance for all closings.
func (s *Set) advanceAll() {
	for i := len(s.closes.all) - 1; i >= 0; i-- {
		s.advance(s.closes.all[i].strategy, s.closes.all[i].market)
	}
}

// released reports whether the exchange has confirmed all that comes before the sale.
func (s *Set) released(c *closing) bool {
	last := market.OrderID(0)
	if c.whole {
		last = c.last
	}
	for i := range s.all {
		b := &s.all[i]
		if b.strategy != c.strategy || b.market != c.market {
			continue
		}
		if b.leaving > 0 && b.exit != 0 && !s.reduced(b) {
			return false
		}
		if b.entry <= c.last && !b.closed && s.orders.Own(b.entry) != nil {
			return false
		}
	}
	return !s.orders.Pending(c.strategy, c.market, last)
}

// reduced reports whether the exit of a bracket holds no more than is kept, as far as the exchange
// has confirmed.
func (s *Set) reduced(b *bracket) bool {
	o := s.orders.Own(b.exit)
	return o != nil && b.kept() > 0 && o.InFlight == 0 && o.State != state.Unknown && !b.ending &&
		o.AmountRemaining <= b.kept()
}

// total is what a closing is still to sell.
func (s *Set) total(c *closing) market.Qty {
	amount := c.free
	for i := range s.all {
		if b := &s.all[i]; b.strategy == c.strategy && b.market == c.market {
			amount += b.leaving
		}
	}
	return amount
}

// sell sends the sale: no more than what neither other sells nor the brackets that stay need.
func (s *Set) sell(c *closing) {
	_, free := s.orders.Position(c.strategy, c.market)
	total := s.total(c)
	amount := min(total, free-s.wanted(c.strategy, c.market))
	c.free -= min(c.free, total-amount) // a later sell holds base without a bracket
	switch total = s.total(c); {
	case total <= 0 || s.isDust(c.market, total):
		s.closeDone(c)
		return
	case amount <= 0:
		c.fail(0, strategy.ErrHeld.Error())
		s.closeFailed(c)
		return
	}
	x := &s.command
	*x = market.Command{Kind: market.CommandPlace, At: s.now(), Attached: true}
	o := &x.Order
	o.Strategy, o.Market, o.Side, o.Type, o.Amount, o.Tag = c.strategy, c.market, market.Sell, market.TypeMarket,
		amount, c.tag
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	s.closes.sending = true
	id, err := s.orders.Place(x, c.inPath)
	s.closes.sending = false
	if err == nil {
		c.sale = id
		return
	}
	var why *risk.Refusal
	errors.As(err, &why)
	if why != nil && why.Dust() {
		s.closeDone(c)
		return
	}
	if why != nil {
		c.fail(why.Code, err.Error())
	}
	s.closeFailed(c)
}

// followSale takes a report of a closing's sale. It has ended once all its fills are booked.
func (s *Set) followSale(c *closing, o *state.Order, fresh []market.Fill) {
	for i := range fresh {
		s.sold(c, fresh[i].Amount)
	}
	if !o.State.Terminal() || o.Booked() < o.FilledAmount {
		return
	}
	rest := s.total(c)
	switch {
	case rest <= 0 || s.isDust(c.market, rest):
		s.closeDone(c)
	case o.State == state.Filled:
		c.fail(0, strategy.ErrHeld.Error())
		s.closeFailed(c)
	default:
		c.fail(o.Code, endText(o, "sale"))
		s.closeFailed(c)
	}
}

// sold takes what a sale has sold from the base without a bracket, then from the newest brackets.
func (s *Set) sold(c *closing, amount market.Qty) {
	less := min(amount, c.free)
	c.free, amount = c.free-less, amount-less
	for i := len(s.all) - 1; i >= 0 && amount > 0; i-- {
		b := &s.all[i]
		if b.strategy != c.strategy || b.market != c.market || b.leaving == 0 {
			continue
		}
		less = min(amount, b.leaving)
		b.amount, b.leaving, amount = b.amount-less, b.leaving-less, amount-less
		b.sold = true
		if b.amount == 0 || s.rests(b) {
			s.protect(b)
		}
		if b.done() {
			s.remove(b)
		}
	}
}

// rests reports whether the exit of a bracket rests at the venue over all of its base.
func (s *Set) rests(b *bracket) bool {
	o := s.orders.Own(b.exit)
	return o != nil && o.State != state.Sent && o.State != state.Unknown && o.AmountRemaining >= b.amount
}

// isDust reports whether an amount could not be sold at the latest price.
func (s *Set) isDust(id market.ID, amount market.Qty) bool {
	m, last := s.catalog.Market(id), s.orders.Last(id)
	return last != 0 && risk.LevelFault(m, market.KeepStop, market.FloorTo(last, m.TickSize), amount).TooSmall()
}

// closeDone ends a closing: what it has left is dust, which counts as nothing. A bracket that stays
// takes its dust back.
func (s *Set) closeDone(c *closing) {
	s.end(c, func(b *bracket) {
		if b.kept() == 0 {
			b.amount = 0
			s.protect(b)
		}
	})
}

// closeFailed ends a closing that could not sell all: brackets protect what is left at once.
func (s *Set) closeFailed(c *closing) {
	s.closes.failures = append(s.closes.failures, strategy.CloseFailed{
		Strategy: c.strategy, Market: c.market, Order: c.sale, Amount: s.total(c), Tag: c.tag, Code: c.code, Why: c.why,
	})
	s.end(c, func(*bracket) {})
}

// end removes a closing, and settles its brackets after each.
func (s *Set) end(c *closing, each func(b *bracket)) {
	id, m := c.strategy, c.market
	s.closes.remove(c)
	for i := len(s.all) - 1; i >= 0; i-- {
		b := &s.all[i]
		if b.strategy != id || b.market != m || b.leaving == 0 && !b.reducing {
			continue
		}
		each(b)
		b.leaving, b.reducing = 0, false
		s.settle(b)
	}
	s.watch(m)
}

// exposeLeaving notes that base waits for its sale without an exit.
func (s *Set) exposeLeaving(b *bracket) {
	if b.leaving > 0 && b.bareSince == 0 && s.uncovered(b) > 0 {
		s.expose(b, strategy.CauseClose)
	}
}

// Leaving returns the tag of a strategy's Close and its position before and after, where an order is
// one that the Close cancels, changes or places; an empty tag where it is not.
func (s *Set) Leaving(o *market.Order) (tag string, before, after market.Qty) {
	c := s.closes.of(o.Strategy, o.Market)
	if c == nil {
		return "", 0, 0
	}
	b := s.of(o.ID)
	is := s.closes.sending || o.ID <= c.last && c.sale == 0 && (c.whole || b != nil && b.entry == o.ID) ||
		b != nil && b.exit == o.ID && (b.ending || b.reducing)
	if !is {
		return "", 0, 0
	}
	before, _ = s.orders.Position(o.Strategy, o.Market)
	return c.tag, before, before - s.total(c)
}

// TakeFailures returns the Closes that failed since the last call. They are valid until the next
// event.
func (s *Set) TakeFailures() []strategy.CloseFailed {
	news := s.closes.failures
	s.closes.failures = s.closes.spare[:0]
	s.closes.spare = news
	return news
}
