package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Equity is the value of all balances in currency at the latest prices: each asset through its
// market against currency, rounded down by asset. An asset without such a market, or before its
// first price, counts nothing.
func (a *Account) Equity(currency market.AssetID) (market.Money, error) {
	_, equity, err := a.CashAndEquity(currency)
	return equity, err
}

// CashAndEquity returns the balance in currency and the equity of which it is part.
func (a *Account) CashAndEquity(currency market.AssetID) (cash, equity market.Money, err error) {
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

// PricedSince reports whether every asset in the equity has had a price after a time.
func (a *Account) PricedSince(currency market.AssetID, since market.Time) bool {
	for _, m := range a.catalog.Markets() {
		if m.Quote == currency && a.marks[m.ID].at <= since && a.sum(m.Base) != 0 {
			return false
		}
	}
	return true
}

// sum is the balance of an asset over all allocations.
func (a *Account) sum(asset market.AssetID) (total market.Money) {
	for _, allocation := range a.allocations {
		total += allocation[asset].Total
	}
	return total
}

// Exposure is the value of the account's positions in currency at the latest prices, together with
// the holds of its open buys.
func (a *Account) Exposure(currency market.AssetID) (market.Money, error) {
	equity, err := a.Equity(currency)
	if err != nil {
		return 0, err
	}
	total := a.Total(currency)
	return market.Add(equity-total.Total, total.Held)
}
