package rest

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// defaultPriceDigits are the decimals of a price in a market without a tickSize, where five
// significant digits were the rule.
const defaultPriceDigits = 10

// Catalog gets markets and assets and makes a catalog: BuildCatalog. It does not call Use.
func (c *Client) Catalog(ctx context.Context) (cat *market.Catalog, leftOut []error, err error) {
	assets, err := c.Assets(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	markets, err := c.Markets(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	cat, leftOut = BuildCatalog(assets, markets)
	return cat, leftOut, nil
}

// BuildCatalog makes a catalog of the exchange's assets and markets, in their order. An asset has
// the most decimals that itself or one of its markets allows. A price has the decimals of the
// tickSize, trailing zeros included, since older prices may be finer than the tick; without a
// tickSize as many as fit, up to 10. leftOut has an error for each asset or market that cannot be
// represented.
func BuildCatalog(assets []Asset, markets []Market) (cat *market.Catalog, leftOut []error) {
	cat = &market.Catalog{}
	finest := map[string]uint8{}
	for i := range assets {
		finest[assets[i].Symbol] = assets[i].Decimals
	}
	for i := range markets {
		m := &markets[i]
		finest[m.Base] = max(finest[m.Base], m.QuantityDecimals)
		finest[m.Quote] = max(finest[m.Quote], m.NotionalDecimals)
	}
	for i := range assets {
		if _, err := cat.AddAsset(assets[i].Symbol, finest[assets[i].Symbol]); err != nil {
			leftOut = append(leftOut, err)
		}
	}
	for i := range markets {
		if err := addMarket(cat, &markets[i]); err != nil {
			leftOut = append(leftOut, err)
		}
	}
	return cat, leftOut
}

// addMarket adds a market with its rules. It tries the rules first: a market in a catalog stays
// there.
func addMarket(cat *market.Catalog, w *Market) error {
	base, quote := cat.AssetNamed(w.Base), cat.AssetNamed(w.Quote)
	if base == nil || quote == nil {
		return fmt.Errorf("market %s: an asset of it is not known", w.Name)
	}
	m := &market.Market{Name: w.Name, PriceDigits: priceDigits(w, base.Digits, quote.Digits), VolumeDigits: base.Digits}
	m.AmountDigits, m.QuoteDigits = base.Digits, quote.Digits
	if err := w.Apply(m); err != nil {
		return err
	}
	return cat.AddMarket(m)
}

// priceDigits returns the decimals of the tickSize, otherwise as many as there is room for beside
// the amount's.
func priceDigits(w *Market, base, quote uint8) uint8 {
	if tick := string(w.TickSize); tick != "" && !strings.ContainsAny(tick, "eE") {
		_, decimals, _ := strings.Cut(tick, ".")
		return uint8(min(len(decimals), market.MaxDigits))
	}
	if w.TickSize != "" {
		_, decimals, _ := market.ParseDecimal(string(w.TickSize)) // Apply reports a bad number
		return decimals
	}
	room := min(2*market.MaxDigits-8, market.MaxDigits+int(quote)) - int(base)
	return uint8(max(0, min(defaultPriceDigits, room)))
}
