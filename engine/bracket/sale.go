package bracket

import (
	"errors"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// advance brings the closing of a strategy in a market as far as it comes.
func (s *closer) advance(id market.StrategyID, m market.ID) {
	switch c := s.closes.of(id, m); {
	case c == nil || c.sale != 0 || s.silent() && !s.finishes:
	case c.failed:
		s.closeFailed(c)
	case s.released(c):
		s.sell(c)
	}
}

// advanceAll is advance for all closings.
func (s *closer) advanceAll() {
	for i := len(s.closes.all) - 1; i >= 0; i-- {
		s.advance(s.closes.all[i].strategy, s.closes.all[i].market)
	}
}

// released reports whether the exchange has confirmed all that comes before the sale.
func (s *closer) released(c *closing) bool {
	last := market.OrderID(0)
	if c.whole {
		last = c.last
	}
	for i := range s.all {
		b := &s.all[i]
		if b.strategy != c.strategy || b.market != c.market || !c.takes(b) {
			continue
		}
		if b.leaving > 0 && b.exit != 0 && !s.reduced(b) {
			return false
		}
		if b.entry <= c.last && !b.closed && s.orders.Own(b.buying()) != nil {
			return false
		}
	}
	return !s.orders.Pending(c.strategy, c.market, last)
}

// reduced reports whether the exchange has confirmed that the exit of a bracket sells at most the
// part that the bracket keeps.
func (s *closer) reduced(b *bracket) bool {
	o := s.orders.Own(b.exit)
	return o != nil && b.kept() > 0 && o.InFlight == 0 && o.State != state.Unknown && !b.ending &&
		o.AmountRemaining <= b.kept()
}

// total is the amount that a closing is still to sell.
func (s *closer) total(c *closing) market.Qty {
	amount := c.free
	for i := range s.all {
		if b := &s.all[i]; b.strategy == c.strategy && b.market == c.market {
			amount += b.leaving
		}
	}
	return amount
}

// sell sends the sale: no more than what neither other sells nor the brackets that stay need, and
// no more than the market takes in one order. What is left over follows in the next one.
func (s *closer) sell(c *closing) {
	_, free := s.orders.Position(c.strategy, c.market)
	total := s.total(c)
	amount := min(total, free-s.Wanted(c.strategy, c.market))
	c.free -= min(c.free, total-amount) // a later sell holds base without a bracket
	switch total = s.total(c); {
	case total <= 0 || s.IsDust(c.market, total) && !s.Guards(c.strategy, c.market):
		s.closeDone(c)
		return
	case amount <= 0:
		c.fail(0, strategy.ErrHeld.Error())
		s.closeFailed(c)
		return
	}
	amount = exchange.PortionAtMarket(s.catalog.Market(c.market), amount, s.orders.Last(c.market))
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
	if why != nil && why.Dust() && !s.Guards(c.strategy, c.market) {
		s.closeDone(c)
		return
	}
	if why != nil {
		c.fail(why.Code, err.Error())
	}
	s.closeFailed(c)
}

// followSale takes a report of a closing's sale. It has ended once all its fills are booked; a sale
// that was not of all is followed by the next.
func (s *closer) followSale(c *closing, o *state.Order, fresh []market.Fill) {
	for i := range fresh {
		s.sold(c, fresh[i].Amount)
	}
	if !o.State.Terminal() || o.BookedAmount() < o.FilledAmount {
		return
	}
	rest := s.total(c)
	switch {
	case rest <= 0 || s.IsDust(c.market, rest) && !s.Guards(c.strategy, c.market):
		s.closeDone(c)
	case o.State == state.Filled:
		c.sale, c.inPath = 0, true
		s.advance(c.strategy, c.market)
	default:
		c.fail(o.Code, endText(o, "sale"))
		s.closeFailed(c)
	}
}

// sold takes what a sale has sold from the base without a bracket, then from the newest brackets.
func (s *closer) sold(c *closing, amount market.Qty) {
	less := min(amount, c.free)
	c.free, amount = c.free-less, amount-less
	for i := len(s.all) - 1; i >= 0 && amount > 0; i-- {
		b := &s.all[i]
		if b.strategy != c.strategy || b.market != c.market || b.leaving == 0 {
			continue
		}
		s.touch(b)
		less = min(amount, b.leaving)
		b.amount, b.leaving, amount = b.amount-less, b.leaving-less, amount-less
		b.sold = true
		if c.parts > 0 {
			b.Parted += less
		}
		s.shrunk(b)
	}
}

// shrunk follows a bracket that has become smaller: its exit may rest over all of its base now, or
// it is done.
func (s *brackets) shrunk(b *bracket) {
	o := s.orders.Own(b.exit)
	if b.amount <= 0 || o != nil && o.State != state.Sent && o.State != state.Unknown && o.AmountRemaining >= b.amount {
		s.protect(b)
	}
	if b.done() {
		s.remove(b)
	} else {
		s.rewatch(b)
	}
}

// Guards reports whether a bracket in a market is over base that is too small to be sold now, and
// no dust: nothing of it has been sold, and the price has fallen; or it could be sold before the
// market's minimum rose.
func (s *brackets) Guards(id market.StrategyID, m market.ID) bool {
	for i := range s.all {
		if b := &s.all[i]; b.strategy == id && b.market == m && b.amount > 0 && (!b.sold || s.risen(b)) {
			return true
		}
	}
	return false
}

// risen reports whether a market's minimum has risen since the bracket's entry, and the amount of
// the bracket could be sold at the latest price under the earlier minimum.
func (s *brackets) risen(b *bracket) bool {
	m, last := *s.catalog.Market(b.market), s.orders.Last(b.market)
	if b.least == leastOf(&m) || last == 0 {
		return false
	}
	m.MinOrderInBase, m.MinOrderInQuote = b.least.LeastBase, b.least.LeastQuote
	return !risk.LevelFault(&m, market.KeepStop, market.FloorTo(last, m.TickSize), b.amount).TooSmall()
}

// IsDust reports whether an amount could not be sold at the latest price.
func (s *brackets) IsDust(id market.ID, amount market.Qty) bool {
	m, last := s.catalog.Market(id), s.orders.Last(id)
	return amount < m.MinOrderInBase || last != 0 &&
		risk.LevelFault(m, market.KeepStop, market.FloorTo(last, m.TickSize), amount).TooSmall()
}

// closeDone ends a closing: what it has left is dust, which counts as nothing. A bracket that stays
// takes its dust back.
func (s *closer) closeDone(c *closing) {
	s.departer.departDone(c)
	if b := s.of(c.only); b != nil && c.parts > 0 {
		s.pass(b, c.parts)
	}
	s.end(c, func(b *bracket) {
		if b.kept() == 0 {
			b.amount = 0
			s.protect(b)
		}
	})
}

// closeFailed ends a closing that could not sell all: brackets protect what is left at once.
func (s *closer) closeFailed(c *closing) {
	s.departer.departFailed(c)
	s.closes.failures = append(s.closes.failures, strategy.CloseFailed{
		Strategy: c.strategy, Market: c.market, Order: c.sale, Amount: s.total(c), Tag: c.tag, Code: c.code, Why: c.why,
	})
	s.end(c, func(*bracket) {})
}

// end removes a closing, and settles its brackets after each.
func (s *closer) end(c *closing, each func(b *bracket)) {
	id, m, then := c.strategy, c.market, c.then
	s.closes.remove(c)
	for i := len(s.all) - 1; i >= 0; i-- {
		b := &s.all[i]
		if b.strategy != id || b.market != m || b.leaving == 0 && !b.reducing {
			continue
		}
		s.touch(b)
		each(b)
		b.leaving, b.reducing = 0, false
		s.exits.settle(b)
	}
	s.watch(m)
	if then.Market != 0 {
		s.closeThen(&then)
	}
}

// closeThen begins the Close that a strategy has asked for while a bracket closed by itself.
func (s *closer) closeThen(l *Leave) {
	held, _ := s.orders.Position(l.Strategy, l.Market)
	if l.Amount = min(l.Amount, max(0, held)); held <= 0 && !l.Whole {
		return
	}
	if err := s.Close(l); err != nil {
		s.closes.failures = append(s.closes.failures, strategy.CloseFailed{
			Strategy: l.Strategy, Market: l.Market, Amount: l.Amount, Tag: l.Tag, Why: err.Error(),
		})
	}
}
