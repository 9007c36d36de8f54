package research

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// workload says how much of a search's work is done. The cost of a set is the candles of its range,
// and setCost beside them.
type workload struct {
	candle       market.Time // length of the shortest
	to           market.Time // end of the whole range
	total, ended float64
	under        map[int]*underway // by number
}

// setCost is the cost of a set beside its candles, in candles: an engine, a result, a row.
const setCost = 4000

// underway is a group that runs.
type underway struct{ cost, part float64 }

// workOf is the work of a search, as its first batch foretells it.
func (s *sweep) workOf(first []trial) workload {
	w := workload{candle: max(s.candle, 1), to: s.job.To, under: map[int]*underway{}}
	if s.job.Method != Halving {
		w.total = float64(s.total) * w.of(&Group{Sets: []uint64{0}, From: s.from})
		return w
	}
	for sets, rung := len(first), int(first[0].rung); rung >= 0; sets, rung = max(sets/halvingPart, 1), rung-1 {
		part := s.groupOf(0, []trial{{rung: uint8(rung)}}, []int{0})
		w.total += float64(sets) * w.of(&part)
	}
	return w
}

// of is the cost of a group.
func (w *workload) of(g *Group) float64 {
	span := max(cmp.Or(g.To, w.to)-g.From, 0)
	return float64(len(g.Sets)) * (float64(span)/float64(w.candle) + setCost)
}

func (w *workload) begin(g *Group) { w.under[g.Number] = &underway{cost: w.of(g)} }

func (w *workload) done(d *Done) {
	switch u := w.under[d.Number]; {
	case u == nil:
	case d.Part > 0:
		u.part = d.Part
	default:
		w.ended += u.cost
		delete(w.under, d.Number)
	}
}

// part is the part of the work that is done.
func (w *workload) part() float64 {
	done := w.ended
	for _, u := range w.under {
		done += u.cost * u.part
	}
	return min(done/max(w.total, done, 1), 1)
}

// mostTrials is how many groups are on trial.
const mostTrials = 8

// trialFirst is an order of n groups: first a few that are spread over all, as far apart as they
// can be (van der Corput's sequence), then the others. trials is the number of the first.
func trialFirst(n, most int) (order []int, trials int) {
	trials = min(n, most, mostTrials)
	for i := range trials {
		at := 0
		for bit := 1; bit < mostTrials; bit *= 2 {
			at = 2*at + min(i&bit, 1)
		}
		order = append(order, at*n/mostTrials)
	}
	slices.Sort(order[1:])
	order = slices.Compact(order)
	trials = len(order)
	for i := range n {
		if !slices.Contains(order[:trials], i) {
			order = append(order, i)
		}
	}
	return order, trials
}

// onTrial reports whether the trial goes on. It is over when its groups have ended, one of them by
// an error, or when the job knows enough.
func (s *sweep) onTrial(waiting map[int]Done, first int, groups []int) bool {
	left, failed := 0, false
	for _, at := range groups {
		d, ended := waiting[first+at]
		left += count(!ended)
		failed = failed || d.Err != nil
	}
	over := left == 0 || failed
	return !s.job.Trial(s.work.part(), over) && !over
}
