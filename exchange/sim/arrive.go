package sim

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// arrive carries out the commands that are due at a point: cancels, then updates, then new orders,
// each in the order of the calls of Do. v.waiting is in that order of calls, and mostly sorted by
// kind already.
func (v *Venue) arrive(point int) {
	if len(v.waiting) > 0 {
		v.takeDue(point)
		for _, a := range v.due {
			v.carryOut(a, point)
		}
	}
}

// takeDue moves the commands that are due from waiting to due, in the order in which they arrive.
func (v *Venue) takeDue(point int) {
	all, sorted, before := true, true, market.CommandKind(0)
	for _, a := range v.waiting {
		if !v.isDue(a, point) {
			all = false
			continue
		}
		a.book.waiting--
		sorted, before = sorted && before <= a.kind, a.kind
	}
	if all {
		v.waiting, v.due = v.due[:0], v.waiting
	} else {
		v.splitDue(point)
	}
	if !sorted {
		slices.SortStableFunc(v.due, byKind)
	}
}

// splitDue is takeDue where some commands are not due. Each command changes places with spare
// memory of the other list.
func (v *Venue) splitDue(point int) {
	due, late := v.due[:0], 0
	for i, a := range v.waiting {
		if !v.isDue(a, point) {
			v.waiting[late], v.waiting[i] = a, v.waiting[late]
			late++
			continue
		}
		if len(due) == cap(due) {
			due = moreArrivals(due)
		}
		due = due[:len(due)+1]
		due[len(due)-1], v.waiting[i] = a, due[len(due)-1]
	}
	v.waiting, v.due = v.waiting[:late], due
}

func byKind(a, b *arrival) int { return int(a.kind) - int(b.kind) }

// carryOut carries out a command that has arrived. point is where the path stands, -1 for anywhere
// between.
func (v *Venue) carryOut(a *arrival, point int) {
	if a.kind != market.CommandPlace {
		v.revise(a.book, a.change, &a.origin)
	} else if _, admitted := v.place(a.book, a.placed, &a.origin, point); admitted {
		v.accept(a.book, a.placed, market.ExecNew)
	}
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
			if a := v.waiting[i]; !a.attached || a.book != b {
				continue
			}
			a := v.takeOut(i)
			b.waiting--
			v.carryOut(&a, -1)
			v.match(b)
			i = -1 // its effects may have brought more commands
		}
	}
}

// takeOut takes a command out of the waiting ones. Its memory is spare.
func (v *Venue) takeOut(i int) arrival {
	a, last := v.waiting[i], len(v.waiting)-1
	copy(v.waiting[i:], v.waiting[i+1:])
	v.waiting[last] = a
	v.waiting = v.waiting[:last]
	taken := *a
	a.change = nil // the effects of the command may bring more commands, which use the spare memory
	return taken
}
