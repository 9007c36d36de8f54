package runner

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

const (
	repeatsWait = time.Minute
	repeatsRest = time.Hour
)

// repeats counts what was refused of one kind since its last journal entry. The first is journalled
// at once; one entry stands for all further ones, after a minute, then after twice as long each
// time, up to an hour. A kind that did not occur for an hour begins anew.
type repeats struct {
	count       int64       // since the last entry
	first, last market.Time // of count; last also of those that are written
	written     market.Time
	wait        market.Duration // from the last entry to the next; 0: the next is written at once
}

// add counts one.
func (s *repeats) add(at market.Time) {
	if s.count++; s.count == 1 {
		s.first = at
	}
	if s.last == 0 || s.count == 1 && at.Sub(s.last) >= repeatsRest {
		s.wait, s.written = 0, at
	}
	s.last = at
}

// due reports whether what is counted is to be written.
func (s *repeats) due(at market.Time) bool { return s.count > 0 && at.Sub(s.written) >= s.wait }

// over reports whether the kind has rested.
func (s *repeats) over(at market.Time) bool { return s.count == 0 && at.Sub(s.last) >= repeatsRest }

// wrote begins to count anew after an entry.
func (s *repeats) wrote() {
	s.written, s.wait = s.last, min(max(2*s.wait, repeatsWait), repeatsRest)
	s.count, s.first = 0, 0
}
