package backtest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// decide runs the plan without a recorder and returns its decisions, and the first and last close.
func decide(ctx context.Context, p *Plan, o runOptions) (trace *trail, first, last market.Time, err error) {
	trace = &trail{}
	o.tracer = trace.add
	o.began = func(d *driver) {
		trace.list, first = trace.list[:0], 0
		for i := range d.feeds {
			if f := &d.feeds[i]; len(f.batch) > 0 && (first == 0 || f.end < first) {
				first = f.end
			}
		}
	}
	d, err := drive(ctx, p, o)
	if err != nil {
		return nil, 0, 0, err
	}
	return trace, first, d.last, nil
}

// WarmupReport is the result of CheckWarmup. Two runs decide the same where their commands follow
// the same candles and are equal, but for prices that differ by up to 0.1 % and amounts that differ
// by up to 1 %.
type WarmupReport struct {
	Declared History       // the longest declared warm-up of each interval
	Starts   []market.Time // places in the data from which each history was run
	Tried    []WarmupTry   // the shortest history first
	// Short: the longest history that was tried is all that is stored before the first start.
	Short bool
	// Enough is the place in Tried of the shortest history from which on the decisions stay the
	// same at all starts: 0 is the declared one; -1: the two longest differ.
	Enough int
	// Next is the check of the history that this one found, as if it were declared, or of the
	// longest one, which did not suffice; nil: the declared one passes, or no check of more is
	// possible.
	Next *WarmupReport
}

// Last is the last check of a report. Where its Enough is 0 and it has decisions, its Declared
// passes.
func (r *WarmupReport) Last() *WarmupReport {
	for r.Next != nil {
		r = r.Next
	}
	return r
}

// WarmupTry is a history of CheckWarmup, with its runs from all starts.
type WarmupTry struct {
	History History // before each start
	Same    int     // first decisions from the starts on that equal those of the longest history
	Of      int     // decisions of the longest history
	Agree   int     // starts at which all decisions equal those of the longest history
	times   int     // warm-ups of the check
}

// History is a number of candles of each interval, the shortest interval first.
type History []IntervalCandles

// IntervalCandles is a number of candles of one interval.
type IntervalCandles struct {
	Interval market.Interval
	Candles  int
}

// String is the number of candles, or with several intervals such as "166 1h and 69 1d".
func (h History) String() string {
	parts := make([]string, len(h))
	for i, c := range h {
		if parts[i] = strconv.Itoa(c.Candles); len(h) > 1 {
			parts[i] += " " + c.Interval.String()
		}
	}
	return strings.Join(parts, " and ")
}

// longest is the most candles of an interval.
func (h History) longest() (candles int) {
	for _, c := range h {
		candles = max(candles, c.Candles)
	}
	return candles
}

// times is a multiple of a history.
func (h History) times(n int) History {
	more := slices.Clone(h)
	for i := range more {
		more[i].Candles *= n
	}
	return more
}

// Declared is the longest warm-up of strategies in each interval that they receive.
func Declared(strategies []StrategyPlan) (h History) {
	for i := range strategies {
		s := &strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			continue
		}
		for _, c := range needs.Of(s.Interval) {
			at, found := slices.BinarySearchFunc(h, c.Interval,
				func(have IntervalCandles, want market.Interval) int { return cmp.Compare(have.Interval, want) })
			if !found {
				h = slices.Insert(h, at, IntervalCandles{Interval: c.Interval})
			}
			h[at].Candles = max(h[at].Candles, c.Warmup)
		}
	}
	return h
}
