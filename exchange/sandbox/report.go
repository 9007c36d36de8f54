package sandbox

import (
	"cmp"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// The words of the two reports (venue-facts 1.2).
const (
	defaultVenue   = "TIDE"
	monetary       = "MONE" // a price is money
	cryptoQuantity = "CRYP" // a quantity is of a digital asset
	microseconds   = "2006-01-02T15:04:05.000000Z"
	isoMillis      = "2006-01-02T15:04:05.000Z"
)

// getBookReport answers GET /report/{market}/book. Assets are named by their symbols; prices are in
// quote, quantities in base.
func (ex *Exchange) getBookReport(c *api.Call) *exchange.Error {
	l := ex.named(c)
	if refused := l.trading(); refused != nil {
		return refused
	}
	d := ex.book(l, int(c.Integer("depth", bookDepth.Max)))
	now := c.Now.Std().Format(microseconds)
	return object(c, func(w *wire.Writer) {
		w.Text("submissionTimestamp", now)
		ex.writeAssetCode(w, l)
		w.Key("bids")
		ex.writeReportLevels(w, l, market.Buy, "BUYI", d.bids)
		w.Key("asks")
		ex.writeReportLevels(w, l, market.Sell, "SELL", d.asks)
		w.Text("priceCurrency", ex.catalog.Asset(l.Quote).Symbol)
		w.Text("priceNotation", monetary)
		w.Text("quantityCurrency", ex.catalog.Asset(l.Base).Symbol)
		w.Text("quantityNotation", cryptoQuantity)
		w.Text("venue", cmp.Or(ex.config.Venue, defaultVenue))
		w.Text("tradingSystem", cmp.Or(ex.config.Venue, defaultVenue))
		w.Text("publicationTimestamp", now)
	})
}

// writeAssetCode writes which asset is reported on.
func (ex *Exchange) writeAssetCode(w *wire.Writer, l *listing) {
	symbol := ex.catalog.Asset(l.Base).Symbol
	w.Text("assetCode", symbol)
	w.Text("assetName", cmp.Or(ex.rulesOf(symbol).Name, symbol))
}

// writeReportLevels appends one side of a book with the number of orders at each level.
func (ex *Exchange) writeReportLevels(w *wire.Writer, l *listing, side market.Side, word string,
	levels []market.Level) {
	ex.depth.orders = ex.venue.AppendCounts(l.ID, side, levels, ex.depth.orders[:0])
	w.Dst = append(w.Dst, '[')
	for i := range levels {
		w.Open('{')
		w.Text("side", word)
		w.Fixed("price", int64(levels[i].Price), l.PriceDigits)
		w.Fixed("quantity", int64(levels[i].Amount), l.AmountDigits)
		w.Integer("numOrders", int64(ex.depth.orders[i]))
		w.Close('}')
	}
	w.Close(']')
}

// getTradesReport answers GET /report/{market}/trades, newest first. A trade is published when it
// happens, with its price: nothing is missing.
func (ex *Exchange) getTradesReport(c *api.Call) *exchange.Error {
	l, trades, refused := ex.trades(c)
	if refused != nil {
		return refused
	}
	base, quote := ex.catalog.Asset(l.Base).Symbol, ex.catalog.Asset(l.Quote).Symbol
	return list(c, func(w *wire.Writer) {
		for i := len(trades) - 1; i >= 0; i-- {
			t := &trades[i]
			at := t.at.Std().Format(microseconds)
			w.Open('{')
			w.ID("tradeId", t.id)
			w.Text("transactTimestamp", at)
			ex.writeAssetCode(w, l)
			w.Fixed("price", int64(t.price), l.PriceDigits)
			w.Text("missingPrice", "")
			w.Text("priceNotation", monetary)
			w.Text("priceCurrency", quote)
			w.Fixed("quantity", int64(t.amount), l.AmountDigits)
			w.Text("quantityCurrency", base)
			w.Text("quantityNotation", cryptoQuantity)
			w.Text("venue", cmp.Or(ex.config.Venue, defaultVenue))
			w.Text("publicationTimestamp", at)
			w.Text("publicationVenue", cmp.Or(ex.config.Venue, defaultVenue))
			w.Close('}')
		}
	})
}
