package sandbox

import (
	"cmp"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// screen is what everybody sees of a market, beside its book.
type screen struct {
	tape    tape
	candles candles
	nonce   int64        // of the book
	price   market.Price // that the source has come to, also while the market is not trading; 0: none yet
}

// touch notes that the market's book has changed: its nonce goes up by one. Whoever changes a book calls it once for each change.
func (s *screen) touch() { s.nonce++ }

// openScreen makes an empty one, that remembers what the config says.
func openScreen(keep *Keep) screen {
	const minutesOf60Days = 60 * 24 * 60
	return screen{tape: tape{keep: cmp.Or(max(0, keep.Trades), defaultKeep)}, candles: candles{keep: cmp.Or(max(0, keep.Candles), minutesOf60Days)}}
}

// print makes a trade public: it goes on the tape and into the candles. id must be of the market's sequence of trades; a trade that
// has been printed is not printed again, so that each of its two orders may tell it.
func (ex *Exchange) print(id uuid.UUID, t *market.Trade) {
	l := ex.listings[t.Market]
	printed := publicTrade{id: id, at: t.Time, price: t.Price, amount: t.Amount, side: t.Side}
	if !l.tape.print(&printed) {
		return
	}
	worth, _ := l.Value(t.Price, t.Amount) // what leaves 128 bits is missing from the volume in quote
	l.candles.add(&printed, worth)
}

// feed brings the movements of a market's source to the venue and to the screen, when they are due.
type feed struct {
	ex      *Exchange
	listing *listing
	next    Movements
	ahead   Movement
	more    bool // ahead is to come
	trade   market.Trade
	event   market.Event
}

// openFeed connects a market with its source: the history before start goes to the screen alone, its last price opens the market at
// the venue, and from start on the clock makes the movements due. Without a history the first price to come opens the market.
// beginning is when the exchange's first run began, less its history.
func (ex *Exchange) openFeed(l *listing, beginning, start market.Time) error {
	source := l.config.Source
	if source == nil {
		return nil
	}
	next, err := source.Movements(Start{Market: l.Market, Seed: ex.config.Seed, Beginning: beginning, From: max(beginning, start.Add(-ex.config.History))})
	if err != nil {
		return err
	}
	f := &feed{ex: ex, listing: l, next: next}
	if f.more, err = next(&f.ahead); err != nil {
		return err
	}
	for f.more && f.ahead.At < start {
		l.price = f.ahead.Price
		f.print(&f.ahead)
		if f.more, err = next(&f.ahead); err != nil {
			return err
		}
	}
	if l.price == 0 && f.more {
		l.price = f.ahead.Price
	}
	ex.duties = append(ex.duties, f)
	if l.price == 0 {
		return nil
	}
	l.touch()
	return ex.venue.Advance(f.say(&Movement{At: start, Price: l.price, Side: market.Buy}))
}

// due is when the next movement is.
func (f *feed) due() market.Time {
	if !f.more {
		return never
	}
	return f.ahead.At
}

// run carries out one movement. A source or a venue that fails leaves the price standing; Exchange.Err tells.
func (f *feed) run(market.Time) {
	f.move(&f.ahead)
	var err error
	if f.more, err = f.next(&f.ahead); err != nil {
		f.ex.fail(err)
	}
}

// move moves the market to a price and prints the trade. A market that is not trading stands still; the price is remembered.
func (f *feed) move(m *Movement) {
	f.listing.price = m.Price
	if f.listing.Status != market.Trading {
		return
	}
	f.listing.touch()
	if err := f.ex.venue.Advance(f.say(m)); err != nil {
		f.ex.fail(err)
		return
	}
	f.print(m)
}

// print makes the movement's trade public, if it has one.
func (f *feed) print(m *Movement) {
	if m.Amount == 0 {
		return
	}
	f.trade = market.Trade{Market: f.listing.ID, Price: m.Price, Amount: m.Amount, Side: m.Side, Time: m.At}
	f.ex.print(f.ex.venue.NextTradeID(f.listing.ID), &f.trade)
}

// say is the movement as the venue hears it. It is valid until the next.
func (f *feed) say(m *Movement) *market.Event {
	f.trade = market.Trade{Market: f.listing.ID, Price: m.Price, Amount: m.Amount, Side: m.Side, Time: m.At}
	f.event = market.Event{At: m.At, Kind: market.KindTrade, Market: f.listing.ID, Trade: &f.trade}
	return &f.event
}

// fail keeps the first error.
func (ex *Exchange) fail(err error) {
	if ex.failed == nil {
		ex.failed = err
	}
}

// Err returns what stopped a market's source or the venue first, nil while nothing has: the price of the source's market stands
// still from then on, and a venue that has stopped fills no orders any more.
func (ex *Exchange) Err() error {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.failed
}
