package risk

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// savedClosesVersion is the version of SavedCloses.
const savedClosesVersion = 1

// SavedCloses are the closes that volatility_target is estimated from.
type SavedCloses struct {
	Interval string                  `json:"interval"`
	Markets  map[string]SavedSeries  `json:"markets,omitempty"`
	Units    map[string]market.Units `json:"units,omitempty"`  // of the markets
	Scaled   map[string]int64        `json:"scaled,omitempty"` // by strategy: orders that were made smaller
}

// SavedSeries are the closes of a market, one an interval, oldest first.
type SavedSeries struct {
	End    market.Time    `json:"end"` // of the latest candle
	Prices []market.Price `json:"prices"`
}

// Estimates reports whether there is a target for the volatility, so that SaveCloses has something
// to save.
func (g *Gate) Estimates() bool { return g.volatility != nil }

// ClosesChanged reports whether SaveCloses would write something else than at the last ClosesSaved.
func (g *Gate) ClosesChanged() bool { return g.volatility != nil && g.volatility.changed }

// ClosesSaved notes that the result of SaveCloses is durable.
func (g *Gate) ClosesSaved() {
	if g.volatility != nil {
		g.volatility.changed = false
	}
}

// SaveCloses appends the closes for RestoreCloses, as readable text. strategies are the names of
// the strategies by StrategyID − 1. The same closes give the same bytes.
func (g *Gate) SaveCloses(dst []byte, strategies []string) ([]byte, error) {
	v := g.volatility
	s := SavedCloses{Interval: v.interval.String(), Markets: map[string]SavedSeries{},
		Units: map[string]market.Units{}, Scaled: map[string]int64{}}
	for i, name := range strategies {
		if n := g.slots[i+1].scaled; n > 0 {
			s.Scaled[name] = n
		}
	}
	for _, m := range g.catalog.Markets() {
		c := &v.closes[m.ID]
		if c.end == 0 {
			continue
		}
		series := SavedSeries{End: c.end}
		for point := c.first; point <= c.last; point++ {
			series.Prices = append(series.Prices, *c.at(point))
		}
		s.Markets[m.Name], s.Units[m.Name] = series, m.Units()
	}
	return market.AppendSaved(dst, savedClosesVersion, &s)
}

// RestoreCloses restores saved closes. Those of another interval, or of markets that are no longer
// there, are forgotten; without a target all are. Other units are an error.
func (g *Gate) RestoreCloses(data []byte, strategies []string) error {
	v := g.volatility
	if v == nil {
		return nil
	}
	var s SavedCloses
	if err := market.ParseSaved(data, savedClosesVersion, &s); err != nil {
		return fmt.Errorf("closes: %w", err)
	}
	for i, name := range strategies {
		g.slots[i+1].scaled = s.Scaled[name]
	}
	if s.Interval != v.interval.String() {
		return nil
	}
	if err := g.catalog.CheckUnits(s.Units); err != nil {
		return fmt.Errorf("closes: %w", err)
	}
	for name, series := range s.Markets {
		n := len(series.Prices)
		if m := g.catalog.MarketNamed(name); m != nil {
			if n == 0 || n > closesKept || series.End <= 0 {
				return fmt.Errorf("closes: %s has %d prices up to %s", name, n, series.End)
			}
			v.closes[m.ID] = series.restored(v.interval)
		}
	}
	v.changed = false
	return nil
}

func (s *SavedSeries) restored(grid market.Interval) (c closes) {
	c.end, c.last = s.End, grid.Index(s.End)
	if !grid.Aligned(s.End) {
		c.last++
	}
	c.first = c.last - int64(len(s.Prices)) + 1
	for i, price := range s.Prices {
		*c.at(c.first + int64(i)) = price
	}
	return c
}
