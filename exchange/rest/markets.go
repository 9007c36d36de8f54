package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// Market is a market as in the answer (specification 2.3, venue-facts 1.2). An absent limit is "".
type Market struct {
	Name   string `json:"market"`
	Status string `json:"status"`
	Base   string `json:"base"`
	Quote  string `json:"quote"`
	// PricePrecision is the significant digits of a price; "" on markets with a tickSize.
	PricePrecision       Number   `json:"pricePrecision"`
	MinOrderInBaseAsset  Number   `json:"minOrderInBaseAsset"`
	MinOrderInQuoteAsset Number   `json:"minOrderInQuoteAsset"`
	MaxOrderInBaseAsset  Number   `json:"maxOrderInBaseAsset"`
	MaxOrderInQuoteAsset Number   `json:"maxOrderInQuoteAsset"`
	QuantityDecimals     uint8    `json:"quantityDecimals"`
	NotionalDecimals     uint8    `json:"notionalDecimals"`
	TickSize             Number   `json:"tickSize"`
	MaxOpenOrders        int      `json:"maxOpenOrders"`
	FeeCategory          string   `json:"feeCategory"`
	OrderTypes           []string `json:"orderTypes"`
}

// Asset is an asset as in the answer (venue-facts 1.2).
type Asset struct {
	Symbol               string   `json:"symbol"`
	Name                 string   `json:"name"`
	Decimals             uint8    `json:"decimals"`
	DepositFee           Number   `json:"depositFee"`
	DepositConfirmations int      `json:"depositConfirmations"`
	DepositStatus        string   `json:"depositStatus"` // OK, MAINTENANCE, DELISTED
	WithdrawalFee        Number   `json:"withdrawalFee"`
	WithdrawalMinAmount  Number   `json:"withdrawalMinAmount"`
	WithdrawalStatus     string   `json:"withdrawalStatus"`
	Networks             []string `json:"networks"`
	Message              string   `json:"message"`
}

// Markets returns all markets, or the one that is named: GET /markets (specification 1 and 2.3).
func (c *Client) Markets(ctx context.Context, name string) ([]Market, error) {
	r := request{at: getMarkets, all: name == "", path: to("markets").with("market", name).String()}
	return ask(ctx, c, r, decodeList[Market])
}

// Assets returns all assets, or the one of that symbol: GET /assets (specification 1).
func (c *Client) Assets(ctx context.Context, symbol string) ([]Asset, error) {
	r := request{at: getAssets, all: symbol == "", path: to("assets").with("symbol", symbol).String()}
	return ask(ctx, c, r, decodeList[Asset])
}

// decodeList reads an array, or a bare object as an array of one: the exchange sends that for a
// filter.
func decodeList[T any](body []byte) (list []T, err error) {
	if body = bytes.TrimSpace(body); len(body) > 0 && body[0] == '{' {
		one, err := decode[T](body)
		return []T{one}, err
	}
	return decode[[]T](body)
}

// validate refuses rules by which no order could be placed, or any: a smallest order above the
// largest, decimals beyond all units, a tickSize of 0, negative maxOpenOrders.
func (w *Market) validate(next *market.Market) error {
	switch {
	case w.QuantityDecimals > market.MaxDigits || w.NotionalDecimals > market.MaxDigits:
		return fmt.Errorf("market %s: quantityDecimals %d, notionalDecimals %d: more than %d: %w", w.Name,
			w.QuantityDecimals, w.NotionalDecimals, market.MaxDigits, errInvalidRule)
	case w.TickSize != "" && next.TickSize == 0:
		return fmt.Errorf("market %s: tickSize %s: %w", w.Name, w.TickSize, errInvalidRule)
	case next.MaxOrderInBase > 0 && next.MinOrderInBase > next.MaxOrderInBase, next.MaxOrderInQuote > 0 &&
		next.MinOrderInQuote > next.MaxOrderInQuote:
		return fmt.Errorf("market %s: the smallest order is above the largest: %w", w.Name, errInvalidRule)
	case w.MaxOpenOrders < 0:
		return fmt.Errorf("market %s: maxOpenOrders %d: %w", w.Name, w.MaxOpenOrders, errInvalidRule)
	}
	return nil
}

// errInvalidRule is wrapped where a market's rules contradict themselves; the rules in force stay.
var errInvalidRule = errors.New("the rule makes no sense")

// Apply sets the rules of m, in its units: status, tickSize, decimals, limits. An unknown status
// counts as halted. It wraps market.ErrInexact where the units of m are too coarse for a rule, and
// leaves m as it was.
func (w *Market) Apply(m *market.Market) error {
	next := *m
	var err error
	read := func(field string, text Number, digits uint8) (n int64) {
		if text == "" || err != nil {
			return 0
		}
		if n, err = wire.ParseUnsigned([]byte(text), digits); err != nil {
			err = fmt.Errorf("market %s: %s: %w", w.Name, field, err)
		}
		return n
	}
	next.TickSize = market.Price(read("tickSize", w.TickSize, m.PriceDigits))
	next.MinOrderInBase = market.Qty(read("minOrderInBaseAsset", w.MinOrderInBaseAsset, m.AmountDigits))
	next.MinOrderInQuote = market.Money(read("minOrderInQuoteAsset", w.MinOrderInQuoteAsset, m.QuoteDigits))
	next.MaxOrderInBase = market.Qty(read("maxOrderInBaseAsset", w.MaxOrderInBaseAsset, m.AmountDigits))
	next.MaxOrderInQuote = market.Money(read("maxOrderInQuoteAsset", w.MaxOrderInQuoteAsset, m.QuoteDigits))
	if err != nil {
		return err
	}
	if err := w.validate(&next); err != nil {
		return err
	}
	next.QuantityDecimals, next.NotionalDecimals = w.QuantityDecimals, w.NotionalDecimals
	next.MaxOpenOrders, next.FeeCategory = w.MaxOpenOrders, w.FeeCategory
	if next.Status, err = market.ParseMarketStatus(w.Status); err != nil || next.Status == market.Delisted {
		next.Status = market.Halted
	}
	*m = next
	return nil
}
