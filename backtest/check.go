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
	Declared History // the longest declared warm-up of each interval
	Tried    []WarmupTry
	// Enough is the place in Tried of the shortest history from which on the decisions stay the
	// same: 0 is the declared one; -1: the two longest differ.
	Enough int
}

// WarmupTry is one run of CheckWarmup.
type WarmupTry struct {
	History History // before the start
	Same    int     // first decisions from the start on that equal those of the longest history
	Of      int     // decisions of the longest history
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

// CheckWarmup runs the plan from its From (or the middle of its data) with more and more history of
// every series before, and finds the history from which on the decisions stay the same.
func CheckWarmup(ctx context.Context, p *Plan) (*WarmupReport, error) {
	plan := *p
	if plan.From == 0 {
		_, first, last, err := decide(ctx, p, runOptions{})
		if err != nil {
			return nil, err
		}
		plan.From = p.Feeds[0].Interval.Floor(first + (last-first)/2)
	}
	plan.ColdStart = false
	report := &WarmupReport{Declared: Declared(plan.Strategies), Enough: -1}
	var runs []*trail
	for _, more := range [...]int{0, 1, 2, 4, 8, 16} {
		trace, _, _, err := decide(ctx, &plan, runOptions{more: more})
		if err != nil {
			return nil, err
		}
		runs = append(runs, trace)
		report.Tried = append(report.Tried, WarmupTry{History: report.Declared.times(1 + more)})
	}
	report.compare(runs, plan.From)
	return report, nil
}

// compare counts how many first decisions each run shares with that of the longest history.
func (r *WarmupReport) compare(runs []*trail, from market.Time) {
	longest := runs[len(runs)-1].after(from)
	for i := len(runs) - 1; i >= 0; i-- {
		list := runs[i].after(from)
		same := 0
		for same < len(list) && same < len(longest) && list[same].like(&longest[same]) {
			same++
		}
		r.Tried[i].Same, r.Tried[i].Of = same, len(longest)
		agrees := same == len(longest) && len(list) == len(longest)
		if i < len(runs)-1 && agrees && (i == len(runs)-2 || r.Enough == i+1) {
			r.Enough = i
		}
	}
}
