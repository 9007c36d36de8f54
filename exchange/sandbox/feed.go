package sandbox

import (
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// publicData are the public trades, candles and prices of a market; its book is at the venue.
type publicData struct {
	tape    tradeRing
	candles candles
	nonce   int64           // of the book
	price   market.Price    // that the source has come to, also while the market is not trading; 0: none yet
	quote   [2]market.Price // bid and ask of the latest Quote, as its price is that of the latest; 0: none
	trade   market.Trade    // scratch: the movement as a trade
	event   market.Event    // scratch
}

// touch notes that the market's book has changed. Call it once for each change of a book. The nonce
// goes up by one, or will with the next event of a followed book.
func (ex *Exchange) touch(l *listing) {
	l.stream.moved = true
	if !l.stream.copies {
		l.nonce++
		return
	}
	if !l.stream.changed {
		l.stream.changed, l.stream.due = true, later(max(ex.reached, ex.clock.Now()), bookEvery)
		ex.streams.books.next = min(ex.streams.books.next, l.stream.due)
		ex.streams.pump.nudge()
	}
}

// print makes a trade public: it goes into the ring and into the candles. id must be of the
// market's sequence of trades; a trade that has been printed is not printed again, so that the
// reports of both its orders may print it. It reports whether the trade was new.
func (ex *Exchange) print(id uuid.UUID, t *market.Trade) bool {
	l := ex.listings[t.Market]
	printed := publicTrade{id: id, at: t.Time, price: t.Price, amount: t.Amount, side: t.Side}
	if !l.tape.print(&printed) {
		return false
	}
	worth, _ := l.Value(t.Price, t.Amount) // a value beyond 128 bits is missing from the volume in quote
	l.candles.add(&printed, worth)
	ex.streams.tellTrade(l, &printed)
	return true
}

// feed brings the movements of a market's source to the venue and to the screen, when they are due.
type feed struct {
	ex      *Exchange
	listing *listing
	tick    market.Price // that the source counts in
	next    prices.Movements
	ahead   prices.Movement
	more    bool // ahead is to come
}

// openFeed connects a market with its source: the history before start goes to the screen alone,
// its last price opens the market at the venue, and from start on the clock makes the movements
// due. Without a history the next price opens the market. beginning is the start of the exchange's
// first run, less its history. With a state file all movements up to start are in the file; later
// ones are due.
func (ex *Exchange) openFeed(l *listing, beginning, start market.Time) error {
	source := l.config.Source
	if source == nil {
		return nil
	}
	configured := *l.Market // with its rules of now: a source must find the same rules after a restart
	from := start
	if !ex.store.resumes() {
		from = max(beginning, start.Add(-ex.config.History))
	}
	next, err := source.Movements(prices.Start{Market: &configured, Seed: ex.config.Seed, Beginning: beginning,
		From: from})
	if err != nil {
		return err
	}
	f := &feed{ex: ex, listing: l, tick: l.TickSize, next: next}
	if f.more, err = next(&f.ahead); err != nil {
		return err
	}
	if ex.store.resumes() {
		return f.resume(start)
	}
	for day := from; f.more && f.ahead.At < start; {
		day = ex.config.progress(day, from, f.ahead.At)
		l.price = f.ahead.Price
		ex.printMovement(l, &f.ahead)
		if f.more, err = next(&f.ahead); err != nil {
			return err
		}
	}
	if l.price == 0 && f.more {
		l.price = f.ahead.Price
	}
	ex.schedule = append(ex.schedule, f)
	if l.price == 0 {
		return nil
	}
	ex.touch(l)
	return ex.venue.Advance(l.tradeEvent(&prices.Movement{At: start, Price: l.price, Side: market.Buy}))
}

// progress reports how much history is made, at the first movement at or after next. It returns
// the time of the next report.
func (c *Config) progress(next, from, at market.Time) market.Time {
	const day = market.Duration(24 * time.Hour)
	if c.Progress == nil || at < next {
		return next
	}
	c.Progress(at.Sub(from))
	return at.Add(day)
}

// resume makes the movements after start due.
func (f *feed) resume(start market.Time) (err error) {
	for f.more && f.ahead.At <= start {
		if f.more, err = f.next(&f.ahead); err != nil {
			return err
		}
	}
	f.ex.schedule = append(f.ex.schedule, f)
	return nil
}

// due is when the next movement is.
func (f *feed) due() market.Time {
	if !f.more {
		return never
	}
	return f.ahead.At
}

// run carries out one movement. A source that fails leaves the price standing; Exchange.Err returns
// the error.
func (f *feed) run(market.Time) {
	// it has changed: the source counts in the one it began with
	if tick := f.listing.TickSize; tick != f.tick && tick > 0 {
		f.ahead.Price = max(tick, market.FloorTo(f.ahead.Price, tick))
	}
	f.ex.move(f.listing, &f.ahead)
	var err error
	if f.more, err = f.next(&f.ahead); err != nil {
		f.ex.fail(err)
	}
}

// move moves a market to a price, orders and all, and prints the trade. A market that is not
// trading stands still; the price is remembered in its screen. The movement's time must not lie
// before the venue's latest event; Exchange.Err returns the error of a venue that fails.
func (ex *Exchange) move(l *listing, m *prices.Movement) {
	l.price = m.Price
	if l.Status != market.Trading {
		return
	}
	ex.touch(l)
	if err := ex.venue.Advance(l.tradeEvent(m)); err != nil {
		ex.fail(err)
		return
	}
	ex.printMovement(l, m)
}

// printMovement makes the movement's trade public, if it has one.
func (ex *Exchange) printMovement(l *listing, m *prices.Movement) {
	if m.Amount != 0 {
		l.tradeEvent(m)
		ex.print(ex.venue.NextTradeID(l.ID), &l.trade)
	}
}

// tradeEvent is the movement as an event for the venue. It is valid until the market's next.
func (l *listing) tradeEvent(m *prices.Movement) *market.Event {
	l.trade = market.Trade{Market: l.ID, Price: m.Price, Amount: m.Amount, Side: m.Side, Time: m.At}
	l.event = market.Event{At: m.At, Kind: market.KindTrade, Market: l.ID, Trade: &l.trade}
	return &l.event
}

// fail keeps the first error.
func (ex *Exchange) fail(err error) {
	if ex.failed == nil {
		ex.failed = err
	}
}

// Err returns the error that stopped the exchange, a market's source or the venue; nil: none. The
// price of a stopped source stands still, and a stopped venue fills no orders. An exchange that
// cannot write its state file answers 503 to everything, because memory may be ahead of the file.
func (ex *Exchange) Err() error {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.store != nil && ex.store.err != nil {
		return ex.store.err
	}
	return ex.failed
}
