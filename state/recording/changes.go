package recording

import (
	"encoding/binary"

	"github.com/tidemark-trading/tidemark/market"
)

// seenMarket is what a block has of a market so far. The records that follow hold their difference
// from it.
type seenMarket struct {
	price  market.Price     // of the latest ticker, trade or candle
	ticker market.Ticker    // the latest one
	known  bool             // there is a ticker
	book   market.OrderBook // the latest one; empty: none yet
	// Where all prices and amounts of the first book are multiples of a number, they are written in
	// that number.
	unit, written units // the second in the latest change
}

// units are what differences of a book are written in, 1 at least.
type units struct{ price, amount int64 }

// The bits of a changed book.
const (
	whenMS     = 1 << iota // its time is so many milliseconds later, not nanoseconds
	newUnits               // other units than those of the change before follow
	bookMadeUp             // the book is synthetic
	bookBits
)

// seenMarkets are the markets of a block, by place in the block's table; a mistake has a place of
// its own.
type seenMarkets []seenMarket

// reset begins a block.
func (s seenMarkets) reset() {
	for i := range s {
		s[i].price, s[i].ticker, s[i].known = 0, market.Ticker{}, false
		s[i].keepBook(&market.OrderBook{})
		s[i].unit, s[i].written = units{}, units{}
	}
}

func (s *seenMarkets) at(place int) *seenMarket {
	for len(*s) <= place+1 {
		*s = append(*s, seenMarket{})
	}
	return &(*s)[place+1]
}

func (s *seenMarket) keepTicker(t *market.Ticker) {
	s.price, s.ticker, s.known = t.Last, *t, true
}

func (s *seenMarket) keepBook(b *market.OrderBook) {
	bids, asks := s.book.Bids[:0], s.book.Asks[:0]
	s.book = *b
	s.book.Bids, s.book.Asks = append(bids, b.Bids...), append(asks, b.Asks...)
}

// unitsOf finds what all prices and amounts of a book are multiples of: any number of price units,
// and a power of ten of the amount.
func unitsOf(b *market.OrderBook) units {
	u := units{amount: 1_000_000_000}
	for _, side := range [...][]market.Level{b.Bids, b.Asks} {
		for _, level := range side {
			u.price = divisor(u.price, int64(level.Price))
			for int64(level.Amount)%u.amount != 0 {
				u.amount /= 10
			}
		}
	}
	u.price = max(1, u.price)
	return u
}

// divisor is the greatest common one of two numbers.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// changed reports whether an event is written as a change of what the block has.
func (e *eventEncoder) changed(ev *market.Event) bool {
	switch ev.Kind {
	case market.KindTicker:
		place := e.table.Place(ev.Ticker.Market)
		return place >= 0 && e.seen.at(place).known
	case market.KindBook:
		place := e.table.Place(ev.Book.Market)
		if place >= 0 && !ordered(&e.seen.at(place).book) {
			return false
		}
		return ev.Book.Market != 0 && ordered(ev.Book)
	}
	return false
}

// ordered reports whether a book's prices stand in their order, none twice.
func ordered(b *market.OrderBook) bool {
	for i := 1; i < len(b.Bids); i++ {
		if b.Bids[i].Price >= b.Bids[i-1].Price {
			return false
		}
	}
	for i := 1; i < len(b.Asks); i++ {
		if b.Asks[i].Price <= b.Asks[i-1].Price {
			return false
		}
	}
	return true
}

func changedOf(kind market.EventKind) byte {
	if kind == market.KindTicker {
		return changedTicker
	}
	return changedBook
}

// change appends an event for which changed is true.
func (e *eventEncoder) change(ev *market.Event) {
	if ev.Kind == market.KindTicker {
		e.changeTicker(e.listed(ev.Ticker.Market), ev.Ticker)
		return
	}
	e.changeBook(e.listed(ev.Book.Market), ev.Book)
}

// change reads what eventEncoder.change wrote.
func (d *eventDecoder) change(op byte) *market.Event {
	id, s := d.listed()
	d.event = market.Event{At: d.event.At, Market: id}
	switch {
	case op == changedTicker && s.known:
		d.event.Kind, d.event.Ticker = market.KindTicker, &d.ticker
		d.readTickerChange(s)
	case op == changedBook && id != 0:
		d.event.Kind, d.event.Book = market.KindBook, &d.book
		d.readBookChange(id, s)
	default:
		d.Fail("a change of nothing")
	}
	return &d.event
}

// The bits of a changed ticker.
const (
	lastChanged = 1 << iota
	bidChanged
	spreadChanged
	bidSizeChanged
	askSizeChanged
	madeUp // the ticker is synthetic
	tickerBits
)

// changeTicker writes the fields that differ: bit by bit which, then by how much.
func (e *eventEncoder) changeTicker(s *seenMarket, t *market.Ticker) {
	was := &s.ticker
	bits := byte(0)
	for i, by := range [...]market.Price{t.Last - was.Last, t.Bid - was.Bid, t.Ask - t.Bid - (was.Ask - was.Bid)} {
		if by != 0 {
			bits |= lastChanged << i
			e.price(by, 1)
		}
	}
	if t.BidSize != was.BidSize {
		bits |= bidSizeChanged
		e.size(uint64(t.BidSize))
	}
	if t.AskSize != was.AskSize {
		bits |= askSizeChanged
		e.size(uint64(t.AskSize))
	}
	if t.Synthetic {
		bits |= madeUp
	}
	e.streams[changes] = append(e.streams[changes], bits)
	s.keepTicker(t)
}

func (d *eventDecoder) readTickerChange(s *seenMarket) {
	bits := d.uint(changes)
	if bits >= tickerBits {
		d.Fail("ticker with %b", bits)
	}
	t := &s.ticker
	spread := t.Ask - t.Bid
	if bits&lastChanged != 0 {
		t.Last += d.price()
	}
	if bits&bidChanged != 0 {
		t.Bid += d.price()
	}
	if bits&spreadChanged != 0 {
		spread += d.price()
	}
	if bits&bidSizeChanged != 0 {
		t.BidSize = market.Qty(d.size())
	}
	if bits&askSizeChanged != 0 {
		t.AskSize = market.Qty(d.size())
	}
	t.Ask, t.Synthetic = t.Bid+spread, bits&madeUp != 0
	s.price, d.ticker = t.Last, *t
}

// The changes of a level, from 1: a 0 ends a side. The number of equal levels before it stands
// above the lowest bits.
const (
	levelAmount  = 1 // another amount at the price: by how much
	levelGone    = 2
	levelNew     = 3 // the distance of its price from the level before, or from the old best; its amount
	levelBits    = 2
	levelChanges = 1 << levelBits
)

// changeBook writes a book by the levels that differ from the one before; of the first one in a
// block, all do. A level that leaves at the far end of a side
// costs nothing: the side's length says so.
func (e *eventEncoder) changeBook(s *seenMarket, b *market.OrderBook) {
	bits, unit, later := byte(0), int64(1), int64(b.Time-s.book.Time)
	if later%1e6 == 0 {
		bits, unit = whenMS, 1e6
	}
	if b.Synthetic {
		bits |= bookMadeUp
	}
	if s.unit == (units{}) {
		s.unit = unitsOf(b)
	}
	before := e.mark()
	if !e.changeSides(s, b, bits, later/unit) { // the first book had other units
		e.cutTo(before)
		s.unit = units{1, 1}
		e.changeSides(s, b, bits, later/unit)
	}
	s.written = s.unit
	s.keepBook(b)
}

// changeSides writes a change in units of the market, and reports whether they fit.
func (e *eventEncoder) changeSides(s *seenMarket, b *market.OrderBook, bits byte, later int64) bool {
	if s.unit != s.written {
		e.Byte(bits | newUnits)
		e.Uint(uint64(s.unit.price))
		e.Uint(uint64(s.unit.amount))
	} else {
		e.Byte(bits)
	}
	e.Int(b.Nonce - s.book.Nonce)
	e.Int(later)
	return e.changeSide(s.book.Bids, b.Bids, s.unit, -1) && e.changeSide(s.book.Asks, b.Asks, s.unit, 1)
}

// changeSide writes a side. sign is 1 where its prices rise, -1 where they fall.
func (e *eventEncoder) changeSide(was, is []market.Level, u units, sign market.Price) bool {
	e.Uint(uint64(len(is)))
	before, same, rest, i := best(was), uint64(0), int64(0), 0
	for j := range is {
		level := &is[j]
		for i < len(was) && (level.Price-was[i].Price)*sign > 0 {
			e.level(same<<levelBits | levelGone)
			same = 0
			i++
		}
		if i < len(was) && was[i].Price == level.Price {
			if by := level.Amount - was[i].Amount; by == 0 {
				same++
			} else {
				e.level(same<<levelBits | levelAmount)
				rest |= e.amountBy(by, u.amount)
				same = 0
			}
			i++
		} else {
			e.level(same<<levelBits | levelNew)
			rest |= e.price(level.Price-before, u.price)
			e.size(uint64(int64(level.Amount) / u.amount))
			rest |= int64(level.Amount) % u.amount
			same = 0
		}
		before = level.Price
	}
	e.level(0)
	return rest == 0
}

// uint reads a number from a stream.
func (d *eventDecoder) uint(s stream) uint64 {
	src, at := d.streams[s], d.at[s]
	if at < len(src) && src[at] < 0x80 {
		d.at[s]++
		return uint64(src[at])
	}
	n, size := binary.Uvarint(src[at:])
	if size <= 0 {
		d.Fail("no number")
		return 0
	}
	d.at[s] += size
	return n
}

// level writes a change of a level.
func (e *eventEncoder) level(change uint64) {
	e.streams[changes] = binary.AppendUvarint(e.streams[changes], change)
}

// size writes an amount. Its lowest byte is as good as chance: the others compress better without
// it.
func (e *eventEncoder) size(n uint64) {
	e.streams[lowBytes] = append(e.streams[lowBytes], byte(n))
	e.streams[amounts] = binary.AppendUvarint(e.streams[amounts], n>>8)
}

func (d *eventDecoder) size() uint64 {
	high, low, at := d.uint(amounts), d.streams[lowBytes], d.at[lowBytes]
	if at >= len(low) {
		d.Fail("an amount without its lowest byte")
		return 0
	}
	d.at[lowBytes]++
	return high<<8 | uint64(low[at])
}

// price writes a difference of prices in a unit, and returns what is left of it.
func (e *eventEncoder) price(n market.Price, unit int64) (rest int64) {
	e.streams[prices] = binary.AppendVarint(e.streams[prices], int64(n)/unit)
	return int64(n) % unit
}

func (d *eventDecoder) price() market.Price { return d.PriceOf(signed(d.uint(prices))) }

// amountBy writes a difference of amounts in a unit, and returns what is left of it.
func (e *eventEncoder) amountBy(n market.Qty, unit int64) (rest int64) {
	by := int64(n) / unit
	e.size(uint64(by)<<1 ^ uint64(by>>63))
	return int64(n) % unit
}

func (d *eventDecoder) amountBy() int64 { return signed(d.size()) }

// signed is a number from its zigzag form.
func signed(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// best is the best price of a side, 0 where it is empty.
func best(side []market.Level) market.Price {
	if len(side) == 0 {
		return 0
	}
	return side[0].Price
}

func (d *eventDecoder) readBookChange(id market.ID, s *seenMarket) {
	bits := d.Byte()
	if bits >= bookBits {
		d.Fail("book with %b", bits)
	}
	if bits&newUnits != 0 {
		s.written = units{int64(d.Uint()), int64(d.Uint())}
	}
	b := &d.book
	bids, asks := b.Bids[:0], b.Asks[:0]
	*b = market.OrderBook{Market: id, Nonce: s.book.Nonce + d.Int(),
		Synthetic: bits&bookMadeUp != 0}
	later := market.Time(d.Int())
	if bits&whenMS != 0 {
		later *= 1e6
	}
	b.Time = s.book.Time + later
	b.Bids = d.readSide(s.book.Bids, bids, s.written)
	b.Asks = d.readSide(s.book.Asks, asks, s.written)
	if d.Err() == nil {
		s.keepBook(b)
	}
}

// readSide appends a side to is.
func (d *eventDecoder) readSide(was, is []market.Level, u units) []market.Level {
	size, before := d.Uint(), best(was)
	for d.Err() == nil {
		change := d.uint(changes)
		if change == 0 {
			break
		}
		same := change >> levelBits
		if same > uint64(len(was)) {
			d.Fail("%d equal levels of %d", same, len(was))
			break
		}
		if same > 0 {
			is, was, before = append(is, was[:same]...), was[same:], was[same-1].Price
		}
		kind := change % levelChanges
		if kind != levelNew && len(was) == 0 {
			d.Fail("a change of no level")
			break
		}
		switch kind {
		case levelAmount:
			level := was[0]
			level.Amount += market.Qty(d.amountBy() * u.amount)
			is, was, before = append(is, level), was[1:], level.Price
		case levelGone:
			was = was[1:]
		case levelNew:
			before += d.price() * market.Price(u.price)
			is = append(is, market.Level{Price: before, Amount: market.Qty(int64(d.size()) * u.amount)})
		default:
			d.Fail("change %d of a level", kind)
		}
	}
	if missing := size - uint64(len(is)); missing <= uint64(len(was)) {
		return append(is, was[:missing]...)
	}
	d.Fail("side of %d levels", size)
	return is
}
