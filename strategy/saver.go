package strategy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// SaveMarkets is a Save for a strategy that keeps a T of each market: of returns it, and the JSON
// has it by market name.
func SaveMarkets[T any](s Setup, of func(market.ID) T) ([]byte, error) {
	known := make(map[string]T, len(s.Markets))
	for _, m := range s.Markets {
		known[m.Name] = of(m.ID)
	}
	return market.AppendSaved(nil, savedVersion, known)
}

// LoadMarkets reads the JSON of SaveMarkets and calls to for each market, in the order of names. A
// market that is no longer in the setup is an error; a market that is new in the setup keeps its
// state. An error of to is wrapped with the market's name.
func LoadMarkets[T any](s Setup, data []byte, to func(market.ID, T) error) error {
	known := make(map[string]T)
	if err := market.ParseSaved(data, savedVersion, &known); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		at := slices.IndexFunc(s.Markets, func(m *market.Market) bool { return m.Name == name })
		if at < 0 {
			return fmt.Errorf("market %s was traded and is not any more", name)
		}
		if err := to(s.Markets[at].ID, known[name]); err != nil {
			return fmt.Errorf("market %s: %w", name, err)
		}
	}
	return nil
}
