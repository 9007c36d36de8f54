package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// pricesVersion is the version of SavedPrices.
const pricesVersion = 1

// SavedPrices are the latest prices of the markets that have one, by name.
type SavedPrices struct {
	Markets map[string]SavedPrice `json:"markets,omitempty"`
}

// SavedPrice is the latest price data of a market, in its units.
type SavedPrice struct {
	Units market.Units `json:"units"`
	Last  market.Price `json:"last,omitzero"`
	At    market.Time  `json:"at,omitzero"` // arrival of Last
	Late  bool         `json:"late,omitzero"`
	Bid   market.Price `json:"bid,omitzero"`
	Ask   market.Price `json:"ask,omitzero"`
}

// SavePrices appends the latest prices, which Save leaves out: they change with nearly every event.
func (a *Account) SavePrices(dst []byte) ([]byte, error) {
	s := SavedPrices{Markets: make(map[string]SavedPrice)}
	for _, m := range a.catalog.Markets() {
		mark, quote := a.marks[m.ID], a.quotes[m.ID]
		if mark.price != 0 || quote.bid != 0 || quote.ask != 0 {
			s.Markets[m.Name] = SavedPrice{Units: m.Units(), Last: mark.price, At: mark.at, Late: mark.late,
				Bid: quote.bid, Ask: quote.ask}
		}
	}
	return market.AppendSaved(dst, pricesVersion, &s)
}

// RestorePrices restores saved prices. Markets that are no longer listed are left out; other units
// are an error.
func (a *Account) RestorePrices(data []byte) error {
	var s SavedPrices
	if err := market.ParseSaved(data, pricesVersion, &s); err != nil {
		return fmt.Errorf("prices: %w", err)
	}
	units := make(map[string]market.Units)
	for name, price := range s.Markets {
		units[name] = price.Units
	}
	if err := a.catalog.CheckUnits(units); err != nil {
		return fmt.Errorf("prices: %w", err)
	}
	for name, price := range s.Markets {
		m := a.catalog.MarketNamed(name)
		if m == nil {
			continue
		}
		a.setMark(m.ID, price.Last, price.At, price.Late)
		a.quotes[m.ID] = quote{price.Bid, price.Ask}
	}
	return nil
}

// Priced is the number of markets with a known price.
func (a *Account) Priced() (n int) {
	for i := range a.marks {
		if a.marks[i].price != 0 {
			n++
		}
	}
	return n
}
