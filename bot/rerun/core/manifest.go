package core

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/strategy"
)

// manifestVersion is the version of Manifest. A program refuses a later one.
const manifestVersion = 1

// Manifest is what the engine of a start was made of, as the recording keeps it: the settings with
// their defaults, and the exchange's markets with their rules.
type Manifest struct {
	Version    int                `json:"version"`
	Run        uuid.UUID          `json:"run"`
	Program    string             `json:"program"` // its version
	TradeFrom  market.Time        `json:"tradeFrom"`
	SaveLimit  int                `json:"saveLimit"`
	Assets     []AssetFacts       `json:"assets"`
	Markets    []MarketFacts      `json:"markets"`
	Fees       backtest.Fees      `json:"fees"`
	Limits     risk.AccountLimits `json:"limits"`
	Strategies []StrategyFacts    `json:"strategies"`
}

// AssetFacts is an asset of a Manifest, in the order of its market.AssetID.
type AssetFacts struct {
	Symbol string `json:"symbol"`
	Digits uint8  `json:"digits"`
}

// MarketFacts is a market of a Manifest, in the order of its market.ID.
type MarketFacts struct {
	Name         string       `json:"name"`
	PriceDigits  uint8        `json:"priceDigits"`
	VolumeDigits uint8        `json:"volumeDigits"`
	Status       int          `json:"status"`
	Rules        market.Rules `json:"rules"`
}

// StrategyFacts is a strategy of a Manifest, in the order of its market.StrategyID.
type StrategyFacts struct {
	Name     string                `json:"name"`
	Kind     string                `json:"kind"`
	Values   map[string]string     `json:"values"` // parameters, defaults included
	Markets  []string              `json:"markets"`
	Interval market.Interval       `json:"interval"`
	Limits   risk.Limits           `json:"limits"`
	Own      bool                  `json:"own"`
	Universe []strategy.Membership `json:"universe,omitempty"`
}

// NewManifest describes an engine before anything has entered it.
func NewManifest(c *Config, program string) (*Manifest, error) {
	m := &Manifest{Version: manifestVersion, Run: c.Run, Program: program, TradeFrom: c.TradeFrom,
		SaveLimit: c.SaveLimit, Fees: c.Fees, Limits: c.Limits}
	for _, a := range c.Catalog.Assets() {
		m.Assets = append(m.Assets, AssetFacts{a.Symbol, a.Digits})
	}
	m.Markets = marketFacts(c.Catalog)
	for i := range c.Strategies {
		s := &c.Strategies[i]
		facts := StrategyFacts{Name: s.Name, Kind: s.Kind.Name, Values: map[string]string{}, Interval: s.Interval,
			Limits: s.Limits, Own: s.Own, Universe: s.Universe}
		settings, err := s.Kind.Resolve(s.Values)
		if err != nil {
			return nil, fmt.Errorf("strategy %s: %w", s.Name, err)
		}
		for _, setting := range settings {
			facts.Values[setting.Name] = setting.Text
		}
		for _, of := range s.Markets {
			facts.Markets = append(facts.Markets, of.Name)
		}
		m.Strategies = append(m.Strategies, facts)
	}
	return m, nil
}

// At is the manifest of an engine that has run for a while: with the rules and the universes of its
// present time.
func (m *Manifest) At(e *engine.Engine) *Manifest {
	now := *m
	now.Markets, now.Strategies = marketFacts(e.Catalog()), slices.Clone(m.Strategies)
	for i := range now.Strategies {
		now.Strategies[i].Universe = e.Universe(market.StrategyID(i + 1))
	}
	return &now
}

// marketFacts are the markets of a catalog.
func marketFacts(c *market.Catalog) (all []MarketFacts) {
	for _, of := range c.Markets() {
		all = append(all, MarketFacts{of.Name, of.PriceDigits, of.VolumeDigits, int(of.Status), of.Rules})
	}
	return all
}

// Encode writes a manifest for the recording.
func (m *Manifest) Encode() ([]byte, error) { return json.Marshal(m) }

// DecodeManifest reads what Encode wrote. A manifest of a later program wraps bolt.ErrNewer,
// damage ErrCorrupt.
func DecodeManifest(text []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("what a start was made of: %w: %w", bolt.ErrCorrupt, err)
	}
	if m.Version > manifestVersion {
		return nil, fmt.Errorf("what a start was made of: %w: version %d, this program reads %d; update the program",
			bolt.ErrNewer, m.Version, manifestVersion)
	}
	return m, nil
}

// Catalog is the markets of a manifest, with their rules as of then.
func (m *Manifest) Catalog() (*market.Catalog, error) {
	c := &market.Catalog{}
	for _, a := range m.Assets {
		if _, err := c.AddAsset(a.Symbol, a.Digits); err != nil {
			return nil, err
		}
	}
	for i := range m.Markets {
		of := &m.Markets[i]
		added := &market.Market{Name: of.Name, PriceDigits: of.PriceDigits, VolumeDigits: of.VolumeDigits,
			Status: market.MarketStatus(of.Status), Rules: of.Rules}
		if err := c.AddMarket(added); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Names are the strategies by StrategyID − 1.
func (m *Manifest) Names() (names []string) {
	for i := range m.Strategies {
		names = append(names, m.Strategies[i].Name)
	}
	return names
}

// NameOf is the name of a strategy of a manifest; empty: it has none of that number.
func (m *Manifest) NameOf(id market.StrategyID) string {
	if id == 0 || int(id) > len(m.Strategies) {
		return ""
	}
	return m.Strategies[id-1].Name
}

// Core is what an engine of a manifest is made of, with the strategies of this program. A program
// without one of them is a mistake in how it was called.
func (m *Manifest) Core(kinds []strategy.Definition) (*Config, error) {
	catalog, err := m.Catalog()
	if err != nil {
		return nil, fmt.Errorf("the markets of a start: %w", err)
	}
	c := &Config{Catalog: catalog, Limits: m.Limits, Fees: m.Fees, TradeFrom: m.TradeFrom, SaveLimit: m.SaveLimit,
		Run: m.Run}
	for i := range m.Strategies {
		s := &m.Strategies[i]
		plan := backtest.StrategyPlan{Name: s.Name, Values: map[string]any{}, Interval: s.Interval, Limits: s.Limits,
			Own: s.Own, Universe: s.Universe}
		for _, k := range kinds {
			if k.Name == s.Kind {
				plan.Kind = k
			}
		}
		if plan.Kind.Name == "" {
			return nil, config.Usagef(
				"the bot ran strategy %s of kind %q, which this program does not have; replay with "+
					"the program that ran it, or one that has it", s.Name, s.Kind)
		}
		for name, text := range s.Values {
			plan.Values[name] = text
		}
		for _, name := range s.Markets {
			of := catalog.MarketNamed(name)
			if of == nil {
				return nil, fmt.Errorf("strategy %s: %w: market %q is none of its start", s.Name, bolt.ErrCorrupt, name)
			}
			plan.Markets = append(plan.Markets, of)
		}
		c.Strategies = append(c.Strategies, plan)
	}
	return c, nil
}
