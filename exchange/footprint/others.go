// Package footprint removes an account from a recording of markets in which it traded: what is left
// is what others did. It never knows what others would have done without the account. Start at
// Markets.
//
// The account's resting orders leave the books and the tickers. The trades in which it was the
// taker leave the recording. What it took from the books is put back for as long as nothing says
// that it would be gone. A trade in which it was the maker stays: its taker was another, who meets
// the next order of the queue.
//
// Known limitation: candles stay as they are, with the account's own trades in them.
package footprint

import (
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Rest says that from a time on an amount of an order rests in the book at a price, until the next
// Rest of the order; an amount of 0: nothing of it rests any more. The time is the exchange's.
type Rest struct {
	At     market.Time
	Order  market.OrderID
	Market market.ID
	Side   market.Side
	Price  market.Price
	Amount market.Qty
}

// Counts say what was removed, and what could not be.
type Counts struct {
	Books  int64 `json:"books"`  // snapshots with an own order, or with liquidity that was put back
	Trades int64 `json:"trades"` // own trades as taker that left the recording
	// Unseen counts snapshots that show less at a price than the account had there: the times of
	// the snapshot and of the order's end are not exact.
	Unseen int64 `json:"unseen"`
	// Untraded counts the account's fills as taker that no recorded trade is. They may be recorded
	// otherwise, or not at all.
	Untraded int64 `json:"untraded"`
	Tickers  int64 `json:"tickers"` // tickers with another price or size
}

// Markets cleans the events of markets. One goroutine owns it.
type Markets struct {
	markets []recorded // by market.ID
	counts  Counts

	event  market.Event // reused: what Clean returns
	book   market.OrderBook
	ticker market.Ticker
}

// recorded is the account's part in one market, up to now.
type recorded struct {
	rests  []Rest            // to come, by time
	fills  []market.Fill     // as a taker, to come, by time
	now    []Rest            // what rests
	taken  [2][]lacking      // by the taker's side, best first
	levels [2][]market.Level // of the latest book without the account: asks, bids, as a taker's side
	prints []market.Fill     // as a taker, whose trade has not come
	best   [2]market.Price   // the latest of others in a ticker, by the taker's side
	own    market.Fill       // the latest one as a taker
	last   market.Price      // the latest price of others, as far as one is known
	lastAt market.Time       // when it was traded, or shown
	shown  bool              // books are recorded: without them what was taken is not put back
	traded bool              // trades are recorded: without them a new last price is one of any amount
}

// New returns Markets for the markets of a catalog.
func New(c *market.Catalog) *Markets { return &Markets{markets: make([]recorded, len(c.Markets())+1)} }

// Counts returns what has been removed so far.
func (m *Markets) Counts() Counts { return m.counts }

// Rest tells of a resting order of the account, before an event that is later comes to Clean.
func (m *Markets) Rest(r Rest) {
	in := &m.markets[r.Market]
	at := len(in.rests)
	for at > 0 && in.rests[at-1].At > r.At {
		at--
	}
	in.rests = slices.Insert(in.rests, at, r)
}

// Fill tells of a fill of the account, before an event that is later comes to Clean. Those as a
// maker change nothing here: Rest tells what is left of the order.
func (m *Markets) Fill(f *market.Fill) {
	if !f.Taker {
		return
	}
	in := &m.markets[f.Market]
	at := len(in.fills)
	for at > 0 && in.fills[at-1].Time > f.Time {
		at--
	}
	in.fills = slices.Insert(in.fills, at, *f)
}

// Clean returns an event without the account: the event itself where the account had no part in it,
// nil where it was the account's alone, otherwise another one, which is valid until the next call.
// The event is unchanged.
func (m *Markets) Clean(ev *market.Event) *market.Event {
	switch ev.Kind {
	case market.KindBook:
		return m.cleanBook(ev)
	case market.KindTrade:
		return m.cleanTrade(ev)
	case market.KindTicker:
		return m.cleanTicker(ev)
	}
	return ev
}

// timeOf is when an event happened, as far as it says.
func timeOf(data market.Time, ev *market.Event) market.Time {
	if data != 0 {
		return data
	}
	return ev.At
}

// moveTo brings what rests and what was taken up to date.
func (in *recorded) moveTo(at market.Time) {
	for len(in.rests) > 0 && in.rests[0].At <= at {
		r := in.rests[0]
		in.rests = in.rests[1:]
		in.now = slices.DeleteFunc(in.now, func(o Rest) bool { return o.Order == r.Order })
		if r.Amount > 0 {
			in.now = append(in.now, r)
		}
	}
	for len(in.fills) > 0 && in.fills[0].Time <= at {
		in.own = in.fills[0]
		in.prints = append(in.prints, in.own)
		in.fills = in.fills[1:]
		in.take(in.own.Side, in.own.Price, in.own.Amount)
	}
}

// rested is the amount of the account that rests at a price.
func (in *recorded) rested(side market.Side, price market.Price) (amount market.Qty) {
	for i := range in.now {
		if in.now[i].Side == side && in.now[i].Price == price {
			amount += in.now[i].Amount
		}
	}
	return amount
}

// better reports whether a taker of that side prefers one price to another.
func better(taker market.Side, one, other market.Price) bool {
	if taker == market.Buy {
		return one < other
	}
	return one > other
}

func (m *Markets) cleanBook(ev *market.Event) *market.Event {
	in := &m.markets[ev.Book.Market]
	in.moveTo(timeOf(ev.Book.Time, ev))
	in.shown = true
	if len(in.now) == 0 && len(in.taken[0]) == 0 && len(in.taken[1]) == 0 {
		in.levels[market.Buy-1] = append(in.levels[market.Buy-1][:0], ev.Book.Asks...)
		in.levels[market.Sell-1] = append(in.levels[market.Sell-1][:0], ev.Book.Bids...)
		return ev
	}
	asks := m.withoutOwn(in, market.Buy, ev.Book.Asks)
	bids := m.withoutOwn(in, market.Sell, ev.Book.Bids)
	in.refill(market.Buy)
	in.refill(market.Sell)
	changed := asks || bids
	for _, taker := range [...]market.Side{market.Buy, market.Sell} {
		in.meet(taker, bestOf(in.levels[taker.Opposite()-1]))
		changed = in.putBack(taker) || changed
	}
	if !changed {
		return ev
	}
	m.counts.Books++
	m.book = *ev.Book
	m.book.Asks, m.book.Bids = in.levels[market.Buy-1], in.levels[market.Sell-1]
	m.event = *ev
	m.event.Book = &m.book
	return &m.event
}

func bestOf(levels []market.Level) market.Price {
	if len(levels) == 0 {
		return 0
	}
	return levels[0].Price
}

// withoutOwn keeps the levels from which a taker takes, less the account's orders. It reports
// whether there were any.
func (m *Markets) withoutOwn(in *recorded, taker market.Side, levels []market.Level) (changed bool) {
	kept := in.levels[taker-1][:0]
	for _, l := range levels {
		if own := in.rested(taker.Opposite(), l.Price); own > 0 {
			changed = true
			if own > l.Amount {
				m.counts.Unseen++
			}
			if l.Amount -= own; l.Amount <= 0 {
				continue
			}
		}
		kept = append(kept, l)
	}
	in.levels[taker-1] = kept
	return changed
}

// sameTime is how far the times of a fill and of its public trade may lie apart; tradeDelay is how
// long a fill waits for its trade.
const (
	sameTime   = market.Time(1_000_000)
	tradeDelay = market.Time(60_000_000_000)
)

func (m *Markets) cleanTrade(ev *market.Event) *market.Event {
	t := ev.Trade
	in, at := &m.markets[t.Market], timeOf(t.Time, ev)
	in.moveTo(at + sameTime)
	for i := range in.prints {
		f := &in.prints[i]
		if f.Price == t.Price && f.Amount == t.Amount && (t.Side == 0 || f.Side == t.Side) && f.Time >= at-sameTime &&
			f.Time <= at+sameTime {
			in.prints = slices.Delete(in.prints, i, i+1)
			m.counts.Trades++
			return nil
		}
	}
	for len(in.prints) > 0 && in.prints[0].Time < at-tradeDelay {
		in.prints = slices.Delete(in.prints, 0, 1)
		m.counts.Untraded++
	}
	in.spend(t)
	in.traded = true
	if at >= in.lastAt {
		in.last, in.lastAt = t.Price, at
	}
	return ev
}

// cleanTicker returns a ticker without the account's own orders and trades: ev itself if it shows
// none of them.
func (m *Markets) cleanTicker(ev *market.Event) *market.Event {
	in := &m.markets[ev.Ticker.Market]
	in.moveTo(ev.At)
	m.ticker = *ev.Ticker
	t := &m.ticker
	t.Bid, t.BidSize = in.quote(market.Sell, t.Bid, t.BidSize, t.Ask)
	t.Ask, t.AskSize = in.quote(market.Buy, t.Ask, t.AskSize, t.Bid)
	if in.own.Time > in.lastAt && t.Last == in.own.Price && t.Last != in.last {
		t.Last = in.last
	} else if t.Last != in.last {
		in.last, in.lastAt = t.Last, ev.At
		if !in.traded {
			in.spend(&market.Trade{Price: t.Last, Amount: math.MaxInt64})
		}
	}
	if *t == *ev.Ticker {
		return ev
	}
	m.counts.Tickers++
	m.event = *ev
	m.event.Ticker = t
	return &m.event
}

// quote is the best price for a taker of that side without the account, with its size; other is the
// best price of the other side. A price that the account alone shows is followed by the next level
// of the latest book, or the latest best price of others.
func (in *recorded) quote(taker market.Side, price market.Price, size market.Qty,
	other market.Price) (market.Price, market.Qty) {
	if own := in.rested(taker.Opposite(), price); own > 0 && price != 0 {
		listed := slices.ContainsFunc(in.levels[taker-1], func(l market.Level) bool { return l.Price == price })
		if size != 0 {
			size -= own
			listed = size > 0
		}
		if !listed {
			price, size = in.after(taker, price)
		}
	}
	in.best[taker-1] = price
	in.meet(taker, other)
	if in.shown && len(in.taken[taker-1]) > 0 && price != 0 {
		switch l := &in.taken[taker-1][0]; {
		case l.price == price && size != 0:
			size += l.amount
		case better(taker, l.price, price):
			price, size = l.price, l.amount
		}
	}
	return price, size
}

// after is the level of the latest book behind a price; without one the latest best price of others
// behind it, whose size is not known.
func (in *recorded) after(taker market.Side, price market.Price) (market.Price, market.Qty) {
	for _, l := range in.levels[taker-1] {
		if better(taker, price, l.Price) {
			return l.Price, l.Amount
		}
	}
	if best := in.best[taker-1]; best != 0 && better(taker, price, best) {
		return best, 0
	}
	return 0, 0
}
