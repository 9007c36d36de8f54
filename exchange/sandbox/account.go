package sandbox

import (
	"strconv"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// categoryShown is the feeCategory of rates without a market. GET /account/fees is known to show
// this one. For GET /account there are two descriptions (venue-facts 1.4); here both answers agree.
const categoryShown = "B"

// capabilities are those of an account in GET /account; permissions of a key are another matter.
const capabilities = `["buy","sell","depositCrypto","depositFiat","withdrawCrypto","withdrawFiat"]`

// getBalance answers GET /balance: the balances above zero, by symbol; a list also for one symbol.
func (b *bank) getBalance(c *api.Call) *exchange.Error {
	return respond(c, func(w *wire.Writer) { b.appendBalances(w, b.accounts.caller(c), c.Text("symbol")) })
}

// getStakingBalance answers GET /stakingBalance (venue-facts 1.4): nothing can be staked here.
func (b *bank) getStakingBalance(c *api.Call) *exchange.Error {
	c.Out = append(c.Out, "[]"...)
	return nil
}

// appendBalances writes the list of an account's balances that are not 0, of one symbol or all
// ("").
func (b *bank) appendBalances(w *wire.Writer, a *account, symbol string) {
	w.Open('[')
	for _, v := range b.assetsBySymbol {
		balance := b.venue.BalanceOf(a.id, v.ID)
		if balance.Total == 0 || symbol != "" && symbol != v.Symbol {
			continue
		}
		w.Open('{')
		w.Text("symbol", v.Symbol)
		w.Fixed("available", int64(balance.Total-balance.Held), v.Digits)
		w.Fixed("inOrder", int64(balance.Held), v.Digits)
		w.Close('}')
	}
	w.Close(']')
}

// getAccount answers GET /account: the fee tier with its volume and rates, and the capabilities.
func (b *bank) getAccount(c *api.Call) *exchange.Error {
	return object(c, func(w *wire.Writer) {
		w.Key("fees")
		w.Open('{')
		w.Integer("tier", int64(b.accounts.caller(c).tier))
		b.appendFees(w, b.accounts.caller(c), categoryShown)
		w.Close('}')
		w.Key("capabilities")
		w.Dst = append(w.Dst, capabilities...)
	})
}

// getFees answers GET /account/fees: the rates of a market; of the markets of a quote currency,
// which are those of its first one; or of category B. Where both parameters are given, the market
// counts.
func (b *bank) getFees(c *api.Call) *exchange.Error {
	category := categoryShown
	switch {
	case c.Has("market"):
		category = b.catalog.MarketNamed(c.Text("market")).FeeCategory
	case c.Has("quote"):
		m := b.firstQuoted(b.catalog.AssetNamed(c.Text("quote")).ID)
		if m == nil {
			return exchange.Invalid("quote")
		}
		category = m.FeeCategory
	}
	return object(c, func(w *wire.Writer) {
		w.Text("tier", strconv.Itoa(b.accounts.caller(c).tier))
		b.appendFees(w, b.accounts.caller(c), category)
	})
}

// firstQuoted returns the first market of a quote currency, or nil.
func (b *bank) firstQuoted(quote market.AssetID) *market.Market {
	for _, m := range b.catalog.Markets() {
		if m.Quote == quote {
			return m
		}
	}
	return nil
}

func (b *bank) appendFees(w *wire.Writer, a *account, category string) {
	fees := b.rates(a.tier, category)
	w.Padded("volume", int64(a.volume), b.currencyDigits)
	w.Fixed("taker", int64(fees.Taker), market.RateDigits)
	w.Fixed("maker", int64(fees.Maker), market.RateDigits)
}
