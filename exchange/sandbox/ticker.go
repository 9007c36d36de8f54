package sandbox

import (
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// getTickerPrice answers GET /ticker/price: the price of the last public trade, null where there
// has been none.
func (ex *Exchange) getTickerPrice(c *api.Call) *exchange.Error {
	return ex.each(c, func(w *wire.Writer, l *listing) {
		w.Open('{')
		w.Text("market", l.Name)
		if last := l.tape.last(); last != nil {
			w.Fixed("price", int64(last.price), l.PriceDigits)
		} else {
			w.Null("price")
		}
		w.Close('}')
	})
}

// getTickerBook answers GET /ticker/book.
func (ex *Exchange) getTickerBook(c *api.Call) *exchange.Error {
	return ex.each(c, func(w *wire.Writer, l *listing) {
		w.Open('{')
		w.Text("market", l.Name)
		ex.writeBest(w, l)
		w.Close('}')
	})
}

// writeBest writes best bid and ask with their amounts, null where a side is empty or the market
// not trading.
func (ex *Exchange) writeBest(w *wire.Writer, l *listing) {
	var bid, ask market.Level
	if l.Status == market.Trading {
		bid, ask = ex.venue.Best(l.ID)
	}
	writeSide(w, l.Market, "bid", "bidSize", bid)
	writeSide(w, l.Market, "ask", "askSize", ask)
}

// writeSide writes one side's best level.
func writeSide(w *wire.Writer, m *market.Market, price, size string, best market.Level) {
	if best.Price == 0 {
		w.Null(price)
		w.Null(size)
		return
	}
	w.Fixed(price, int64(best.Price), m.PriceDigits)
	w.Fixed(size, int64(best.Amount), m.AmountDigits)
}

// getTicker24h answers GET /ticker/24h.
func (ex *Exchange) getTicker24h(c *api.Call) *exchange.Error {
	return ex.each(c, func(w *wire.Writer, l *listing) { ex.writeTicker24h(w, l, c.Now) })
}

// writeTicker24h writes the statistics of a market.
func (ex *Exchange) writeTicker24h(w *wire.Writer, l *listing, now market.Time) {
	start := now.Add(-24 * time.Hour)
	total, any := l.since(start)
	w.Open('{')
	w.Text("market", l.Name)
	w.Integer("startTimestamp", start.Millis())
	w.Integer("timestamp", now.Millis())
	if any {
		w.Fixed("open", int64(total.Open), l.PriceDigits)
		w.Integer("openTimestamp", total.First.Millis())
		w.Fixed("high", int64(total.High), l.PriceDigits)
		w.Fixed("low", int64(total.Low), l.PriceDigits)
		w.Fixed("last", int64(total.Close), l.PriceDigits)
		w.Integer("closeTimestamp", total.Last.Millis())
	} else {
		for _, name := range [...]string{"open", "openTimestamp", "high", "low", "last", "closeTimestamp"} {
			w.Null(name)
		}
	}
	ex.writeBest(w, l)
	if any {
		w.Value("volume", total.Base, l.AmountDigits)
		w.Value("volumeQuote", total.Quote, l.ValueDigits)
	} else {
		w.Null("volume")
		w.Null("volumeQuote")
	}
	w.Close('}')
}

// since adds up the trades since a time, and reports whether there are any. Of the minute in which
// that time lies, the trades that come after it count while the ring remembers them.
func (l *listing) since(from market.Time) (total bar, any bool) {
	whole := market.CeilTo(from, market.Time(time.Minute))
	broken := allTrades()
	broken.from, broken.to = from, whole
	trades := l.tape.in(broken)
	for i := range trades {
		worth, _ := l.Value(trades[i].price, trades[i].amount) // as in print
		total.add(&trades[i], worth)
	}
	if rest, more := l.candles.since(whole); more {
		total.join(&rest)
	}
	return total, total.Base.Sign() != 0
}
