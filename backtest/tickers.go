package backtest

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// follow lists the markets of which tickers or books are made.
func (d *driver) follow() []bool {
	if !slices.Contains(d.tickers, true) && !slices.Contains(d.books, true) {
		return nil
	}
	followed := slices.Clone(d.tickers)
	for m, made := range d.books {
		followed[m] = followed[m] || made
	}
	return followed
}

// makeTicker gives strategies that need tickers or books a point of the path that the venue walks:
// after the events before it, before those of the rest of the path. Orders decided on it reach the
// venue at the next candle's open, like those decided on a fill.
func (d *driver) makeTicker(c *market.Candle, when market.Time, price market.Price) {
	at := max(when, d.engine.Now())
	m := d.plan.Catalog.Market(c.Market)
	half := d.venue.HalfSpread(price)
	size := sizeOf(m, c.Volume)
	d.ticker = market.Ticker{Market: c.Market, Last: price, Bid: price - half, Ask: price + half, BidSize: size,
		AskSize: size, Synthetic: true}
	if d.tickers[c.Market] {
		ev := market.Event{Kind: market.KindTicker, At: at, Market: c.Market, Ticker: &d.ticker}
		d.send(d.engine.Step(&ev))
		if d.overwrites {
			d.ticker = market.Ticker{Market: c.Market, Last: 1, Bid: 1, Ask: 1}
		}
	}
	if !d.books[c.Market] {
		return
	}
	d.levels = [2]market.Level{{Price: price - half, Amount: size}, {Price: price + half, Amount: size}}
	d.book = market.OrderBook{Market: c.Market, Nonce: d.book.Nonce + 1, Time: at, Bids: d.levels[:1],
		Asks: d.levels[1:], Synthetic: true}
	ev := market.Event{Kind: market.KindBook, At: at, Market: c.Market, Book: &d.book}
	d.send(d.engine.Step(&ev))
	if d.overwrites {
		d.levels = [2]market.Level{{Price: 1, Amount: 1}, {Price: 1, Amount: 1}}
	}
}

// sizeOf is a candle's volume as an amount, rounded down.
func sizeOf(m *market.Market, volume market.Volume) market.Qty {
	if m.VolumeDigits <= m.AmountDigits {
		amount, err := market.Rescale(int64(volume), m.VolumeDigits, m.AmountDigits)
		if err != nil {
			return 0
		}
		return market.Qty(amount)
	}
	return market.Qty(int64(volume) / market.Pow10(m.VolumeDigits-m.AmountDigits))
}
