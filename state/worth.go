package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Equity is what all balances are worth in currency at the latest prices: each asset through its
// market against currency, rounded down by asset. An asset without such a market, or before its
// first price, counts nothing.
func (a *Account) Equity(currency market.AssetID) (market.Money, error) {
	_, equity, err := a.Worths(currency)
	return equity, err
}

// Worths returns the balance in currency and the equity of which it is part.
func (a *Account) Worths(currency market.AssetID) (cash, equity market.Money, err error) {
	cash = a.sum(currency)
	equity = cash
	for _, m := range a.catalog.Markets() {
		if m.Quote != currency {
			continue
		}
		total := a.sum(m.Base)
		if total == 0 {
			continue
		}
		worth, err := m.Notional(a.marks[m.ID].price, market.Qty(total))
		if err != nil {
			return 0, 0, fmt.Errorf("equity: %w", err)
		}
		if equity, err = market.Add(equity, worth); err != nil {
			return 0, 0, fmt.Errorf("equity: %w", err)
		}
	}
	return cash, equity, nil
}

// PricedSince reports whether everything that counts for the equity in currency has had a price
// after a time.
func (a *Account) PricedSince(currency market.AssetID, since market.Time) bool {
	for _, m := range a.catalog.Markets() {
		if m.Quote == currency && a.marks[m.ID].at <= since && a.sum(m.Base) != 0 {
			return false
		}
	}
	return true
}

// sum is the balance of an asset over all purses.
func (a *Account) sum(asset market.AssetID) (total market.Money) {
	for _, purse := range a.purses {
		total += purse[asset].Total
	}
	return total
}

// Exposure is what the account's positions are worth in currency at the latest prices, together
// with what its open buys hold.
func (a *Account) Exposure(currency market.AssetID) (market.Money, error) {
	equity, err := a.Equity(currency)
	if err != nil {
		return 0, err
	}
	total := a.Total(currency)
	return market.Add(equity-total.Total, total.Held)
}
