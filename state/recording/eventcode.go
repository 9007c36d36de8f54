package recording

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// The first byte of a record: the kind of an event that entered the engine, or one of these, the
// last three with a kind. From firstStream on the bytes are kept for the events of a stream.
const (
	changedBook   = 10 // a book, by its difference from the one before: see changes.go
	changedTicker = 11 // likewise, a ticker
	firstStream   = 12
	lastStream    = 15
	fromBooking   = 16 // + market.EventKind
	fromInput     = 32 // + market.InputKind, of inputs without an event
	fromNote      = 96 // + Kind
)

// stream is a part of a block with numbers of one kind: they compress better among themselves.
type stream int

// The streams. The first one has the records; what the others have, it leaves out.
const (
	records stream = iota
	changes        // which fields and levels differ
	prices
	amounts  // without …
	lowBytes // … their lowest byte
	streams
)

// eventEncoder writes records.
type eventEncoder struct {
	codec.Encoder
	streams [streams][]byte // but the records, which are in Buf
	table   codec.Table
	seen    seenMarkets
}

// mark is the lengths of the streams.
func (e *eventEncoder) mark() (lengths [streams]int) {
	for i := range e.streams {
		lengths[i] = len(e.streams[i])
	}
	lengths[records] = len(e.Buf)
	return lengths
}

// cutTo shortens the streams, and forgets a mistake.
func (e *eventEncoder) cutTo(lengths [streams]int) {
	for i := range e.streams[1:] {
		e.streams[i+1] = e.streams[i+1][:lengths[i+1]]
	}
	e.Cut(lengths[records])
}

// bytes is the length of all streams.
func (e *eventEncoder) bytes() (sum int) {
	for _, length := range e.mark() {
		sum += length
	}
	return sum
}

// reset begins a block.
func (e *eventEncoder) reset() {
	e.cutTo([streams]int{})
	e.table.Reset()
	e.seen.reset()
}

// listed writes a market, and returns what the block has of it.
func (e *eventEncoder) listed(id market.ID) *seenMarket {
	return e.seen.at(e.Listed(&e.table, id))
}

// record appends a record: its first byte, the time since the previous one, and its content.
func (e *eventEncoder) record(r *Record, before market.Time) {
	in := &r.Input
	switch {
	case r.Kind != KindInput:
		e.Byte(fromNote + byte(r.Kind))
	case in.Kind == market.InputBooking:
		e.Byte(fromBooking + byte(in.Event.Kind))
	case in.Kind != market.InputEvent:
		e.Byte(fromInput + byte(in.Kind))
	case e.changed(in.Event):
		e.Byte(changedOf(in.Event.Kind))
		e.Int(int64(in.Event.At - before))
		e.change(in.Event)
		return
	default:
		e.Byte(byte(in.Event.Kind))
	}
	e.Int(int64(r.Time() - before))
	switch {
	case r.Kind != KindInput:
		e.note(r)
	case in.Event == nil:
		coder{e: e}.input(in)
	case MarketData(in.Event.Kind):
		e.event(in.Event)
	default:
		coder{e: e}.event(in.Event)
	}
}

// event appends an event of market data.
func (e *eventEncoder) event(ev *market.Event) {
	switch ev.Kind {
	case market.KindMarketStatus:
		coder{e: e}.status(ev)
	case market.KindCandles:
		e.Uint(uint64(len(ev.Candles)))
		for i := range ev.Candles {
			e.candle(&ev.Candles[i], ev.At)
		}
	case market.KindTrade:
		t := ev.Trade
		last := e.listed(t.Market)
		e.Int(int64(t.Price - last.price))
		last.price = t.Price
		e.Int(int64(t.Amount))
		e.Byte(byte(t.Side))
		e.Int(int64(t.Time - ev.At))
	case market.KindTicker:
		e.ticker(ev.Ticker)
	case market.KindBook:
		e.book(ev.Book)
	}
}

// eventDecoder reads records. Each overwrites the one before.
type eventDecoder struct {
	codec.Decoder
	streams [streams][]byte // but the records
	at      [streams]int    // what of them is read
	table   codec.Table
	seen    seenMarkets

	record Record
	event  market.Event
	ticker market.Ticker
	trade  market.Trade
	book   market.OrderBook
	report market.Report
	order  market.Order
	signal market.Signal
	rules  market.Market
}

// open begins to read the payload of a block.
func (d *eventDecoder) open(n *codec.Names, raw [streams][]byte) {
	d.Decoder.Open(n, raw[records])
	d.streams, d.at = raw, [streams]int{}
	d.table.Reset()
	d.seen.reset()
}

func (d *eventDecoder) listed() (market.ID, *seenMarket) {
	id, place := d.Listed(&d.table)
	return id, d.seen.at(place)
}

// next reads a record. before is the time of the one before.
func (d *eventDecoder) next(before market.Time) (*Record, error) {
	op := d.Byte()
	at := before + market.Time(d.Int())
	r := &d.record
	if op >= fromBooking || r.Kind != KindInput || r.Input.Kind != market.InputEvent {
		*r = Record{Kind: KindInput, Input: market.Input{Kind: market.InputEvent}}
	}
	kind := market.EventKind(op)
	switch {
	case op == changedBook || op == changedTicker:
		d.event.At = at
		r.Input.Event = d.change(op)
		return r, d.Err()
	case op >= changedBook && op <= lastStream:
		d.newer("an event of a stream, kind %d", op)
	case op >= fromNote:
		r.Kind, r.At, r.Input = Kind(op-fromNote), at, market.Input{}
		d.note(r)
		return r, d.Err()
	case op >= fromInput:
		r.Input = market.Input{Kind: market.InputKind(op - fromInput), At: at}
		coder{d: d}.input(&r.Input)
		return r, d.Err()
	case op >= fromBooking:
		kind, r.Input.Kind = market.EventKind(op-fromBooking), market.InputBooking
	}
	candles := d.event.Candles[:0]
	d.event = market.Event{Kind: kind, At: at}
	r.Input.Event = &d.event
	switch {
	case MarketData(kind):
		d.marketEvent(candles)
	default:
		coder{d: d}.event(&d.event)
	}
	return r, d.Err()
}

// marketEvent reads an event of market data.
func (d *eventDecoder) marketEvent(candles []market.Candle) {
	ev := &d.event
	switch ev.Kind {
	case market.KindMarketStatus:
		coder{d: d}.status(ev)
	case market.KindCandles:
		for n := d.Count(); n > 0 && d.Err() == nil; n-- {
			candles = append(candles, d.candle(ev.At))
		}
		ev.Candles = candles
	case market.KindTrade:
		id, last := d.listed()
		last.price += d.Price()
		d.trade = market.Trade{Market: id, Price: last.price, Amount: market.Qty(d.Int()),
			Side: codec.Enum(&d.Decoder, market.Sell), Time: ev.At + market.Time(d.Int())}
		ev.Trade, ev.Market = &d.trade, id
	case market.KindTicker:
		d.readTicker()
		ev.Ticker, ev.Market = &d.ticker, d.ticker.Market
	case market.KindBook:
		d.readBook()
		ev.Book, ev.Market = &d.book, d.book.Market
	}
}

// candle writes prices by their distance from the open.
func (e *eventEncoder) candle(c *market.Candle, at market.Time) {
	last := e.listed(c.Market)
	e.Byte(byte(c.Interval))
	e.Flags(c.Late)
	e.Int(int64(at - c.Start))
	e.Int(int64(c.Open - last.price))
	for _, price := range [...]market.Price{c.High, c.Low, c.Close} {
		e.Int(int64(price - c.Open))
	}
	last.price = c.Close
	e.Int(int64(c.Volume))
}

func (d *eventDecoder) candle(at market.Time) (c market.Candle) {
	id, last := d.listed()
	c.Market = id
	c.Interval = codec.Enum(&d.Decoder, market.Interval1M)
	d.Flags(&c.Late)
	c.Start = at - market.Time(d.Int())
	c.Open = last.price + d.Price()
	c.High, c.Low, c.Close = c.Open+d.Price(), c.Open+d.Price(), c.Open+d.Price()
	last.price = c.Close
	c.Volume = d.Volume()
	return c
}

// ticker writes bid and ask by their distance from the last price.
func (e *eventEncoder) ticker(t *market.Ticker) {
	last := e.listed(t.Market)
	e.Int(int64(t.Last - last.price))
	e.Int(int64(t.Bid - t.Last))
	e.Int(int64(t.Ask - t.Last))
	last.keepTicker(t)
	e.Int(int64(t.BidSize))
	e.Int(int64(t.AskSize))
	e.Flags(t.Synthetic)
}

func (d *eventDecoder) readTicker() {
	id, last := d.listed()
	t := &d.ticker
	t.Market, t.Last = id, last.price+d.Price()
	t.Bid, t.Ask = t.Last+d.Price(), t.Last+d.Price()
	t.BidSize, t.AskSize = market.Qty(d.Int()), market.Qty(d.Int())
	d.Flags(&t.Synthetic)
	last.keepTicker(t)
}

func (e *eventEncoder) book(b *market.OrderBook) {
	e.listed(b.Market).keepBook(b)
	e.Int(b.Nonce)
	e.Int(int64(b.Time))
	e.Flags(b.Synthetic)
	for _, side := range [...][]market.Level{b.Bids, b.Asks} {
		e.Uint(uint64(len(side)))
		before := market.Price(0)
		for _, level := range side {
			e.Int(int64(level.Price - before)) // levels lie close together
			e.Int(int64(level.Amount))
			before = level.Price
		}
	}
}

func (d *eventDecoder) readBook() {
	bids, asks := d.book.Bids[:0], d.book.Asks[:0]
	id, last := d.listed()
	d.book = market.OrderBook{Market: id, Nonce: d.Int(), Time: market.Time(d.Int())}
	d.Flags(&d.book.Synthetic)
	d.book.Bids = d.levels(bids)
	d.book.Asks = d.levels(asks)
	last.keepBook(&d.book)
}

func (d *eventDecoder) levels(levels []market.Level) []market.Level {
	price := market.Price(0)
	for n := d.Count(); n > 0 && d.Err() == nil; n-- {
		price += d.Price()
		levels = append(levels, market.Level{Price: price, Amount: market.Qty(d.Int())})
	}
	return levels
}

// checkEnd checks that a block ends with its last event.
func (d *eventDecoder) checkEnd() error {
	err := d.End()
	for i := range d.streams[1:] {
		if left := len(d.streams[i+1]) - d.at[i+1]; left > 0 && err == nil {
			err = fmt.Errorf("%w: %d bytes too many", bolt.ErrCorrupt, left)
		}
	}
	if err != nil {
		return fmt.Errorf("after its last event: %w", err)
	}
	return nil
}
