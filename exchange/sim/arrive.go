package sim

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// arrive carries out the commands that are due at a point: cancels, then updates, then new orders,
// each in the order of the calls of Do. v.waiting is in that order of calls, and mostly sorted by
// kind already.
func (v *Venue) arrive(point int) {
	if len(v.waiting) == 0 {
		return
	}
	v.due = v.due[:0]
	keep, mixed := v.waiting[:0], false
	for _, a := range v.waiting {
		if !v.isDue(a, point) {
			keep = append(keep, a)
			continue
		}
		a.book.waiting--
		mixed = mixed || len(v.due) > 0 && a.kind < v.due[len(v.due)-1].kind
		v.due = append(v.due, a)
	}
	v.waiting = keep
	if mixed {
		slices.SortStableFunc(v.due, byKind)
	}
	for _, a := range v.due {
		v.carryOut(a, point)
	}
}

func byKind(a, b *arrival) int { return int(a.kind) - int(b.kind) }

// carryOut carries out a command that has arrived. point is where the path stands, -1 for anywhere
// between.
func (v *Venue) carryOut(a *arrival, point int) {
	if a.kind == market.CommandPlace {
		v.place(a.book, a.placed, &a.origin, point)
		a.placed = nil
	} else {
		v.revise(a.book, a.change, &a.origin)
	}
	v.arrived = append(v.arrived, a)
}

// isDue reports whether a command arrives at a point of the present candles. A command decided
// during their path waits for the next path, unless it is a bracket's.
func (v *Venue) isDue(a *arrival, point int) bool {
	if a.movement == v.movement && !a.attached {
		return false
	}
	return a.book.movement == v.movement && a.at <= a.book.times[point]
}

// arriveAttached carries out the commands of brackets at once where there is no latency. With
// latency they arrive at the next point that is late enough.
func (v *Venue) arriveAttached(b *book) {
	if b.attached {
		v.arriveInPath(b)
	}
}

func (v *Venue) arriveInPath(b *book) {
	for b.attached && v.config.Latency == 0 && v.err == nil {
		b.attached = false
		for i := 0; i < len(v.waiting); i++ {
			a := v.waiting[i]
			if !a.attached || a.book != b {
				continue
			}
			v.waiting = slices.Delete(v.waiting, i, i+1)
			b.waiting--
			v.carryOut(a, -1)
			v.match(b)
			i = -1 // its effects may have brought more commands
		}
	}
}
