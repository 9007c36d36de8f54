package bracket

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
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
	only     market.OrderID // the entry of the only bracket that is part of it; 0: all
	parts    int            // of the bracket's partial targets are done after it; 0: it is no partial target
	free     market.Qty     // to be sold that no bracket covers
	sale     market.OrderID // 0: not sent yet
	tag      string
	since    market.Time
	atClose  bool  // decided on a candle's close: all that follows acts inside the next paths
	inPath   bool  // the sale may act inside the path, because what led to it came later than since
	then     Leave // what the strategy has asked for meanwhile; without a market: nothing

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

// closer carries Closes out. It sells no base that an exit or another sell holds, and brackets
// protect what a failed Close has left.
type closer struct {
	*brackets
	closes   closings
	departer *departer
	exits    placer
}

// placer is the Set as its Closes see it.
type placer interface {
	// settle brings the venue in line with a bracket.
	settle(b *bracket)
	// resize updates the resting exit of a bracket to what no Close sells.
	resize(b *bracket)
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

// Closing reports whether a strategy's Close is under way in a market.
func (s *closer) Closing(id market.StrategyID, m market.ID) bool { return s.closes.of(id, m) != nil }

// Leaves reports whether a Close that a strategy asked for is under way in a market.
func (s *closer) Leaves(id market.StrategyID, m market.ID) bool {
	c := s.closes.of(id, m)
	return c != nil && c.only == 0
}

// Unsent is the base that a strategy's Close in a market is to sell, before its sale has left.
func (s *closer) Unsent(id market.StrategyID, m market.ID) market.Qty {
	if c := s.closes.of(id, m); c != nil && c.sale == 0 {
		return s.total(c)
	}
	return 0
}

// Closable is the base of a strategy's position in a market that a Close of a part could sell: what
// other sells than the exits of brackets do not hold.
func (s *closer) Closable(id market.StrategyID, m market.ID) market.Qty {
	held, free := s.orders.Position(id, m)
	covered := s.Covered(id, m)
	return covered + min(max(0, held-covered), max(0, free-s.Wanted(id, m)))
}

// Leave describes a Close: the position, or the part of it, that is sold.
type Leave struct {
	Strategy market.StrategyID
	Market   market.ID
	Whole    bool       // the position and all orders of the market
	Amount   market.Qty // of a part
	Last     market.OrderID
	AtClose  bool // decided on a candle's close
	Tag      string
}

// Close begins to close a part of a strategy's position in a market, or the whole; while a bracket
// closes by itself, as soon as that has ended. Where other sells hold a part of the amount, it
// returns ErrHeld and begins nothing.
func (s *closer) Close(l *Leave) error {
	if c := s.closes.of(l.Strategy, l.Market); c != nil {
		if c.then.Market == 0 || l.Whole {
			c.then = *l
		}
		return nil
	}
	held, free := s.orders.Position(l.Strategy, l.Market)
	covered := s.Covered(l.Strategy, l.Market)
	c := closing{strategy: l.Strategy, market: l.Market, whole: l.Whole, last: l.Last, tag: cmp.Or(l.Tag, "close"),
		since: never, atClose: l.AtClose, free: max(0, held-covered)}
	if !l.Whole {
		free -= s.Wanted(l.Strategy, l.Market)
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

// begin begins a Close of an amount of one bracket.
func (s *closer) begin(b *bracket, amount market.Qty, c *closing) {
	c.strategy, c.market, c.only, c.since = b.strategy, b.market, b.entry, never
	s.closes.all = append(s.closes.all, *c)
	begun := &s.closes.all[len(s.closes.all)-1]
	b.leaving = amount
	s.cancelRest(b, c.inPath)
	if b.exit != 0 {
		s.releaseExit(begun, b)
	} else {
		s.expose(b, strategy.CauseClose)
	}
	begun.since = s.now()
	s.rewatch(b)
	s.advance(b.strategy, b.market)
}

// Wanted is the base of brackets that their exits do not hold.
func (s *brackets) Wanted(id market.StrategyID, m market.ID) (amount market.Qty) {
	for i := range s.all {
		if b := &s.all[i]; b.strategy == id && b.market == m {
			amount += max(0, s.unheld(b)-b.leaving)
		}
	}
	return amount
}

// release takes the exits off the base that is to go, part of it from the newest brackets first,
// and cancels what may still buy.
func (s *closer) release(c *closing, part market.Qty) {
	for i := len(s.all) - 1; i >= 0; i-- {
		b := &s.all[i]
		if b.strategy != c.strategy || b.market != c.market {
			continue
		}
		s.touch(b)
		if b.leaving = b.amount; !c.whole {
			b.leaving = min(part, b.amount)
			part -= b.leaving
			s.cancelRest(b, false)
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
func (s *closer) cancelRest(b *bracket, inPath bool) {
	switch {
	case b.more:
		s.orders.Cancel(b.entry, inPath)
	case !b.closed && s.orders.Own(b.buying()) != nil:
		s.orders.Cancel(b.buying(), inPath)
	}
}

// releaseExit cancels the exit of a bracket, or reduces it to what is kept.
func (s *closer) releaseExit(c *closing, b *bracket) {
	switch {
	case b.kept() == 0 || s.fault(b, b.leg).Found() && !b.swapping:
		b.ending = true
		if !c.whole { // whose orders are cancelled together, those that buy first
			s.orders.Cancel(b.exit, false)
		}
	case !b.swapping: // of a swap, the next exit is smaller
		s.exits.resize(b)
	}
}

// takes reports whether a bracket is part of a closing.
func (c *closing) takes(b *bracket) bool { return c.only == 0 || c.only == b.entry }

// Leaving returns the tag of a strategy's Close and its position before and after, where an order
// is one that the Close cancels, changes or places; an empty tag where it is not.
func (s *closer) Leaving(o *market.Order) (tag string, before, after market.Qty) {
	c := s.closes.of(o.Strategy, o.Market)
	if c == nil {
		return "", 0, 0
	}
	b := s.of(o.ID)
	is := s.closes.sending || o.ID <= c.last && c.sale == 0 && (c.whole || b != nil && b.buys(o.ID) && c.takes(b)) ||
		b != nil && b.exit == o.ID && (b.ending || b.reducing)
	if !is {
		return "", 0, 0
	}
	before, _ = s.orders.Position(o.Strategy, o.Market)
	return c.tag, before, before - s.total(c)
}

// TakeFailures returns the Closes that failed since the last call. They are valid until the next
// event.
func (s *closer) TakeFailures() []strategy.CloseFailed {
	news := s.closes.failures
	s.closes.failures = s.closes.spare[:0]
	s.closes.spare = news
	return news
}
