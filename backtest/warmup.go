package backtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// historiesOf are the histories that a check tries, in warm-ups of so many candles: up to 17, and
// on until one is long by itself.
func historiesOf(candles int) []int {
	list := []int{1, 2, 3, 5, 9, 17}
	for n := 34; candles > 0 && list[len(list)-1]*candles < longHistory; n *= 2 {
		list = append(list, n)
	}
	return list
}

const (
	longHistory  = 1000      // candles of the longest history, where its warm-up is shorter than a 17th of them
	warmupStarts = 12        // places in the data from which CheckWarmup runs a plan, at most
	warmupRuns   = 4         // runs over all candles that CheckWarmup costs at most…
	warmupFloor  = 1_000_000 // …where that many closes are exceeded
)

// CheckWarmup runs the plan from up to twelve starts that are spread over its range, each with more
// and more history of every series before, and finds the history from which on the decisions stay
// the same at all starts. A run ends before the next start. All runs together cost at most four
// runs over all candles, or a million closes: where the warm-up is long, there are fewer starts.
//
// A history that is found is checked as if it were declared, and so is the longest one where it
// does not suffice: WarmupReport.Next. So a number that the check names passes it.
//
// The first start has room for the longest history before it, if that leaves half of the range. It
// is an error if less than the declared warm-up, or nothing beyond it, is stored before.
func CheckWarmup(ctx context.Context, p *Plan) (*WarmupReport, error) {
	first, err := checkWarmup(ctx, p, 1)
	base := 1
	for last := first; err == nil; last = last.Next {
		further := last.further()
		if further == 0 {
			break
		}
		base *= further
		if last.Next, err = checkWarmup(ctx, p, base); errors.Is(err, errHistory) {
			return first, nil // no check of that number is possible
		}
	}
	return first, err
}

// further is the history to check next, in warm-ups of this check; 0: there is none.
func (r *WarmupReport) further() int {
	switch longest := &r.Tried[len(r.Tried)-1]; {
	case r.Enough == 0, longest.Of == 0, r.Enough < 0 && r.Short:
		return 0
	case r.Enough > 0:
		return r.Tried[r.Enough].times
	default:
		return longest.times
	}
}

// checkWarmup is CheckWarmup of a plan as if it declared so many of its warm-ups.
func checkWarmup(ctx context.Context, p *Plan, base int) (*WarmupReport, error) {
	plan := *p
	plan.ColdStart = false
	declared := Declared(p.Strategies).times(base)
	w := &warmupCheck{plan: &plan, base: base, histories: historiesOf(declared.longest()),
		report: &WarmupReport{Declared: declared, Enough: -1}}
	if err := w.survey(); err != nil {
		return nil, err
	}
	starts, length := w.starts()
	if err := w.choose(starts[0]); err != nil {
		return nil, err
	}
	for _, start := range starts {
		if err := w.run(ctx, start, min(start+length, w.last)); err != nil {
			return nil, err
		}
	}
	if len(w.report.Starts) == 0 {
		return nil, ErrNoCandles
	}
	w.report.judge()
	return w.report, nil
}

// warmupCheck is one running CheckWarmup.
type warmupCheck struct {
	plan        *Plan
	base        int   // declared warm-ups that make one of the check
	histories   []int // to try, in warm-ups of the check
	report      *WarmupReport
	first, last market.Time // of all that is stored, up to the range's end
}

// survey finds the first stored candle and the end of the range.
func (w *warmupCheck) survey() error {
	for _, f := range w.plan.Feeds {
		first, last, _, err := w.read(f, w.plan.To)
		if err != nil {
			return err
		}
		if last > 0 && (w.first == 0 || first < w.first) {
			w.first = first
		}
		w.last = max(w.last, last)
	}
	if w.last <= max(w.first, w.plan.From) {
		return ErrNoCandles
	}
	return nil
}

// read reads a series from its first candle on: the start of that candle, the end of the last one
// before to, and the number of both and all between.
func (w *warmupCheck) read(f Feed, to market.Time) (first, last market.Time, count int, err error) {
	source, err := w.plan.Open(f, 0, to)
	if err != nil {
		return 0, 0, 0, err
	}
	defer source.Close()
	s := feed{Feed: f, source: source, length: market.Time(f.Interval.Fixed())}
	for err = s.fill(); err == nil && len(s.batch) > 0; err = s.fill() {
		if count == 0 {
			first = s.batch[0].Start
		}
		last, count = s.last, count+len(s.batch)
	}
	return first, last, count, err
}

// starts are the starts of the runs, and the length of a run.
func (w *warmupCheck) starts() (list []market.Time, length market.Time) {
	interval := w.plan.Feeds[0].Interval // the shortest: sorted first
	candle, span := interval.End(0), market.Time(0)
	for _, c := range w.report.Declared {
		span = max(span, c.Interval.End(0)*market.Time(c.Candles))
	}
	from := max(w.plan.From, w.first)
	if room := w.first + span*market.Time(slices.Max(w.histories)); from < room {
		from = min(room, from+(w.last-from)/2)
	}
	budget := max(warmupRuns*(w.last-max(w.plan.From, w.first)), warmupFloor*candle)
	each := market.Time(0) // history that the runs of a start read
	for _, times := range w.histories {
		each += span * market.Time(times)
	}
	number := min(max(budget/2/max(each, 1), 1), warmupStarts)
	apart := (w.last - from) / number
	length = min(apart, max((budget/number-each)/market.Time(len(w.histories)), apart/market.Time(len(w.histories))))
	for i := range number {
		if at := max(interval.Floor(from+apart*i), w.first); len(list) == 0 || at > list[len(list)-1] {
			list = append(list, at)
		}
	}
	return list, max(length, candle)
}

// stored is how many candles of each declared interval are stored before a time, in the market with
// the most.
func (w *warmupCheck) stored(before market.Time) (h History, err error) {
	h = w.report.Declared.times(0)
	for _, f := range w.plan.Feeds {
		at := slices.IndexFunc(h, func(c IntervalCandles) bool { return c.Interval == f.Interval })
		if at < 0 || !f.Deliver {
			continue
		}
		_, _, count, err := w.read(f, before)
		if err != nil {
			return nil, err
		}
		h[at].Candles = max(h[at].Candles, count)
	}
	return h, nil
}

// errHistory begins the errors of a check for which too few candles are stored.
var errHistory = errors.New("only")

// choose lists the histories to try. None of them is longer than the stored one before the first
// start.
func (w *warmupCheck) choose(first market.Time) error {
	r := w.report
	stored, err := w.stored(first)
	if err != nil {
		return err
	}
	none := !slices.ContainsFunc(r.Declared, func(c IntervalCandles) bool { return c.Candles > 0 })
	for i, times := range w.histories {
		h := r.Declared.times(times)
		for k := range h {
			have := stored[k].Candles
			if i == 0 && have < h[k].Candles {
				return fmt.Errorf("%w %d %s candles are stored before %s, and the warm-up needs %d: begin later, or "+
					"get more candles", errHistory, have, h[k].Interval, first, h[k].Candles)
			}
			room := market.Time(h[k].Candles) * h[k].Interval.End(0)
			r.Short = r.Short || have < h[k].Candles && first-w.first < room // else there are holes
			h[k].Candles = min(h[k].Candles, have)
		}
		if i > 0 && slices.Equal(h, r.Tried[i-1].History) {
			break
		}
		r.Tried = append(r.Tried, WarmupTry{History: h, times: times})
	}
	if len(r.Tried) == 1 && !none {
		return fmt.Errorf("%w %s candles are stored before %s: no longer history than the declared one can be "+
			"tried; begin later, or get more candles", errHistory, r.Declared, first)
	}
	return nil
}

// run runs the plan over a part of its range with each history, and compares.
func (w *warmupCheck) run(ctx context.Context, from, to market.Time) error {
	plan := *w.plan
	plan.From, plan.To = from, to
	runs := make([]*trail, len(w.report.Tried))
	for i := range runs {
		trace, _, _, err := decide(ctx, &plan, runOptions{more: w.base*w.report.Tried[i].times - 1})
		if errors.Is(err, ErrNoCandles) && i == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		runs[i] = trace
	}
	w.report.Starts = append(w.report.Starts, from)
	w.report.compare(runs, from)
	return nil
}

// compare counts how many first decisions the runs from a start share with that of the longest
// history.
func (r *WarmupReport) compare(runs []*trail, from market.Time) {
	longest := runs[len(runs)-1].after(from)
	for i := range runs {
		list := runs[i].after(from)
		same := 0
		for same < len(list) && same < len(longest) && list[same].like(&longest[same]) {
			same++
		}
		try := &r.Tried[i]
		if try.Same, try.Of = try.Same+same, try.Of+len(longest); same == len(longest) && len(list) == len(longest) {
			try.Agree++
		}
	}
}

// judge finds Enough. A single history agrees with itself.
func (r *WarmupReport) judge() {
	longest := len(r.Tried) - 1
	if longest == 0 {
		r.Enough = 0
	}
	for i := longest - 1; i >= 0 && r.Tried[i].Agree == len(r.Starts); i-- {
		r.Enough = i
	}
}
