package timer

import (
	"time"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
)

// Core is the engine as its timers see it.
type Core interface {
	port.Strategies
	// Ring calls OnTimer of a strategy, if it has one.
	Ring(id market.StrategyID, name int64)
	// Overran halts a strategy whose timers set one another for now without end.
	Overran(id market.StrategyID, rounds int)
}

// Saved is a timer of a strategy, as it is saved.
type Saved struct {
	Strategy string      `json:"strategy"`
	At       market.Time `json:"at"`
	Name     int64       `json:"name"`
}

type timer struct {
	at       market.Time
	strategy market.StrategyID
	name     int64
	chain    int // number of timers before it that each set the next for now
}

// Set is the timers of all strategies of an engine. It is a plain value owned by the engine's
// goroutine.
type Set struct {
	core    Core
	clock   *market.Time // arrival of the current event
	rounds  int          // most timers in a row that each set the next for now
	all     []timer      // in the order in which they ring
	ringing *timer       // its OnTimer is being called; nil: none
	overran bool         // the timer that is ringing is the last of a row that is too long
}

// New is a set without timers. clock is the engine's. rounds is how many timers in a row may each
// set the next for now.
func New(core Core, clock *market.Time, rounds int) *Set {
	return &Set{core: core, clock: clock, rounds: rounds}
}

// soon is how far ahead a timer still counts as due now.
const soon = market.Time(time.Millisecond)

// Len is the number of timers.
func (s *Set) Len() int { return len(s.all) }

// Add adds a timer. Timers of one time ring in the order in which they were added. A strategy
// whose timers each set another for now is halted after a number of them: otherwise time would
// never advance.
func (s *Set) Add(id market.StrategyID, at market.Time, name int64) {
	s.core.Changed()
	t := timer{at: at, strategy: id, name: name}
	if s.ringing != nil && s.ringing.strategy == id && at < *s.clock+soon {
		if t.chain = s.ringing.chain + 1; t.chain > s.rounds {
			s.overran = true
			return
		}
	}
	place := len(s.all)
	for place > 0 && s.all[place-1].at > at {
		place--
	}
	s.all = append(s.all, timer{})
	copy(s.all[place+1:], s.all[place:])
	s.all[place] = t
}

// Due is the time of the next timer; false: there is none.
func (s *Set) Due() (at market.Time, waits bool) {
	if len(s.all) == 0 {
		return 0, false
	}
	return s.all[0].at, true
}

// Ring calls the strategies whose timers are due. A timer that one of these calls adds rings with
// the next event.
func (s *Set) Ring() {
	due := 0
	for due < len(s.all) && s.all[due].at <= *s.clock {
		due++
	}
	if due == 0 {
		return
	}
	s.core.Changed()
	ringing := append([]timer(nil), s.all[:due]...)
	s.all = append(s.all[:0], s.all[due:]...)
	for i := range ringing {
		t := &ringing[i]
		s.ringing, s.overran = t, false
		s.core.Ring(t.strategy, t.name)
		s.ringing = nil
		if s.overran {
			s.core.Overran(t.strategy, s.rounds)
		}
	}
}

// Save is the timers in the order in which they ring.
func (s *Set) Save() (saved []Saved) {
	for i := range s.all {
		t := &s.all[i]
		saved = append(saved, Saved{Strategy: s.core.Name(t.strategy), At: t.at, Name: t.name})
	}
	return saved
}

// Restore adds saved timers, but for those of strategies that are gone.
func (s *Set) Restore(saved []Saved) {
	for i := range saved {
		if id, _ := s.core.Named(saved[i].Strategy); id != 0 {
			s.Add(id, saved[i].At, saved[i].Name)
		}
	}
}
