package backtest

import (
	"context"

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
	Declared int // the longest declared warm-up, in candles
	Tried    []WarmupTry
	// Enough is the smallest tried history from which on the decisions stay the same; -1: the two
	// longest differ.
	Enough int
}

// WarmupTry is one run of CheckWarmup.
type WarmupTry struct {
	History int // candles before the start
	Same    int // first decisions from the start on that equal those of the longest history
	Of      int // decisions of the longest history
}

// CheckWarmup runs the plan from its From (or the middle of its data) with more and more history
// before, and finds the history from which on the decisions stay the same.
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
	report := &WarmupReport{Declared: plan.declared(), Enough: -1}
	var runs []*trail
	for _, factor := range [...]int{0, 1, 2, 4, 8, 16} {
		extra := report.Declared * factor
		trace, _, _, err := decide(ctx, &plan, runOptions{extra: extra})
		if err != nil {
			return nil, err
		}
		runs = append(runs, trace)
		report.Tried = append(report.Tried, WarmupTry{History: report.Declared + extra})
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
		if i < len(runs)-1 && agrees && (i == len(runs)-2 || r.Enough == r.Tried[i+1].History) {
			r.Enough = r.Tried[i].History
		}
	}
}

// declared is the longest warm-up of the plan's strategies.
func (p *Plan) declared() (candles int) {
	for i := range p.Strategies {
		if needs, err := p.Strategies[i].Kind.Needs(p.Strategies[i].Values); err == nil {
			candles = max(candles, needs.Warmup)
		}
	}
	return candles
}
