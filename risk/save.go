package risk

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// savedVersion is the version of SavedGate.
const savedVersion = 1

// SavedGate is a Gate's memory: strategies and markets by name. Limits come from the config and are
// not saved.
type SavedGate struct {
	Markets    map[string]market.Units `json:"markets,omitempty"`
	Currency   string                  `json:"currency,omitempty"`
	Digits     uint8                   `json:"digits,omitempty"` // of Currency
	Now        market.Time             `json:"now,omitzero"`
	Equity     SavedEquity             `json:"equity,omitzero"`
	Strategies map[string]SavedSlot    `json:"strategies,omitempty"`
}

// SavedEquity is the use of the limits on the account's equity, in units of the account's currency.
type SavedEquity struct {
	Day       int64        `json:"day"`
	DayStart  market.Money `json:"dayStart"`
	HighWater market.Money `json:"highWater"`
	Latest    market.Money `json:"latest"`
	Lost      bool         `json:"dailyLossReached,omitzero"` // the daily loss is used up
	Drawn     bool         `json:"drawdownReached,omitzero"`  // the drawdown was reached
}

// SavedSlot is the gate's memory of a strategy.
type SavedSlot struct {
	Halted bool `json:"halted,omitzero"`
	// Sent are the places and updates that count towards orders_per_minute, oldest first.
	Sent     []market.Time           `json:"sent,omitempty"`
	Losses   int                     `json:"losses,omitzero"`
	CoolTill market.Time             `json:"coolTill,omitzero"`
	Realised map[string]market.Value `json:"realised,omitempty"` // at the last count of a win or a loss
	Refused  map[string]int64        `json:"refused,omitempty"`  // by Reason
	Codes    map[int]int64           `json:"codes,omitempty"`    // refusals by the exchange's error code
}

// Save appends the gate's memory for Restore, as readable text. strategies are the names of the
// strategies by StrategyID − 1. The same memory gives the same bytes.
func (g *Gate) Save(dst []byte, strategies []string) ([]byte, error) {
	s := SavedGate{Markets: map[string]market.Units{}, Strategies: map[string]SavedSlot{}, Now: g.now}
	if w := &g.equity; w.started {
		currency := g.catalog.Asset(g.account.Currency)
		s.Currency, s.Digits = currency.Symbol, currency.Digits
		s.Equity = SavedEquity{Day: w.day, DayStart: w.dayStart, HighWater: w.highWater, Latest: w.latest, Lost: w.lost,
			Drawn: w.drawn}
	}
	for i, name := range strategies {
		slot := &g.slots[i+1]
		saved := SavedSlot{Halted: slot.halted, Losses: slot.losses, CoolTill: slot.coolTill,
			Realised: map[string]market.Value{}, Refused: map[string]int64{}, Codes: slot.codes}
		for at := range slot.sent {
			if sent := slot.sent[(slot.sentAt+at)%len(slot.sent)]; sent != 0 {
				saved.Sent = append(saved.Sent, sent)
			}
		}
		for _, m := range g.catalog.Markets() {
			if slot.realised[m.ID].Sign() != 0 {
				saved.Realised[m.Name], s.Markets[m.Name] = slot.realised[m.ID], m.Units()
			}
		}
		for reason, n := range slot.refused {
			if n > 0 {
				saved.Refused[Reason(reason).String()] = n
			}
		}
		s.Strategies[name] = saved
	}
	return market.AppendSaved(dst, savedVersion, &s)
}

// Changed reports whether the memory differs from the last Saved, apart from the latest equity and
// the counts of refusals, which may be lost.
func (g *Gate) Changed() bool { return g.changed }

// Saved notes that the result of Save is durable.
func (g *Gate) Saved() { g.changed = false }

// Restore restores a saved memory; the present limits apply to it. Strategies and markets that are
// no longer there are forgotten. Another account currency, or other units, are an error; the gate
// is then unchanged.
func (g *Gate) Restore(data []byte, strategies []string) error {
	var s SavedGate
	if err := market.ParseSaved(data, savedVersion, &s); err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	if err := g.checkSaved(&s, strategies); err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	g.now, g.equity, g.changed = s.Now, equityWatch{}, false
	if e := s.Equity; s.Currency != "" {
		g.equity = equityWatch{day: e.Day, dayStart: e.DayStart, highWater: e.HighWater, latest: e.Latest,
			started: true, lost: e.Lost, drawn: e.Drawn, savedAt: s.Now}
	}
	for i, name := range strategies {
		if saved, known := s.Strategies[name]; known {
			g.restoreSlot(&g.slots[i+1], &saved)
		}
	}
	return nil
}

// checkSaved returns why s cannot be restored.
func (g *Gate) checkSaved(s *SavedGate, strategies []string) error {
	if len(strategies) != len(g.slots)-1 {
		return fmt.Errorf("%d strategies have %d names", len(g.slots)-1, len(strategies))
	}
	if currency := g.account.Currency; s.Currency != "" {
		if currency == 0 {
			return fmt.Errorf("the account's currency was %s and now is none", s.Currency)
		}
		if now := g.catalog.Asset(currency); now.Symbol != s.Currency || now.Digits != s.Digits {
			return fmt.Errorf("the account's currency was %s with %d decimals and now is %s with %d", s.Currency,
				s.Digits, now.Symbol, now.Digits)
		}
	}
	for _, name := range strategies {
		saved := s.Strategies[name]
		for _, in := range slices.Sorted(maps.Keys(saved.Realised)) {
			if _, listed := s.Markets[in]; !listed {
				return fmt.Errorf("strategy %q in %q has no units", name, in)
			}
		}
		for _, reason := range slices.Sorted(maps.Keys(saved.Refused)) {
			if reasonNamed(reason) == 0 {
				return fmt.Errorf("strategy %q was refused for %q, which is no reason", name, reason)
			}
		}
	}
	return g.catalog.CheckUnits(s.Markets)
}

func (g *Gate) restoreSlot(slot *slot, s *SavedSlot) {
	slot.halted, slot.losses, slot.coolTill = s.Halted, s.Losses, s.CoolTill
	clear(slot.sent)
	slot.sentAt = 0
	if n := len(slot.sent); n > 0 {
		slot.sentAt = copy(slot.sent, s.Sent[max(0, len(s.Sent)-n):]) % n
	}
	clear(slot.realised)
	for name, realised := range s.Realised {
		if m := g.catalog.MarketNamed(name); m != nil {
			slot.realised[m.ID] = realised
		}
	}
	slot.refused = [reasons]int64{}
	for reason, n := range s.Refused {
		slot.refused[reasonNamed(reason)] = n
	}
	clear(slot.codes)
	maps.Copy(slot.codes, s.Codes)
}

// reasonNamed is the Reason with a name, 0 for none.
func reasonNamed(name string) Reason {
	for r := Reason(1); r < reasons; r++ {
		if r.String() == name {
			return r
		}
	}
	return 0
}
