package warmup

import "github.com/tidemark-trading/tidemark/market"

// Starter is the engine as its histories see it.
type Starter interface {
	// CallStart calls OnStart of a strategy.
	CallStart(id market.StrategyID)
}

// History is the part of the candles before trading that a strategy sees.
type History struct {
	id        market.StrategyID
	markets   []market.ID
	intervals []market.Interval
	warmup    []int         // by place in intervals: candles in the strategy's warm-up
	from      []market.Time // by market and interval: candles that start earlier are hidden; nil: none are
	starts    market.Time   // of the first candle that it sees, or of trading
	starting  bool          // OnStart is still to be called, at starts
}

// Histories is the views of all strategies of an engine. It is a plain value owned by the engine's
// goroutine.
type Histories struct {
	core    Starter
	clock   *market.Time // arrival of the current event
	markets int          // of the catalog
	all     []*History   // by strategy
	waiting int          // strategies whose history has not begun
}

// NewHistories is a set without views. clock is the engine's.
func NewHistories(core Starter, clock *market.Time, catalog *market.Catalog) *Histories {
	return &Histories{core: core, clock: clock, markets: len(catalog.Markets())}
}

// Begin makes v the view of the next strategy. It hides nothing yet. warmup has, by place in the
// strategy's intervals, the number of candles in its warm-up.
func (s *Histories) Begin(v *History, markets []market.ID, of []market.Interval, warmup []int) {
	*v = History{id: market.StrategyID(len(s.all) + 1), markets: markets, intervals: of, warmup: warmup}
	s.all = append(s.all, v)
}

// Hides reports whether a candle lies before the strategy's history.
func (v *History) Hides(c *market.Candle) bool {
	return v.from != nil && c.Start < v.from[int(c.Market)*market.IntervalSlots+int(c.Interval)]
}

// Starting reports whether OnStart of the strategy is still to be called.
func (v *History) Starting() bool { return v.starting }

// hide hides the candles of a series that start before from. The series begins at starts.
func (v *History) hide(markets int, m market.ID, interval market.Interval, from, starts market.Time) {
	if v.from == nil {
		v.from, v.starts = make([]market.Time, (markets+1)*market.IntervalSlots), starts
	}
	v.from[int(m)*market.IntervalSlots+int(interval)] = from
	v.starts = min(v.starts, starts)
}

// Hide hides the candles of a series that start before a time from a strategy: another strategy has
// a longer warm-up. OnStart is called at the earliest of a strategy's times.
func (s *Histories) Hide(id market.StrategyID, m market.ID, interval market.Interval, before market.Time) {
	s.all[id-1].hide(s.markets, m, interval, before, before)
}

// See gives each strategy its own warm-up: of each of its series it sees the latest candles of
// history that its warm-up needs, and none before them. A series without any begins at the time at.
func (s *Histories) See(history []market.Candle, at market.Time) {
	if len(history) == 0 || len(s.all) == 1 {
		return
	}
	for _, v := range s.all {
		for _, m := range v.markets {
			for place, interval := range v.intervals {
				from, any := latest(history, m, interval, v.needs(place))
				if any {
					v.hide(s.markets, m, interval, from, from)
				} else {
					v.hide(s.markets, m, interval, from, at)
				}
			}
		}
	}
}

// needs is the number of candles of an interval, by its place, in the strategy's warm-up.
func (v *History) needs(place int) int {
	if place < len(v.warmup) {
		return v.warmup[place]
	}
	return 0
}

// latest is the start of the first of the latest n candles of a series. any reports whether there
// is one; without any, from is the end of the series.
func latest(history []market.Candle, m market.ID, interval market.Interval, n int) (from market.Time, any bool) {
	for i := len(history) - 1; i >= 0; i-- {
		c := &history[i]
		switch {
		case c.Market != m || c.Interval != interval:
		case n == 0:
			return max(from, c.End()), any
		default:
			from, any, n = c.Start, true, n-1
		}
	}
	return from, any
}

// Waiting is the number of strategies whose history has not begun.
func (s *Histories) Waiting() int { return s.waiting }

// Await notes the strategies whose history begins after a time.
func (s *Histories) Await(at market.Time) {
	for _, v := range s.all {
		if v.from != nil && v.starts > at {
			v.starting = true
			s.waiting++
		}
	}
}

// Start calls OnStart of the strategies whose history begins up to the engine's time, each at its
// own time. was is the time of the event before.
func (s *Histories) Start(was market.Time) {
	at := *s.clock
	for _, v := range s.all {
		if v.starting && v.starts <= at {
			v.starting = false
			s.waiting--
			*s.clock = max(was, v.starts)
			s.core.CallStart(v.id)
		}
	}
	*s.clock = at
}

// Due is the time of the next OnStart; false: there is none.
func (s *Histories) Due() (at market.Time, waits bool) {
	for _, v := range s.all {
		if v.starting && (!waits || v.starts < at) {
			at, waits = v.starts, true
		}
	}
	return at, waits
}
