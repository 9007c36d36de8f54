package placebo

import (
	"errors"
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// leastTurns is the smallest number of different turns: fewer never show a p of 0.05.
const leastTurns = 20

// errUnheard means that there are no signals to turn.
var errUnheard = errors.New("no strategy hears signals: there is nothing to turn; alter the candles instead")

// noteSignals notes what of a plan says how signals can be turned.
func (d *Data) noteSignals(p *backtest.Plan) error {
	for i := range p.Strategies {
		s := &p.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			return err
		}
		if len(needs.Signals) > 0 {
			d.main = max(d.main, s.Interval)
		}
	}
	d.heard = d.heard || d.main != 0 && len(p.Signals) > 0
	return nil
}

// circle is the range in which signals turn: those that a turn moves over its end come in at its
// beginning.
type circle struct {
	from, to market.Time
	step     market.Time // the least turn
}

// close finds the circle, once the candles were read. It is whole steps long, so that a signal that
// was known at a close is known at one after each turn.
func (d *Data) close() error {
	step := market.Time(24 * time.Hour)
	if fixed := d.main.Fixed(); fixed != 0 {
		step = market.Time(fixed)
	}
	if d.rules.Keep > 0 {
		step = market.Time(d.rules.Keep)
	}
	if week := market.Time(hoursOfWeek * time.Hour); d.rules.SeasonalDrift {
		step *= week / common(step, week)
	}
	c := circle{step: step}
	for _, m := range d.models {
		if m.number > 0 && (c.to == 0 || m.first < c.from) {
			c.from = m.first
		}
		c.to = max(c.to, m.end)
	}
	c.to = c.from + (c.to-c.from+step-1)/step*step
	if d.circle = c; c.number() < leastTurns {
		return fmt.Errorf("the candles last %d steps of %s, by whole numbers of which signals are turned: fewer than "+
			"%d turns never show a p of 0.05; take a longer range, or a shorter step", c.number(), time.Duration(step),
			leastTurns)
	}
	return nil
}

// common is the greatest common divisor of two times above 0.
func common(a, b market.Time) market.Time {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// number is the number of different turns: that by nothing is one of them.
func (c circle) number() int64 { return int64((c.to - c.from) / c.step) }

// turnBy is by how much a surrogate turns the signals.
func (s *Surrogate) turnBy() market.Time {
	c := s.data.circle
	return market.Time(s.salt%uint64(c.number())) * c.step
}

// signals are the turned signals of a plan. Plans that share theirs share the turned ones too.
func (s *Surrogate) signals(list []market.Signal) []market.Signal {
	if len(list) == 0 {
		return nil
	}
	if s.turnedOf != &list[0] || s.turnedLen != len(list) {
		s.turned = s.data.circle.turn(list, s.turnBy())
		s.turnedOf, s.turnedLen = &list[0], len(list)
	}
	return s.turned
}

// about is what a signal is about: the next one of the same takes its place.
type about struct {
	source string
	market market.ID
}

func aboutOf(s *market.Signal) about { return about{s.Source, s.Market} }

// turn turns signals by a time inside the circle. Distances, order and states stay: each place
// begins with the signal that holds there, as the data does.
func (c circle) turn(list []market.Signal, by market.Time) []market.Signal {
	ring := c.cut(list)
	wraps := len(ring)
	for wraps > 0 && ring[wraps-1].Known+by >= c.to {
		wraps--
	}
	var turned []market.Signal
	for i := range ring[wraps:] {
		turned = append(turned, moved(ring[wraps+i], by-(c.to-c.from)))
	}
	for i := range ring[:wraps] {
		turned = append(turned, moved(ring[i], by))
	}
	last := map[about]int{}
	for i := range turned {
		last[aboutOf(&turned[i])] = i
	}
	var old []market.Signal
	for i := range turned {
		if s := &turned[i]; last[aboutOf(s)] == i && s.Holds(c.to) {
			old = append(old, moved(*s, c.from-c.to))
		}
	}
	return append(old, turned...)
}

// cut cuts the signals at the ends of the circle. Those that hold at its beginning begin there. A
// place without such a signal ends with the circle: it begins with none.
func (c circle) cut(list []market.Signal) (ring []market.Signal) {
	n := 0
	last := map[about]int{}
	for ; n < len(list) && list[n].Known <= c.from; n++ {
		last[aboutOf(&list[n])] = n
	}
	began := map[about]bool{}
	for i := range list[:n] {
		s := list[i]
		if at := aboutOf(&s); last[at] == i && s.Holds(c.from) {
			s.Known, began[at] = c.from, true
			ring = append(ring, s)
		}
	}
	clear(last)
	for _, s := range list[n:] {
		if s.Known >= c.to {
			break
		}
		last[aboutOf(&s)] = len(ring)
		ring = append(ring, s)
	}
	for i := range ring {
		if s := &ring[i]; last[aboutOf(s)] == i && !began[aboutOf(s)] && s.Holds(c.to) {
			s.Until = c.to
		}
	}
	return ring
}

// moved is a signal that comes later by a time, and is about a later one.
func moved(s market.Signal, by market.Time) market.Signal {
	s.Time, s.Known = s.Time+by, s.Known+by
	if s.Until != 0 {
		s.Until += by
	}
	if s.Arrived != 0 {
		s.Arrived += by
	}
	return s
}
