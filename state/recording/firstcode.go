package recording

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// first reads an event of version 1: market data, with the name of its market.
func (d *eventDecoder) first(candles []market.Candle) {
	ev := &d.event
	switch ev.Kind {
	case market.KindMarketStatus:
		ev.Market = d.Market()
		ev.Status = codec.Enum(&d.Decoder, market.CancelOnly)
		ev.Price = d.Price()
	case market.KindCandles:
		for n := d.Count(); n > 0 && d.Err() == nil; n-- {
			candles = append(candles, d.firstCandle())
		}
		ev.Candles = candles
	case market.KindTrade:
		d.trade = market.Trade{Market: d.Market(), Price: d.Price(), Amount: market.Qty(d.Int()),
			Side: codec.Enum(&d.Decoder, market.Sell), Time: market.Time(d.Int())}
		ev.Trade, ev.Market = &d.trade, d.trade.Market
	case market.KindTicker:
		d.ticker = market.Ticker{Market: d.Market(), Last: d.Price(), Bid: d.Price(), Ask: d.Price(),
			BidSize: market.Qty(d.Int()), AskSize: market.Qty(d.Int())}
		d.Flags(&d.ticker.Synthetic)
		ev.Ticker, ev.Market = &d.ticker, d.ticker.Market
	case market.KindBook:
		d.readBook()
		ev.Book, ev.Market = &d.book, d.book.Market
	}
}

// firstCandle has the volume decimals after the market, which includes the price decimals.
func (d *eventDecoder) firstCandle() (c market.Candle) {
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
