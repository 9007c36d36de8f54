package signal

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
)

// Core is the engine as its signals see it.
type Core interface {
	port.Strategies
	// CallSignal calls OnSignal of a strategy that has it. A strategy that is halted or not started
	// yet is not awake, and is not called.
	CallSignal(id market.StrategyID, s *market.Signal) (awake bool)
}

// Set is the signals of an engine. It is a plain value owned by the engine's goroutine.
type Set struct {
	core    Core
	catalog *market.Catalog
	clock   *market.Time // arrival of the current event
	wanted  [][]string   // by strategy: sources
	last    map[place]market.Signal

	called, deaf []market.StrategyID // of the latest Hear
}

// place is what a signal is about.
type place struct {
	source string
	market market.ID
}

// Saved is the latest signal of a place, as it is saved: of its market the name.
type Saved struct {
	Market string `json:"on,omitempty"`
	market.Signal
}

// New is a set of strategies that hear nothing. clock is the engine's.
func New(core Core, catalog *market.Catalog, clock *market.Time) *Set {
	return &Set{core: core, catalog: catalog, clock: clock, last: map[place]market.Signal{}}
}

// Begin adds the next strategy, which hears some sources.
func (s *Set) Begin(sources []string) { s.wanted = append(s.wanted, sources) }

// Want changes the sources that a strategy hears.
func (s *Set) Want(id market.StrategyID, sources []string) { s.wanted[id-1] = sources }

// Hear keeps a signal, and calls the strategies that want it. It returns them, first those that may
// be called. The lists are valid until the next one.
func (s *Set) Hear(heard *market.Signal) (called, deaf []market.StrategyID) {
	s.called, s.deaf = s.called[:0], s.deaf[:0]
	s.core.Changed()
	at := place{heard.Source, heard.Market}
	if last, known := s.last[at]; !known || !newer(&last, heard) {
		s.last[at] = *heard
	}
	for i, sources := range s.wanted {
		id := market.StrategyID(i + 1)
		if slices.Contains(sources, heard.Source) &&
			(heard.Market == 0 || slices.Contains(s.core.Markets(id), heard.Market)) {
			if s.core.CallSignal(id, heard) {
				s.called = append(s.called, id)
			} else {
				s.deaf = append(s.deaf, id)
			}
		}
	}
	return s.called, s.deaf
}

// newer reports whether a is about a later time than b, or was known later of the same.
func newer(a, b *market.Signal) bool {
	return a.Time > b.Time || a.Time == b.Time && a.Known > b.Known
}

// Last is the signal of a source that holds for a market now; heard is false where there is none.
func (s *Set) Last(source string, m market.ID) (last market.Signal, heard bool) {
	last, heard = s.last[place{source, m}]
	if all, known := s.last[place{source, 0}]; known && (!heard || newer(&all, &last)) {
		last, heard = all, true
	}
	if !heard || !last.Holds(*s.clock) {
		return market.Signal{}, false
	}
	return last, true
}

// Latest is the latest signal of a source about a market, or about all where m is 0, also one that
// holds no more.
func (s *Set) Latest(source string, m market.ID) (last market.Signal, heard bool) {
	last, heard = s.last[place{source, m}]
	return last, heard
}

// Numbers are those of the signals that hold now of what a strategy hears about a market.
func (s *Set) Numbers(id market.StrategyID, m market.ID) (numbers []int64) {
	for _, source := range s.wanted[id-1] {
		if last, holds := s.Last(source, m); holds {
			numbers = append(numbers, last.Number)
		}
	}
	return numbers
}

// Save is the latest signals, sorted.
func (s *Set) Save() (saved []Saved) {
	places := slices.SortedFunc(maps.Keys(s.last), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.market, b.market))
	})
	for _, at := range places {
		one := Saved{Signal: s.last[at]}
		if at.market != 0 {
			one.Market = s.catalog.Market(at.market).Name
		}
		one.Signal.Market = 0
		saved = append(saved, one)
	}
	return saved
}

// Restore takes over saved signals, but for those of markets that are gone.
func (s *Set) Restore(saved []Saved) {
	for i := range saved {
		one := saved[i].Signal
		if one.Market = 0; saved[i].Market != "" {
			m := s.catalog.MarketNamed(saved[i].Market)
			if m == nil {
				continue
			}
			one.Market = m.ID
		}
		s.last[place{one.Source, one.Market}] = one
	}
}
