package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

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

// MarketExposure is the part of Exposure that is one market, with the values that the last
// CashAndEquity computed.
func (a *Account) MarketExposure(m market.ID) market.Money {
	return a.values.of[m] + a.openIn[m].holds[market.Buy]
}

// AssetExposure is the part of Exposure that is one base asset, over all strategies, in the markets
// that quote in currency.
func (a *Account) AssetExposure(asset, currency market.AssetID) (sum market.Money, err error) {
	if len(a.stale) > 0 {
		err = a.revalue(currency)
	}
	for _, m := range a.values.based[asset] {
		if a.catalog.Market(m).Quote != currency {
			continue
		}
		for _, part := range [...]market.Money{a.values.of[m], a.openIn[m].holds[market.Buy]} {
			if err == nil {
				sum, err = market.Add(sum, part)
			}
		}
	}
	if err != nil {
		return 0, fmt.Errorf("exposure: %w", err)
	}
	return sum, nil
}
