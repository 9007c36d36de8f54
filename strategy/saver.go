package strategy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// savedVersion is the shape of what SaveMarkets writes.
const savedVersion = 1

// SaveMarkets is a Save for a strategy that knows a T of each market: what of returns for the
// setup's markets, as JSON by name.
func SaveMarkets[T any](s Setup, of func(market.ID) T) ([]byte, error) {
	known := make(map[string]T, len(s.Markets))
	for _, m := range s.Markets {
		known[m.Name] = of(m.ID)
	}
	return market.AppendSaved(nil, savedVersion, known)
}

// LoadMarkets reads what SaveMarkets wrote and calls to for each market, in the order of names. A
// market that is not in the setup any more is an error; one that was not in it then is left as it
// was made. What to objects to is an error that names the market.
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
