package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// assetRules is an asset with its transfer rules in units.
type assetRules struct {
	*market.Asset
	config                                   *Asset
	depositFee, withdrawalFee, withdrawalMin market.Money
	fiat                                     bool // it moves between bank accounts
}

// openAssetRules reads the rules of an asset.
func (b *bank) openAssetRules(asset *market.Asset) (*assetRules, error) {
	v := &assetRules{Asset: asset, config: &Asset{Symbol: asset.Symbol}}
	for i := range b.config.Assets {
		if b.config.Assets[i].Symbol == asset.Symbol {
			v.config = &b.config.Assets[i]
		}
	}
	for _, amount := range []struct {
		name, text string
		to         *market.Money
	}{
		{"deposit fee", v.config.DepositFee, &v.depositFee}, {"withdrawal fee", v.config.WithdrawalFee,
			&v.withdrawalFee}, {"withdrawal minimum", v.config.WithdrawalMin, &v.withdrawalMin},
	} {
		var err error
		if *amount.to, err = parseMoney(strings.TrimPrefix(amount.text, "none"), asset.Digits); err != nil {
			return nil, fmt.Errorf("%s: %w", amount.name, err)
		}
	}
	if v.config.Confirmations < 0 || v.config.Confirmations > 10_000 || v.config.BlockTime < 0 ||
		v.config.BlockTime > day {
		return nil, fmt.Errorf("%d confirmations every %s: want at most 10000, and blocks at most 24h apart",
			v.config.Confirmations, v.config.BlockTime)
	}
	v.fiat = slices.Contains(v.config.Networks, "SEPA") || len(v.config.Networks) == 0 && asset.Symbol == "EUR"
	return v, nil
}

// assetNamed returns the asset of a symbol of this exchange.
func (b *bank) assetNamed(symbol string) *assetRules {
	return b.assets[b.catalog.AssetNamed(symbol).ID-1]
}

// open reports whether deposits and withdrawals of the asset are possible.
func (v *assetRules) open() bool { return v.config.Status == "" || v.config.Status == "OK" }

// amount reads the amount of a transfer in the asset's units.
func (v *assetRules) amount(text string) (market.Money, *exchange.Error) {
	n, err := market.ParseFixed(text, v.Digits)
	return market.Money(n), amountError(err, n)
}

// tooMuch reports whether an amount is above the largest that a request may name, 10⁹ (venue-facts
// 2.1).
func (v *assetRules) tooMuch(amount market.Money) bool {
	unit := market.Money(market.Pow10(v.Digits))
	return amount/unit > 1_000_000_000 || amount/unit == 1_000_000_000 && amount%unit > 0
}

// blocks returns how long a number of blocks takes.
func (v *assetRules) blocks(count int) market.Duration {
	return time.Duration(max(count, 0)) * cmp.Or(v.config.BlockTime, time.Minute)
}
