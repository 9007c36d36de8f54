package sandbox

import (
	"cmp"
	"strconv"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// depth is scratch for the two sides of a book.
type depth struct{ bids, asks []market.Level }

// getTime answers GET /time.
func (ex *Exchange) getTime(c *call) *exchange.Error {
	w := sheet{c.out}
	w.open('{')
	w.integer("time", c.now.Millis())
	w.integer("timeNs", int64(c.now))
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
	for _, name := range orderTypes {
		w.comma()
		w.quote(name)
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
	var rules Asset
	for i := range ex.config.Assets {
		if ex.config.Assets[i].Symbol == a.Symbol {
			rules = ex.config.Assets[i]
		}
	}
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

// book returns the book of the market that a call names, up to the call's depth, or refuses: only a market in status trading shows
// one (specification 3.2). Code 431 comes with 409 here, elsewhere with the table's 503.
func (ex *Exchange) book(c *call) (*listing, *depth, *exchange.Error) {
	l := ex.named(c)
	if l.Status != market.Trading {
		refused := *exchange.ErrCode(exchange.CodeNotTrading)
		refused.Status = 409
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

// window is the longest time between start and end of a request for trades.
const window = 24 * 60 * 60 * 1000 // ms

// trades returns the trades that a call asks for, the oldest first: start and end inclusive, and likewise the two ids.
func (ex *Exchange) trades(c *call) (*listing, []publicTrade, *exchange.Error) {
	l, s := ex.named(c), everything()
	start, end := c.integer("start", 0), c.integer("end", lastMillis)
	switch {
	case c.has("start") && c.has("end") && (end < start || end-start > window):
		return nil, nil, exchange.Invalid("end")
	case c.has("end"):
		s.to = moment(end + 1)
	}
	if c.has("start") {
		s.from = moment(start)
	}
	var known bool
	if s.first, known = tradeBound(c, l, tradeIDFrom.name, s.first); !known {
		return nil, nil, exchange.Invalid(tradeIDFrom.name)
	}
	if s.final, known = tradeBound(c, l, tradeIDTo.name, s.final); !known {
		return nil, nil, exchange.Invalid(tradeIDTo.name)
	}
	trades := l.tape.in(s)
	return l, trades[max(0, len(trades)-int(c.integer("limit", defaultRows))):], nil
}

// tradeBound returns the place of the trade that a parameter names, otherwise where it was not sent, and whether it is one of the
// market's; it may have been forgotten.
func tradeBound(c *call, l *listing, name string, otherwise uint64) (place uint64, known bool) {
	if !c.has(name) {
		return otherwise, true
	}
	return tradeCounter(l.ID, c.text(name))
}

// defaultRows is how many rows a list has at most where limit is left out.
const defaultRows = 500

// moment is a request's time, or the last one where it lies beyond what a Time can say.
func moment(millis int64) market.Time {
	t, err := market.TimeOfMillis(millis)
	if err != nil {
		return never
	}
	return t
}

// getPublicTrades answers GET /{market}/trades, newest first.
func (ex *Exchange) getPublicTrades(c *call) *exchange.Error {
	l, trades, refused := ex.trades(c)
	if refused != nil {
		return refused
	}
	w := sheet{c.out}
	w.open('[')
	for i := len(trades) - 1; i >= 0; i-- {
		t := &trades[i]
		w.open('{')
		w.id("id", t.id)
		w.integer("timestamp", t.at.Millis())
		w.fixed("amount", int64(t.amount), l.AmountDigits)
		w.fixed("price", int64(t.price), l.PriceDigits)
		w.text("side", t.side.String())
		w.close('}')
	}
	w.close(']')
	c.out = w.dst
	return nil
}

// getCandles answers GET /{market}/candles, newest first: those that start in [start, end).
func (ex *Exchange) getCandles(c *call) *exchange.Error {
	l := ex.named(c)
	interval, err := market.ParseInterval(c.text("interval"))
	if err != nil {
		return exchange.Invalid("interval")
	}
	const most = 1440
	from, to := market.Time(0), never
	if c.has("start") {
		from = moment(c.integer("start", 0))
	}
	if c.has("end") {
		to = moment(c.integer("end", 0))
	}
	ex.bars = l.candles.appendIn(ex.bars[:0], interval, from, to, int(c.integer("limit", most)))
	w := sheet{c.out}
	w.open('[')
	for i := range ex.bars {
		w.bar(l.Market, &ex.bars[i])
	}
	w.close(']')
	c.out = w.dst
	return nil
}

// bar appends a candle.
func (w *sheet) bar(m *market.Market, b *bar) {
	w.open('[')
	w.dst = strconv.AppendInt(w.dst, b.start.Millis(), 10)
	for _, price := range [...]market.Price{b.open, b.high, b.low, b.close} {
		w.comma()
		w.decimal(int64(price), m.PriceDigits)
	}
	w.comma()
	w.sum(b.base, m.AmountDigits)
	w.close(']')
}
