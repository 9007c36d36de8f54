package sandbox

import (
	"cmp"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// The words of the two reports (venue-facts 1.2).
const (
	defaultVenue   = "TIDE"
	monetary       = "MONE" // a price is money
	cryptoQuantity = "CRYP" // a quantity is of a digital asset
	microseconds   = "2006-01-02T15:04:05.000000Z"
)

// getBookReport answers GET /report/{market}/book. Assets are named by their symbols; prices are in quote, quantities in base.
func (ex *Exchange) getBookReport(c *call) *exchange.Error {
	l, d, refused := ex.book(c)
	if refused != nil {
		return refused
	}
	now := c.now.Std().Format(microseconds)
	w := sheet{c.out}
	w.open('{')
	w.text("submissionTimestamp", now)
	ex.writeAssetCode(&w, l)
	w.key("bids")
	ex.writeReportLevels(&w, l, market.Buy, "BUYI", d.bids)
	w.key("asks")
	ex.writeReportLevels(&w, l, market.Sell, "SELL", d.asks)
	w.text("priceCurrency", ex.catalog.Asset(l.Quote).Symbol)
	w.text("priceNotation", monetary)
	w.text("quantityCurrency", ex.catalog.Asset(l.Base).Symbol)
	w.text("quantityNotation", cryptoQuantity)
	w.text("venue", cmp.Or(ex.config.Venue, defaultVenue))
	w.text("tradingSystem", cmp.Or(ex.config.Venue, defaultVenue))
	w.text("publicationTimestamp", now)
	w.close('}')
	c.out = w.dst
	return nil
}

// writeAssetCode writes which asset is reported on.
func (ex *Exchange) writeAssetCode(w *sheet, l *listing) {
	symbol := ex.catalog.Asset(l.Base).Symbol
	w.text("assetCode", symbol)
	w.text("assetName", cmp.Or(ex.rulesOf(symbol).Name, symbol))
}

// writeReportLevels appends one side of a book with the number of orders at each level.
func (ex *Exchange) writeReportLevels(w *sheet, l *listing, side market.Side, word string, levels []market.Level) {
	ex.depth.orders = ex.venue.AppendCounts(l.ID, side, levels, ex.depth.orders[:0])
	w.dst = append(w.dst, '[')
	for i := range levels {
		w.open('{')
		w.text("side", word)
		w.fixed("price", int64(levels[i].Price), l.PriceDigits)
		w.fixed("quantity", int64(levels[i].Amount), l.AmountDigits)
		w.integer("numOrders", int64(ex.depth.orders[i]))
		w.close('}')
	}
	w.close(']')
}

// getTradesReport answers GET /report/{market}/trades, newest first. A trade is published when it happens, with its price: nothing
// is missing.
func (ex *Exchange) getTradesReport(c *call) *exchange.Error {
	l, trades, refused := ex.trades(c)
	if refused != nil {
		return refused
	}
	base, quote := ex.catalog.Asset(l.Base).Symbol, ex.catalog.Asset(l.Quote).Symbol
	w := sheet{c.out}
	w.open('[')
	for i := len(trades) - 1; i >= 0; i-- {
		t := &trades[i]
		at := t.at.Std().Format(microseconds)
		w.open('{')
		w.id("tradeId", t.id)
		w.text("transactTimestamp", at)
		ex.writeAssetCode(&w, l)
		w.fixed("price", int64(t.price), l.PriceDigits)
		w.text("missingPrice", "")
		w.text("priceNotation", monetary)
		w.text("priceCurrency", quote)
		w.fixed("quantity", int64(t.amount), l.AmountDigits)
		w.text("quantityCurrency", base)
		w.text("quantityNotation", cryptoQuantity)
		w.text("venue", cmp.Or(ex.config.Venue, defaultVenue))
		w.text("publicationTimestamp", at)
		w.text("publicationVenue", cmp.Or(ex.config.Venue, defaultVenue))
		w.close('}')
	}
	w.close(']')
	c.out = w.dst
	return nil
}
