package backtest

import (
	"slices"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// quotes are the tickers and books that a run makes of candles.
type quotes struct {
	tickers    []bool       // by market: a strategy wants tickers
	books      []bool       // by market: a strategy wants books, and they are made
	tick, show market.Event // reused: of ticker and of book
	ticker     market.Ticker
	ticks      []engine.Tick // reused: of points in a row
	book       market.OrderBook
	levels     [2]market.Level
	sizes      []size // by market: of the latest candle
	overwrites bool   // what was handed out is overwritten
}

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

// onPath gives strategies that need tickers or books the points of the paths that the venue walks,
// and returns how many of them.
func (d *driver) onPath(path []sim.PathPoint) (taken int) {
	if len(path) > 1 && !d.overwrites {
		if taken = d.makeTickers(path); taken > 0 {
			return taken
		}
	}
	d.makeTicker(path[0].Candle, path[0].At, path[0].Price)
	return 1
}

// makeTickers gives strategies the tickers of points in a row. It ends with the first ticker that
// leads to a command or a book.
func (d *driver) makeTickers(path []sim.PathPoint) (taken int) {
	d.ticks = slices.Grow(d.ticks[:0], len(path))[:len(path)]
	n := 0
	for ; n < len(path) && !d.books[path[n].Candle.Market]; n++ {
		t, p := &d.ticks[n], &path[n]
		t.At = p.At
		d.quote(&t.Ticker, p.Candle, p.Price)
	}
	taken, commands := d.engine.StepTickers(d.ticks[:n])
	if len(commands) > 0 {
		d.send(commands)
	}
	return taken
}

// quote sets a ticker to a price of a candle's path.
func (d *driver) quote(t *market.Ticker, c *market.Candle, price market.Price) {
	half, size := d.venue.HalfSpread(price), d.sizeOf(c)
	t.Market, t.Last, t.Bid, t.Ask = c.Market, price, price-half, price+half
	t.BidSize, t.AskSize, t.Synthetic = size, size, true
}

// makeTicker gives strategies that need tickers or books a point of the path that the venue walks:
// after the events before it, before those of the rest of the path. Orders decided on it reach the
// venue at the next candle's open, like those decided on a fill.
func (d *driver) makeTicker(c *market.Candle, when market.Time, price market.Price) {
	at := max(when, d.engine.Now())
	if d.tickers[c.Market] {
		d.quote(&d.ticker, c, price)
		d.tick.At, d.tick.Market = at, c.Market
		d.send(d.engine.Step(&d.tick))
		if d.overwrites {
			d.ticker = market.Ticker{Market: c.Market, Last: 1, Bid: 1, Ask: 1}
		}
	}
	if !d.books[c.Market] {
		return
	}
	half, size := d.venue.HalfSpread(price), d.sizeOf(c)
	d.levels = [2]market.Level{{Price: price - half, Amount: size}, {Price: price + half, Amount: size}}
	d.book = market.OrderBook{Market: c.Market, Nonce: d.book.Nonce + 1, Time: at, Bids: d.levels[:1],
		Asks: d.levels[1:], Synthetic: true}
	d.show.At, d.show.Market = at, c.Market
	d.send(d.engine.Step(&d.show))
	if d.overwrites {
		d.levels = [2]market.Level{{Price: 1, Amount: 1}, {Price: 1, Amount: 1}}
	}
}

// size is a volume as an amount.
type size struct {
	volume market.Volume
	amount market.Qty
}

// sizeOf is a candle's volume as an amount. The four points of a candle ask for it in a row.
func (d *driver) sizeOf(c *market.Candle) market.Qty {
	s := &d.sizes[c.Market]
	if s.volume != c.Volume {
		s.volume, s.amount = c.Volume, amountOf(d.plan.Catalog.Market(c.Market), c.Volume)
	}
	return s.amount
}

// amountOf is a volume as an amount, rounded down.
func amountOf(m *market.Market, volume market.Volume) market.Qty {
	if m.VolumeDigits <= m.AmountDigits {
		amount, err := market.Rescale(int64(volume), m.VolumeDigits, m.AmountDigits)
		if err != nil {
			return 0
		}
		return market.Qty(amount)
	}
	return market.Qty(int64(volume) / market.Pow10(m.VolumeDigits-m.AmountDigits))
}
