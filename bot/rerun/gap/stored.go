package gap

import (
	"errors"
	"fmt"
	"io"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// stored reads the candles of a store for the markets of the bot: those that its strategies get,
// and of each market the shortest ones that cover the time, which move it.
func (v *survey) stored(store *candles.Store) (read series, notes []string, err error) {
	made := v.first.made
	for i := range made.Strategies {
		s := &made.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			return read, nil, fmt.Errorf("strategy %s: %w", s.Name, err)
		}
		for _, m := range v.first.made.Catalog.Markets() {
			if !s.Given(&needs, m) {
				continue
			}
			shortest := market.Interval1M
			for _, c := range needs.Of(s.Interval) {
				span, err := store.Span(m.Name, c.Interval)
				if err != nil {
					return read, nil, fmt.Errorf("candles for the backtest: %w", err)
				}
				if span.To < c.Interval.Floor(v.to) {
					notes = append(notes, fmt.Sprintf(
						"the stored %s candles of %s end at %s: the backtest knows nothing after",
						c.Interval, m.Name, span.To))
				}
				shortest = min(shortest, c.Interval)
				if err := read.load(store, m, c.Interval, v.from, v.to); err != nil {
					return read, nil, err
				}
			}
			for interval := market.Interval1m; interval < shortest; interval++ {
				span, err := store.Span(m.Name, interval)
				if err != nil && !errors.Is(err, candles.ErrNoData) {
					return read, nil, err
				}
				if err == nil && span.From <= v.from && span.To >= interval.Floor(v.to) {
					if err := read.load(store, m, interval, v.from, v.to); err != nil {
						return read, nil, err
					}
					break
				}
			}
		}
	}
	read.sort()
	return read, notes, nil
}

// load adds the candles of a series that close, are open or begin in a time.
func (s *series) load(store *candles.Store, m *market.Market, interval market.Interval, from, to market.Time) error {
	r, err := store.Read(candles.ReadOptions{Market: m, Interval: interval, From: interval.Floor(from - 1), To: to})
	if err != nil {
		return fmt.Errorf("candles for the backtest: %w", err)
	}
	defer r.Close()
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("candles for the backtest: %w", err)
		}
		s.add(batch)
	}
}
