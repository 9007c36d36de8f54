package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Recordable reports whether the recording keeps events of a kind: market data does, what concerns own orders stands in the journal.
func Recordable(kind market.EventKind) bool {
	switch kind {
	case market.KindMarketStatus, market.KindCandles, market.KindTrade, market.KindTicker, market.KindBook:
		return true
	}
	return false
}

// event appends an event of market data: kind, time since the one before, and its content.
func (e *eventEncoder) event(ev *market.Event, before market.Time) {
	e.byte(byte(ev.Kind))
	e.int(int64(ev.At - before))
	switch ev.Kind {
	case market.KindMarketStatus:
		e.market(ev.Market)
		e.byte(byte(ev.Status))
		e.int(int64(ev.Price))
	case market.KindCandles:
		e.uint(uint64(len(ev.Candles)))
		for i := range ev.Candles {
			e.candle(&ev.Candles[i])
		}
	case market.KindTrade:
		e.trade(ev.Trade)
	case market.KindTicker:
		e.ticker(ev.Ticker)
	case market.KindBook:
		e.book(ev.Book)
	default:
		e.fail("event of kind %s is not market data", ev.Kind)
	}
}

// eventEncoder writes events.
type eventEncoder struct{ encoder }

// eventDecoder reads events into memory that the next one overwrites.
type eventDecoder struct {
	decoder
	event  market.Event
	ticker market.Ticker
	trade  market.Trade
	book   market.OrderBook
	units  int64 // of a stored volume
}

func (d *eventDecoder) next(before market.Time) (*market.Event, error) {
	candles := d.event.Candles[:0]
	d.event = market.Event{Kind: market.EventKind(d.byte())}
	ev := &d.event
	ev.At = before + market.Time(d.int())
	switch ev.Kind {
	case market.KindMarketStatus:
		ev.Market = d.market()
		ev.Status = enum(&d.decoder, market.CancelOnly)
		ev.Price = d.price()
	case market.KindCandles:
		for range d.count() {
			candles = append(candles, d.candle())
		}
		ev.Candles = candles
	case market.KindTrade:
		d.readTrade()
		ev.Trade, ev.Market = &d.trade, d.trade.Market
	case market.KindTicker:
		d.readTicker()
		ev.Ticker, ev.Market = &d.ticker, d.ticker.Market
	case market.KindBook:
		d.readBook()
		ev.Book, ev.Market = &d.book, d.book.Market
	default:
		d.fail("event of kind %d", ev.Kind)
	}
	return ev, d.err
}

// candle writes the volume decimals behind the market: the price decimals stand there already.
func (e *eventEncoder) candle(c *market.Candle) {
	e.market(c.Market)
	if c.Market != 0 && int(c.Market) <= len(e.catalog.Markets()) {
		e.byte(e.catalog.Market(c.Market).VolumeDigits)
	}
	e.byte(byte(c.Interval))
	e.flags(c.Late)
	e.int(int64(c.Start))
	for _, price := range [...]market.Price{c.Open, c.High, c.Low, c.Close} {
		e.int(int64(price))
	}
	e.int(int64(c.Volume))
}

func (d *eventDecoder) candle() (c market.Candle) {
	c.Market = d.market()
	if c.Market != 0 {
		d.volumeUnits(c.Market, d.byte())
	}
	c.Interval = enum(&d.decoder, market.Interval1M)
	d.flags(&c.Late)
	c.Start = market.Time(d.int())
	c.Open, c.High, c.Low, c.Close = d.price(), d.price(), d.price(), d.price()
	c.Volume = market.Volume(d.int()) * market.Volume(max(1, d.units))
	return c
}

func (d *eventDecoder) volumeUnits(id market.ID, digits uint8) {
	m := d.catalog.Market(id)
	if digits > m.VolumeDigits {
		d.fail("%s has %d volume decimals, the event %d", m.Name, m.VolumeDigits, digits)
		return
	}
	d.units = market.Pow10(m.VolumeDigits - digits)
}

func (e *eventEncoder) trade(t *market.Trade) {
	e.market(t.Market)
	e.int(int64(t.Price))
	e.int(int64(t.Amount))
	e.byte(byte(t.Side))
	e.int(int64(t.Time))
}

func (d *eventDecoder) readTrade() {
	d.trade = market.Trade{Market: d.market(), Price: d.price(), Amount: market.Qty(d.int()), Side: enum(&d.decoder, market.Sell), Time: market.Time(d.int())}
}

func (e *eventEncoder) ticker(t *market.Ticker) {
	e.market(t.Market)
	for _, n := range [...]int64{int64(t.Last), int64(t.Bid), int64(t.Ask), int64(t.BidSize), int64(t.AskSize)} {
		e.int(n)
	}
	e.flags(t.Synthetic)
}

func (d *eventDecoder) readTicker() {
	d.ticker = market.Ticker{Market: d.market(), Last: d.price(), Bid: d.price(), Ask: d.price(), BidSize: market.Qty(d.int()), AskSize: market.Qty(d.int())}
	d.flags(&d.ticker.Synthetic)
}

func (e *eventEncoder) book(b *market.OrderBook) {
	e.market(b.Market)
	e.int(b.Nonce)
	e.int(int64(b.Time))
	e.flags(b.Synthetic)
	for _, side := range [...][]market.Level{b.Bids, b.Asks} {
		e.uint(uint64(len(side)))
		before := market.Price(0)
		for _, level := range side {
			e.int(int64(level.Price - before)) // levels lie close together
			e.int(int64(level.Amount))
			before = level.Price
		}
	}
}

func (d *eventDecoder) readBook() {
	bids, asks := d.book.Bids[:0], d.book.Asks[:0]
	d.book = market.OrderBook{Market: d.market(), Nonce: d.int(), Time: market.Time(d.int())}
	d.flags(&d.book.Synthetic)
	d.book.Bids = d.levels(bids)
	d.book.Asks = d.levels(asks)
}

func (d *eventDecoder) levels(levels []market.Level) []market.Level {
	price := market.Price(0)
	for range d.count() {
		price += d.price()
		levels = append(levels, market.Level{Price: price, Amount: market.Qty(d.int())})
	}
	return levels
}

// rest reports what is left of a block when its events were read.
func (d *eventDecoder) rest() error {
	if err := d.end(); err != nil {
		return fmt.Errorf("behind its last event: %w", err)
	}
	return nil
}
