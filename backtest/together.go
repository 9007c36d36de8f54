package backtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/internal/goroutine"
	"github.com/tidemark-trading/tidemark/market"
)

// LockstepOptions configures RunTogether.
type LockstepOptions struct {
	// From is the instant from which on every run trades and counts, whatever its plan says; 0: as
	// the plans say. See CommonFrom.
	From     market.Time
	Progress func(market.Time) // called with the time that all runs have reached; nil: not called
	// Watch is called with each run, by its place in plans, when it begins; nil: not called.
	Watch func(plan int, w Watched)
	// Memory is reused by calls that follow each other; nil: each takes its own.
	Memory *Memory
	block  int // candles of a block; 0: blockSize
}

// Memory is what a call of RunTogether leaves for the next one. It belongs to one goroutine; the
// zero Memory is empty.
type Memory struct {
	days    [][]report.Day
	outline blockSums
	candles []market.Candle
}

// RunEnd is how one plan of RunTogether ended.
type RunEnd struct {
	Result *Result  // as Run gives it for the plan; nil where Err is set
	Track  Track    // by day, for statistics
	Halts  []Halted // strategies that were halted, by a panic of theirs too; the other runs are untouched
	Err    error    // of this plan alone, such as ErrNoCandles
}

// RunTogether runs plans that read the same candles, and returns how each ended, by its place in
// plans. The first plan opens the candles for all. Each result has the figures that Run gives for
// its plan with Options{}. Plans must agree in feeds and To, and may differ in everything else.
// They may share a catalog.
//
// The error is of the whole: plans that do not agree, candles that cannot be read, or ctx's error.
// RunTogether works in one goroutine at a time; calls for other plans may run at the same time with
// catalogs of their own.
func RunTogether(ctx context.Context, plans []*Plan, o LockstepOptions) ([]RunEnd, error) {
	all := make([]RunEnd, len(plans))
	if len(plans) == 0 {
		return all, nil
	}
	if err := agree(plans); err != nil {
		return nil, err
	}
	l, err := newLockstep(plans, o, all)
	if err != nil {
		return nil, err
	}
	defer l.close()
	for !goroutine.Call(func() { err = l.run(ctx, o.Progress) }) {
		if l.active == nil {
			return nil, errGoexit
		}
		l.active.lost, l.active.over, l.active = true, true, nil
	}
	for _, r := range l.runs {
		if r.lost && err == nil {
			r.plan.Open = plans[0].Open
			err = r.alone(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// halted keeps a strategy that was halted.
func (r *RunEnd) halted(h Halted) { r.Halts = append(r.Halts, h) }

// agree returns an error that names the first plan which cannot run together with those before it.
func agree(plans []*Plan) error {
	first := make(map[*market.Catalog]*Plan, 1)
	for i, p := range plans {
		why := plans[0].differs(p)
		if shares := first[p.Catalog]; shares == nil {
			first[p.Catalog] = p
		} else if why == "" && !reflect.DeepEqual(shares.Changes, p.Changes) {
			why = "shares a catalog with another plan, but not its changes of markets"
		}
		if why != "" {
			return fmt.Errorf("run plans together: plan %d %s", i+1, why)
		}
	}
	return nil
}

// differs says in which way a plan does not read the same candles; empty: it does.
func (p *Plan) differs(other *Plan) string {
	if len(p.Feeds) != len(other.Feeds) {
		return fmt.Sprintf("reads %d series of candles, the first %d", len(other.Feeds), len(p.Feeds))
	}
	for i, f := range p.Feeds {
		if o := other.Feeds[i]; !f.like(o) {
			return fmt.Sprintf("reads %s %s, or delivers it otherwise, where the first reads %s %s", o.Market.Name,
				o.Interval, f.Market.Name, f.Interval)
		}
	}
	if p.To != other.To {
		return fmt.Sprintf("ends at %s, the first at %s", Moment(other.To), Moment(p.To))
	}
	return ""
}

// like reports whether two feeds have the same candles for the same use.
func (f Feed) like(o Feed) bool {
	a, b := f.Market, o.Market
	return f.Interval == o.Interval && f.Drive == o.Drive && f.Deliver == o.Deliver && a.ID == b.ID &&
		a.Name == b.Name && a.PriceDigits == b.PriceDigits && a.VolumeDigits == b.VolumeDigits
}

// CommonFrom is the first instant from which on all plans of a search can trade: each has the
// longest of its warm-ups before it, counted from the first candle of the market that is listed
// first, and begins at its From or later. It is a midnight, UTC, where a warm-up decides. The plans
// read the same candles; the first one opens them, each series once. Give the answer to
// LockstepOptions.From.
func CommonFrom(plans iter.Seq[*Plan]) (from market.Time, err error) {
	var first firsts
	for p := range plans {
		if first.plan == nil {
			first = firsts{plan: p, known: map[firstOf]market.Time{}}
		}
		if len(p.Feeds) != len(first.plan.Feeds) {
			return 0, errors.New("begin plans together: they read different series of candles")
		}
		ready, err := p.warm(&first)
		if err != nil {
			return 0, err
		}
		from = max(from, p.From, ready)
	}
	return from, nil
}

// firsts finds the first candles that plans read. The first plan opens them, each once.
type firsts struct {
	plan  *Plan
	known map[firstOf]market.Time
}

// firstOf is a feed from a time on.
type firstOf struct {
	feed int
	from market.Time
}

// of is the start of the first candle of a feed that a plan reads; never: there is none.
func (l *firsts) of(p *Plan, at int) (start market.Time, err error) {
	key := firstOf{at, p.History(p.Feeds[at], 1)}
	if start, is := l.known[key]; is {
		return start, nil
	}
	source, err := l.plan.Open(l.plan.Feeds[at], key.from, p.To)
	if err != nil {
		return 0, err
	}
	s := feed{Feed: p.Feeds[at], source: source}
	err = s.fill()
	if start = never; err == nil && len(s.batch) > 0 {
		start = s.batch[0].Start
	}
	l.known[key] = start
	return start, errors.Join(err, source.Close())
}

// warm is the first midnight at which a market has its warm-ups behind it; 0: there is no candle,
// or the plan warms up inside its range.
func (p *Plan) warm(first *firsts) (market.Time, error) {
	ready := make(map[market.ID]market.Time, len(p.Feeds))
	for i, f := range p.Feeds {
		start, err := first.of(p, i)
		if err != nil {
			return 0, err
		}
		if start != never {
			candles := int64(Warmup(p.Strategies, f.Market, f.Interval))
			at := f.Interval.StartOf(f.Interval.Index(start) + candles)
			ready[f.Market.ID] = max(ready[f.Market.ID], at)
		}
	}
	from := market.Time(math.MaxInt64)
	for _, at := range ready {
		from = min(from, at)
	}
	if len(ready) == 0 || p.ColdStart || from <= p.From {
		return 0, nil
	}
	return endOfDay(from), nil
}
