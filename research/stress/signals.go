package stress

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// signalsOf are the places of the signals that arrive after a time, if a strategy hears them.
func signalsOf(p *backtest.Plan, from market.Time) (places []int) {
	heard := map[string]bool{}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			continue // the plain run has made the strategy
		}
		for _, source := range needs.Signals {
			heard[source] = true
		}
	}
	for i := range p.Signals {
		if s := &p.Signals[i]; s.Due() > from && heard[s.Source] {
			places = append(places, i)
		}
	}
	return places
}

// parts are the steps of what happens to some signals, and their grades.
var parts = [...]struct{ percent, grade int }{{1, 1}, {5, 2}, {20, 3}}

// partLevels change a part of the signals, drawn anew for each run; change gets whether a signal is
// one of them, by its place.
func (s *stressed) partLevels(change func(list []market.Signal, is []bool) []market.Signal) (levels []level) {
	for _, at := range parts {
		n := min((len(s.signals)*at.percent+99)/100, len(s.signals))
		levels = append(levels, level{label: fmt.Sprintf("%d %%", at.percent), grade: at.grade, runs: draws,
			apply: func(p *backtest.Plan, number int) {
				p.Signals = inOrder(change(slices.Clone(p.Signals), s.draw(len(p.Signals), n, number)))
			}})
	}
	return levels
}

// draw draws n of the signals; a larger n has those of a smaller one.
func (s *stressed) draw(of, n, number int) (is []bool) {
	places := slices.Clone(s.signals)
	slices.SortFunc(places, func(a, b int) int {
		return cmp.Compare(hash(s.job.Seed, uint64(number), uint64(a)), hash(s.job.Seed, uint64(number), uint64(b)))
	})
	is = make([]bool, of)
	for _, at := range places[:n] {
		is[at] = true
	}
	return is
}

// inOrder is signals in the order in which they arrive.
func inOrder(list []market.Signal) []market.Signal {
	slices.SortStableFunc(list, func(a, b market.Signal) int { return cmp.Compare(a.Due(), b.Due()) })
	return list
}

func (s *stressed) lostLevels() ([]level, error) {
	return s.partLevels(func(list []market.Signal, is []bool) (rest []market.Signal) {
		for i := range list {
			if !is[i] {
				rest = append(rest, list[i])
			}
		}
		return rest
	}), nil
}

// again is the time after which a sender without an answer sends once more.
const again = 5 * time.Second

func (s *stressed) doubledLevels() ([]level, error) {
	return s.partLevels(func(list []market.Signal, is []bool) []market.Signal {
		for i := range list[:len(list):len(list)] {
			if is[i] {
				list = append(list, arriving(list[i], list[i].Due().Add(again)))
			}
		}
		return list
	}), nil
}

// arriving is a signal that arrives at another time.
func arriving(s market.Signal, at market.Time) market.Signal {
	s.Arrived = at
	return s
}

func (s *stressed) disorderedLevels() ([]level, error) {
	type place struct {
		source string
		market market.ID
	}
	return s.partLevels(func(list []market.Signal, is []bool) (others []market.Signal) {
		waiting := map[place][]market.Signal{}
		for i := range list {
			at := place{list[i].Source, list[i].Market}
			if is[i] {
				waiting[at] = append(waiting[at], list[i])
				continue
			}
			others = append(others, list[i])
			for _, one := range waiting[at] {
				others = append(others, arriving(one, list[i].Due()))
			}
			delete(waiting, at)
		}
		for i := range list { // those without a next one stay
			if at := (place{list[i].Source, list[i].Market}); is[i] && len(waiting[at]) > 0 {
				others = append(others, waiting[at]...)
				delete(waiting, at)
			}
		}
		return others
	}), nil
}

func (s *stressed) lateLevels() (levels []level, _ error) {
	steps := delays
	if len(s.job.Delays) > 0 || len(s.job.Measured) > 0 {
		steps = nil
	}
	for _, late := range s.job.Delays {
		grade := 1
		for _, at := range delays {
			if late >= at.late {
				grade = at.grade
			}
		}
		steps = append(steps, delay{late, late.String(), grade})
	}
	for _, at := range steps {
		levels = append(levels, level{label: at.text, grade: at.grade, apply: func(p *backtest.Plan, _ int) {
			p.Signals = delayed(p.Signals, func(int) market.Duration { return at.late })
		}})
	}
	if of := s.job.Measured; len(of) > 0 {
		drawn := func(p *backtest.Plan, number int) {
			p.Signals = delayed(p.Signals, func(i int) market.Duration {
				return of[hash(s.job.Seed, uint64(number), uint64(i))%uint64(len(of))]
			})
		}
		levels = append(levels, level{label: "as measured", grade: 1, runs: draws, apply: drawn})
	}
	return levels, nil
}

// delayed is signals that arrive later, by their places. Those that hold no more by then are left
// out.
func delayed(list []market.Signal, by func(int) market.Duration) (others []market.Signal) {
	for i := range list {
		if s := arriving(list[i], list[i].Due().Add(by(i))); s.Holds(s.Arrived) {
			others = append(others, s)
		}
	}
	return inOrder(others)
}
