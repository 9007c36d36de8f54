package sandbox

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// getTime answers GET /time.
func (ex *Exchange) getTime(c *api.Call) *exchange.Error {
	return object(c, func(w *wire.Writer) {
		now := c.Skewed(c.Now)
		w.Integer("time", now.Millis())
		w.Integer("timeNs", int64(now))
	})
}

// respond makes the answer of a call.
func respond(c *api.Call, write func(*wire.Writer)) *exchange.Error {
	w := wire.Writer{Dst: c.Out}
	write(&w)
	c.Out = w.Dst
	return nil
}

// object makes the answer an object, with the members that write writes.
func object(c *api.Call, write func(*wire.Writer)) *exchange.Error {
	return respond(c, func(w *wire.Writer) {
		w.Open('{')
		write(w)
		w.Close('}')
	})
}

// list makes the answer a list, with the elements that write writes.
func list(c *api.Call, write func(*wire.Writer)) *exchange.Error {
	return respond(c, func(w *wire.Writer) {
		w.Open('[')
		write(w)
		w.Close(']')
	})
}

// each writes an object for the market that a call names, or a list with one for every market.
func (ex *Exchange) each(c *api.Call, write func(*wire.Writer, *listing)) *exchange.Error {
	if c.Has("market") {
		return respond(c, func(w *wire.Writer) { write(w, ex.named(c)) })
	}
	return list(c, func(w *wire.Writer) {
		for _, l := range ex.listings[1:] {
			write(w, l)
		}
	})
}

// named returns the market that a call names.
func (ex *Exchange) named(c *api.Call) *listing {
	return ex.listings[ex.catalog.MarketNamed(c.Text("market")).ID]
}

// getMarkets answers GET /markets.
func (ex *Exchange) getMarkets(c *api.Call) *exchange.Error {
	return ex.each(c, ex.writeMarket)
}

// writeMarket writes a market with its rules (specification 2.3, venue-facts 1.2). Where the config
// sets no maximum, the answer has the limit of every order (codes 210 and 211).
func (ex *Exchange) writeMarket(w *wire.Writer, l *listing) {
	const most = 1_000_000_000
	w.Open('{')
	w.Text("market", l.Name)
	w.Text("status", l.Status.String())
	w.Text("base", ex.catalog.Asset(l.Base).Symbol)
	w.Text("quote", ex.catalog.Asset(l.Quote).Symbol)
	w.Null("pricePrecision")
	w.Padded("minOrderInBaseAsset", int64(l.MinOrderInBase), l.AmountDigits)
	w.Padded("minOrderInQuoteAsset", int64(l.MinOrderInQuote), l.QuoteDigits)
	if l.MaxOrderInBase == 0 {
		w.Padded("maxOrderInBaseAsset", most, 0)
	} else {
		w.Padded("maxOrderInBaseAsset", int64(l.MaxOrderInBase), l.AmountDigits)
	}
	if l.MaxOrderInQuote == 0 {
		w.Padded("maxOrderInQuoteAsset", most, 0)
	} else {
		w.Padded("maxOrderInQuoteAsset", int64(l.MaxOrderInQuote), l.QuoteDigits)
	}
	w.Integer("quantityDecimals", int64(l.QuantityDecimals))
	w.Integer("notionalDecimals", int64(l.NotionalDecimals))
	if l.TickSize == 0 {
		w.Null("tickSize")
	} else {
		w.Padded("tickSize", int64(l.TickSize), l.PriceDigits)
	}
	w.Integer("maxOpenOrders", int64(l.MaxOpenOrders))
	w.Text("feeCategory", l.FeeCategory)
	w.Key("orderTypes")
	w.Dst = append(w.Dst, '[')
	for kind := market.TypeMarket; kind <= market.TypeTakeProfitLimit; kind++ {
		w.Comma()
		w.Quote(kind.String())
	}
	w.Close(']')
	w.Close('}')
}

// getAssets answers GET /assets.
func (ex *Exchange) getAssets(c *api.Call) *exchange.Error {
	if c.Has("symbol") {
		return respond(c, func(w *wire.Writer) { ex.writeAsset(w, ex.catalog.AssetNamed(c.Text("symbol"))) })
	}
	return list(c, func(w *wire.Writer) {
		for _, a := range ex.catalog.Assets() {
			ex.writeAsset(w, a)
		}
	})
}

// writeAsset writes an asset with its transfer rules (venue-facts 1.2).
func (ex *Exchange) writeAsset(w *wire.Writer, a *market.Asset) {
	rules := ex.rulesOf(a.Symbol)
	w.Open('{')
	w.Text("symbol", a.Symbol)
	w.Text("name", cmp.Or(rules.Name, a.Symbol))
	w.Integer("decimals", int64(a.Digits))
	w.Text("depositFee", cmp.Or(rules.DepositFee, "0"))
	w.Integer("depositConfirmations", int64(rules.Confirmations))
	w.Text("depositStatus", cmp.Or(rules.Status, "OK"))
	w.Text("withdrawalFee", cmp.Or(rules.WithdrawalFee, "0"))
	w.Text("withdrawalMinAmount", cmp.Or(rules.WithdrawalMin, "0"))
	w.Text("withdrawalStatus", cmp.Or(rules.Status, "OK"))
	w.Key("networks")
	w.Dst = append(w.Dst, '[')
	for _, name := range rules.networks(a.Symbol) {
		w.Comma()
		w.Quote(name)
	}
	w.Close(']')
	w.Text("message", "")
	w.Close('}')
}

// rulesOf returns the config of an asset.
func (ex *Exchange) rulesOf(symbol string) Asset {
	return ex.config.Assets[slices.IndexFunc(ex.config.Assets, func(a Asset) bool { return a.Symbol == symbol })]
}

// networks are the names of the networks on which an asset moves.
func (a *Asset) networks(symbol string) []string {
	switch {
	case len(a.Networks) > 0:
		return a.Networks
	case symbol == "EUR":
		return []string{"SEPA"}
	}
	return []string{symbol}
}
