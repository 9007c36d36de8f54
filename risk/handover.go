package risk

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Handover gives a gate's memory of one strategy to another.
type Handover struct {
	From, To string
	Halt     bool                    // a halt of From becomes one of To
	Stayed   map[string]market.Value // profit that stays with From, by market of a position that goes over
	Markets  map[string]market.Units // of these
}

// Apply returns the memory after the handover, as Save writes it. Orders of the last minute are
// those of both, a cool-down ends when the later one does, and a row of losses is the longer one.
// Whether the next sale of a position that goes over is a win or a loss does not change.
func (h *Handover) Apply(data []byte) ([]byte, error) {
	var s SavedGate
	if err := market.ParseSaved(data, savedVersion, &s); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	if s.Strategies == nil {
		s.Strategies = map[string]SavedSlot{}
	}
	from, to := s.Strategies[h.From], s.Strategies[h.To]
	delete(s.Strategies, h.From)
	to.Halted = to.Halted || h.Halt && from.Halted
	to.Sent = slices.Sorted(slices.Values(append(slices.Clone(to.Sent), from.Sent...)))
	to.Losses, to.CoolTill = max(to.Losses, from.Losses), max(to.CoolTill, from.CoolTill)
	if to.Realised == nil {
		to.Realised = map[string]market.Value{}
	}
	for name, stayed := range h.Stayed {
		if s.Markets == nil {
			s.Markets = map[string]market.Units{}
		}
		sum, err := to.Realised[name].Add(from.Realised[name])
		if err == nil {
			sum, err = sum.Sub(stayed)
		}
		if err != nil {
			return nil, fmt.Errorf("gate: profit in %s: %w", name, err)
		}
		to.Realised[name], s.Markets[name] = sum, h.Markets[name]
	}
	to.Refused, to.Codes = added(to.Refused, from.Refused), added(to.Codes, from.Codes)
	s.Strategies[h.To] = to
	return market.AppendSaved(nil, savedVersion, &s)
}

// added are the sums of two counts.
func added[K comparable](to, from map[K]int64) map[K]int64 {
	sum := maps.Clone(to)
	if sum == nil {
		sum = map[K]int64{}
	}
	for of, n := range from {
		sum[of] += n
	}
	return sum
}
