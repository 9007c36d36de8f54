package recording

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// Recordable reports whether the recording keeps events of a kind. It keeps market data; the
// journal keeps events of own orders.
func Recordable(kind market.EventKind) bool {
	switch kind {
	case market.KindMarketStatus, market.KindCandles, market.KindTrade, market.KindTicker, market.KindBook:
		return true
	}
	return false
}

// event appends an event of market data: kind, time since the previous event, and its content.
func (e *eventEncoder) event(ev *market.Event, before market.Time) {
	e.Byte(byte(ev.Kind))
	e.Int(int64(ev.At - before))
	switch ev.Kind {
	case market.KindMarketStatus:
		e.Market(ev.Market)
		e.Byte(byte(ev.Status))
		e.Int(int64(ev.Price))
	case market.KindCandles:
		e.Uint(uint64(len(ev.Candles)))
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
		e.Fail("event of kind %s is not market data", ev.Kind)
	}
}

// eventEncoder writes events.
type eventEncoder struct{ codec.Encoder }

// eventDecoder reads events. Each event overwrites the one before.
type eventDecoder struct {
	codec.Decoder
	event  market.Event
	ticker market.Ticker
	trade  market.Trade
	book   market.OrderBook
	units  int64 // of a stored volume
}

func (d *eventDecoder) next(before market.Time) (*market.Event, error) {
	candles := d.event.Candles[:0]
	d.event = market.Event{Kind: market.EventKind(d.Byte())}
	ev := &d.event
	ev.At = before + market.Time(d.Int())
	switch ev.Kind {
	case market.KindMarketStatus:
		ev.Market = d.Market()
		ev.Status = codec.Enum(&d.Decoder, market.CancelOnly)
		ev.Price = d.Price()
	case market.KindCandles:
		for n := d.Count(); n > 0 && d.Err() == nil; n-- {
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
		d.Fail("event of kind %d", ev.Kind)
	}
	return ev, d.Err()
}

// candle writes the volume decimals after the market, which includes the price decimals.
func (e *eventEncoder) candle(c *market.Candle) {
	e.Market(c.Market)
	if c.Market != 0 && int(c.Market) <= len(e.Catalog().Markets()) {
		e.Byte(e.Catalog().Market(c.Market).VolumeDigits)
	}
	e.Byte(byte(c.Interval))
	e.Flags(c.Late)
	e.Int(int64(c.Start))
	for _, price := range [...]market.Price{c.Open, c.High, c.Low, c.Close} {
		e.Int(int64(price))
	}
	e.Int(int64(c.Volume))
}

func (d *eventDecoder) candle() (c market.Candle) {
	c.Market = d.Market()
	if c.Market != 0 {
		d.volumeUnits(c.Market, d.Byte())
	}
	c.Interval = codec.Enum(&d.Decoder, market.Interval1M)
	d.Flags(&c.Late)
	c.Start = market.Time(d.Int())
	c.Open, c.High, c.Low, c.Close = d.Price(), d.Price(), d.Price(), d.Price()
	c.Volume = market.Volume(d.Int()) * market.Volume(max(1, d.units))
	return c
}

func (d *eventDecoder) volumeUnits(id market.ID, digits uint8) {
	m := d.Catalog().Market(id)
	if digits > m.VolumeDigits {
		d.Fail("%s has %d volume decimals, the event %d", m.Name, m.VolumeDigits, digits)
		return
	}
	d.units = market.Pow10(m.VolumeDigits - digits)
}

func (e *eventEncoder) trade(t *market.Trade) {
	e.Market(t.Market)
	e.Int(int64(t.Price))
	e.Int(int64(t.Amount))
	e.Byte(byte(t.Side))
	e.Int(int64(t.Time))
}

func (d *eventDecoder) readTrade() {
	d.trade = market.Trade{Market: d.Market(), Price: d.Price(), Amount: market.Qty(d.Int()),
		Side: codec.Enum(&d.Decoder, market.Sell), Time: market.Time(d.Int())}
}

func (e *eventEncoder) ticker(t *market.Ticker) {
	e.Market(t.Market)
	for _, n := range [...]int64{int64(t.Last), int64(t.Bid), int64(t.Ask), int64(t.BidSize), int64(t.AskSize)} {
		e.Int(n)
	}
	e.Flags(t.Synthetic)
}

func (d *eventDecoder) readTicker() {
	d.ticker = market.Ticker{Market: d.Market(), Last: d.Price(), Bid: d.Price(), Ask: d.Price(),
		BidSize: market.Qty(d.Int()), AskSize: market.Qty(d.Int())}
	d.Flags(&d.ticker.Synthetic)
}

func (e *eventEncoder) book(b *market.OrderBook) {
	e.Market(b.Market)
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
	d.book = market.OrderBook{Market: d.Market(), Nonce: d.Int(), Time: market.Time(d.Int())}
	d.Flags(&d.book.Synthetic)
	d.book.Bids = d.levels(bids)
	d.book.Asks = d.levels(asks)
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
	if err := d.End(); err != nil {
		return fmt.Errorf("after its last event: %w", err)
	}
	return nil
}
