package sandbox

import (
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
)

// about is the first record of a state file, written once, when the exchange begins.
type about struct {
	Format    string
	Version   int
	Beginning market.Time // that the sources count from
	Assets    []aboutAsset
	Markets   []aboutMarket
}

type aboutAsset struct {
	Symbol   string
	Decimals uint8
}

type aboutMarket struct {
	Name        string
	PriceDigits uint8
}

// loadedState is the content of a state file at its opening.
type loadedState struct {
	about
	storedLife
	accounts []string // names, by sim.AccountID
}

// aboutOf describes an exchange of a config that begins.
func aboutOf(config *Config, beginning market.Time) *about {
	a := &about{Format: stateFormat, Version: stateVersion, Beginning: beginning}
	for i := range config.Assets {
		a.Assets = append(a.Assets, aboutAsset{config.Assets[i].Symbol, config.Assets[i].Decimals})
	}
	for i := range config.Markets {
		a.Markets = append(a.Markets, aboutMarket{config.Markets[i].Name, config.Markets[i].PriceDigits})
	}
	return a
}

// readState reads the file; nil: it is new, or a kill came before the first write.
func (s *store) readState() (l *loadedState, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketAbout)
		if b == nil {
			if first, _ := tx.Cursor().First(); first != nil {
				return fmt.Errorf("this is not the state of an exchange: it holds %q", first)
			}
			return nil
		}
		l = &loadedState{}
		if err := decode(b, keyAbout, &l.about); err != nil {
			return err
		}
		if l.Format != stateFormat {
			return fmt.Errorf("this is not the state of an exchange but %q", l.Format)
		}
		if l.Version > stateVersion {
			return fmt.Errorf("it has version %d, and this program knows %d at most; start the exchange with the "+
				"newer program", l.Version, stateVersion)
		}
		if err := decode(b, keyLife, &l.storedLife); err != nil {
			return err
		}
		return readRows(tx.Bucket(bucketAccounts), func(id uint64, a *storedAccount) error {
			l.accounts = append(l.accounts, a.Name)
			return nil
		})
	})
	return l, err
}

// order gives a config's assets and markets the order of the file, in which orders and balances
// name them. Those that the file does not have come last.
func (l *loadedState) order(config *Config) {
	place := func(index, all int) int {
		if index < 0 {
			return all
		}
		return index
	}
	asset := func(symbol string) int {
		return place(slices.IndexFunc(l.Assets, func(a aboutAsset) bool { return a.Symbol == symbol }), len(l.Assets))
	}
	listed := func(name string) int {
		return place(slices.IndexFunc(l.Markets, func(m aboutMarket) bool { return m.Name == name }), len(l.Markets))
	}
	config.Assets, config.Markets = slices.Clone(config.Assets), slices.Clone(config.Markets)
	slices.SortStableFunc(config.Assets, func(a, b Asset) int { return asset(a.Symbol) - asset(b.Symbol) })
	slices.SortStableFunc(config.Markets, func(a, b Market) int { return listed(a.Name) - listed(b.Name) })
}

// agree refuses a config that differs from the file in assets and markets or their decimals: an
// exchange cannot change these.
func (l *loadedState) agree(config *Config) error {
	have := aboutOf(config, 0)
	const hint = "give the exchange what it began with, or another file"
	for i := range max(len(l.Assets), len(have.Assets)) {
		was, is := at(l.Assets, i), at(have.Assets, i)
		switch {
		case was.Symbol != is.Symbol:
			return fmt.Errorf("%s; %s", lacks("asset", was.Symbol, is.Symbol), hint)
		case was.Decimals != is.Decimals:
			return fmt.Errorf("asset %s has %d decimals there and %d in the config; %s", was.Symbol, was.Decimals,
				is.Decimals, hint)
		}
	}
	for i := range max(len(l.Markets), len(have.Markets)) {
		was, is := at(l.Markets, i), at(have.Markets, i)
		switch {
		case was.Name != is.Name:
			return fmt.Errorf("%s; %s", lacks("market", was.Name, is.Name), hint)
		case was.PriceDigits != is.PriceDigits:
			return fmt.Errorf("prices of %s have %d decimals there and %d in the config; %s", was.Name, was.PriceDigits,
				is.PriceDigits, hint)
		}
	}
	return nil
}

// lacks says which of two names, that stand at the same place of ordered lists, the other side has
// not.
func lacks(what, was, is string) string {
	if was == "" {
		return fmt.Sprintf("%s %s is in the config and not there", what, is)
	}
	return fmt.Sprintf("%s %s is there and not in the config", what, was)
}

// at returns an element, the zero one beyond the end.
func at[T any](list []T, i int) (one T) {
	if i < len(list) {
		one = list[i]
	}
	return one
}

// arrange returns a config's accounts so that each of the file has the place that it had: first
// those of the file, then new ones. An account that the config no longer has keeps its orders and
// balances, without a key.
func (l *loadedState) arrange(config []Account) []Account {
	var arranged []Account
	rest := slices.Clone(config)
	for _, name := range l.accounts {
		place := slices.IndexFunc(rest, func(a Account) bool { return a.Name == name })
		if place < 0 {
			arranged = append(arranged, Account{Name: name})
			continue
		}
		arranged = append(arranged, rest[place])
		rest = slices.Delete(rest, place, place+1)
	}
	return append(arranged, rest...)
}

// resumes reports whether the exchange goes on from a state file.
func (s *store) resumes() bool { return s != nil && s.loaded != nil }

// opening returns when the sources begin and from when on the exchange's clock makes things due:
// now, or where the state file stands.
func (ex *Exchange) opening() (beginning, start market.Time) {
	if ex.store.resumes() {
		return ex.store.loaded.Beginning, ex.store.loaded.Reached
	}
	now := ex.clock.Now()
	return now.Add(-ex.config.History), now
}
