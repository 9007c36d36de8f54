package sandbox

import (
	"cmp"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// depth is scratch for the two sides of a book, and for the number of orders at the levels of one.
type depth struct {
	bids, asks []market.Level
	orders     []int
}

// getTime answers GET /time.
func (ex *Exchange) getTime(c *call) *exchange.Error {
	w := sheet{c.out}
	w.open('{')
	now := c.fate.skewed(c.now)
	w.integer("time", now.Millis())
	w.integer("timeNs", int64(now))
	w.close('}')
	c.out = w.dst
	return nil
}

// each writes an object for the market that a call names, or a list with one for every market.
func (ex *Exchange) each(c *call, write func(*sheet, *listing)) *exchange.Error {
	w := sheet{c.out}
	if c.has("market") {
		write(&w, ex.named(c))
		c.out = w.dst
		return nil
	}
	w.open('[')
	for _, l := range ex.listings {
		if l != nil { // markets count from 1
			write(&w, l)
		}
	}
	w.close(']')
	c.out = w.dst
	return nil
}

// named returns the market that a call names.
func (ex *Exchange) named(c *call) *listing {
	return ex.listings[ex.catalog.MarketNamed(c.text("market")).ID]
}

// getMarkets answers GET /markets.
func (ex *Exchange) getMarkets(c *call) *exchange.Error {
	return ex.each(c, ex.writeMarket)
}

// writeMarket writes a market with its rules (specification 2.3, venue-facts 1.2). Where the config sets no maximum, the one that
// every order is under (codes 210 and 211) stands.
func (ex *Exchange) writeMarket(w *sheet, l *listing) {
	const most = 1_000_000_000
	w.open('{')
	w.text("market", l.Name)
	w.text("status", l.Status.String())
	w.text("base", ex.catalog.Asset(l.Base).Symbol)
	w.text("quote", ex.catalog.Asset(l.Quote).Symbol)
	w.null("pricePrecision")
	w.padded("minOrderInBaseAsset", int64(l.MinOrderInBase), l.AmountDigits)
	w.padded("minOrderInQuoteAsset", int64(l.MinOrderInQuote), l.QuoteDigits)
	if l.MaxOrderInBase == 0 {
		w.padded("maxOrderInBaseAsset", most, 0)
	} else {
		w.padded("maxOrderInBaseAsset", int64(l.MaxOrderInBase), l.AmountDigits)
	}
	if l.MaxOrderInQuote == 0 {
		w.padded("maxOrderInQuoteAsset", most, 0)
	} else {
		w.padded("maxOrderInQuoteAsset", int64(l.MaxOrderInQuote), l.QuoteDigits)
	}
	w.integer("quantityDecimals", int64(l.QuantityDecimals))
	w.integer("notionalDecimals", int64(l.NotionalDecimals))
	if l.TickSize == 0 {
		w.null("tickSize")
	} else {
		w.padded("tickSize", int64(l.TickSize), l.PriceDigits)
	}
	w.integer("maxOpenOrders", int64(l.MaxOpenOrders))
	w.text("feeCategory", l.FeeCategory)
	w.key("orderTypes")
	w.dst = append(w.dst, '[')
	for kind := market.TypeMarket; kind <= market.TypeTakeProfitLimit; kind++ {
		w.comma()
		w.quote(kind.String())
	}
	w.close(']')
	w.close('}')
}

// getAssets answers GET /assets.
func (ex *Exchange) getAssets(c *call) *exchange.Error {
	w := sheet{c.out}
	if c.has("symbol") {
		ex.writeAsset(&w, ex.catalog.AssetNamed(c.text("symbol")))
		c.out = w.dst
		return nil
	}
	w.open('[')
	for _, a := range ex.catalog.Assets() {
		ex.writeAsset(&w, a)
	}
	w.close(']')
	c.out = w.dst
	return nil
}

// writeAsset writes an asset with its transfer rules (venue-facts 1.2).
func (ex *Exchange) writeAsset(w *sheet, a *market.Asset) {
	rules := ex.rulesOf(a.Symbol)
	networks := rules.Networks
	switch {
	case len(networks) == 0 && a.Symbol == "EUR":
		networks = []string{"SEPA"}
	case len(networks) == 0:
		networks = []string{a.Symbol}
	}
	w.open('{')
	w.text("symbol", a.Symbol)
	w.text("name", cmp.Or(rules.Name, a.Symbol))
	w.integer("decimals", int64(a.Digits))
	w.text("depositFee", cmp.Or(rules.DepositFee, "0"))
	w.integer("depositConfirmations", int64(rules.Confirmations))
	w.text("depositStatus", cmp.Or(rules.Status, "OK"))
	w.text("withdrawalFee", cmp.Or(rules.WithdrawalFee, "0"))
	w.text("withdrawalMinAmount", cmp.Or(rules.WithdrawalMin, "0"))
	w.text("withdrawalStatus", cmp.Or(rules.Status, "OK"))
	w.key("networks")
	w.dst = append(w.dst, '[')
	for _, name := range networks {
		w.comma()
		w.quote(name)
	}
	w.close(']')
	w.text("message", "")
	w.close('}')
}

// rulesOf returns what the config says of an asset.
func (ex *Exchange) rulesOf(symbol string) (rules Asset) {
	for i := range ex.config.Assets {
		if ex.config.Assets[i].Symbol == symbol {
			return ex.config.Assets[i]
		}
	}
	return rules
}

// book returns the book of the market that a call names, up to the call's depth, or refuses: only a market in status trading shows
// one (specification 3.2). Code 431 comes with 409 here, elsewhere with the table's 503.
func (ex *Exchange) book(c *call) (*listing, *depth, *exchange.Error) {
	l := ex.named(c)
	if l.Status != market.Trading {
		refused := *exchange.ErrCode(exchange.CodeNotTrading)
		refused.Status = 409
		refused.Message = "getBook is not available for " + l.Name + " in state " + strings.ToUpper(l.Status.String())
		return nil, nil, &refused
	}
	d := &ex.depth
	d.bids, d.asks = ex.venue.AppendDepth(l.ID, int(c.integer("depth", bookDepth.max)), d.bids[:0], d.asks[:0])
	return l, d, nil
}

// getBook answers GET /{market}/book. The timestamp is that of the answer, in nanoseconds.
func (ex *Exchange) getBook(c *call) *exchange.Error {
	l, d, refused := ex.book(c)
	if refused != nil {
		return refused
	}
	w := sheet{c.out}
	w.open('{')
	w.text("market", l.Name)
	w.integer("nonce", l.nonce)
	w.key("bids")
	w.levels(l.Market, d.bids)
	w.key("asks")
	w.levels(l.Market, d.asks)
	w.integer("timestamp", int64(c.now))
	w.close('}')
	c.out = w.dst
	return nil
}

// levels appends one side of a book.
func (w *sheet) levels(m *market.Market, levels []market.Level) {
	w.dst = append(w.dst, '[')
	for i := range levels {
		w.open('[')
		w.decimal(int64(levels[i].Price), m.PriceDigits)
		w.dst = append(w.dst, ',')
		w.decimal(int64(levels[i].Amount), m.AmountDigits)
		w.close(']')
	}
	w.close(']')
}
